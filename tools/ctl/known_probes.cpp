#include "tools/ctl/known_probes.h"

#include <utility>

#include "core/base/text.h"
#include "core/tracing/probe/place_name.h"
#include "feeders/tracefs/probe_group.h"
#include "feeders/tracefs/tracefs.h"
#include "tools/ctl/temporary_probes.h"

namespace tallyfs {
namespace {

// Of `p:EVENT PLACE`.
std::string_view place_in(std::string_view line) {
  Tokens words(line);
  (void)words.next();
  const auto place = words.next();
  return place ? place->text : std::string_view();
}

void add_place(const Json& place, KnownProbe& probe, bool is_offset) {
  probe.places += 1;
  const Json* const hits = place.find("hits");
  if (!hits || hits->kind != Json::Kind::kNumber) {
    probe.hits.reset();
  } else if (probe.hits) {
    *probe.hits += place.number_of("hits");
  }
  const bool is_stale = place.text_of("stale") == "true";
  probe.is_stale |= is_stale;
  probe.is_lost |= is_stale && is_offset;
}

KnownProbe read_probe(const Json& json) {
  KnownProbe probe{
      .event = std::string(json.text_of("group")).append("/").append(json.text_of("event")),
      .program = {},
      .is_return = json.text_of("kind") == "return",
      .lines = {},
      .hits = 0};
  const Json* const lines = json.find("lines");
  for (std::size_t i = 0; lines && i < lines->items.size(); ++i) {
    const Json& line = lines->items[i];
    probe.lines.emplace_back(line.text_of("line"));
    const std::string_view word = place_in(probe.lines.back());
    if (probe.program.empty()) probe.program = word.substr(0, word.find(':'));
    const Json* const places = line.find("places");
    probe.is_whole &= places && !places->items.empty();
    for (std::size_t k = 0; places && k < places->items.size(); ++k) {
      add_place(places->items[k], probe, !tracing::is_place_name(word));
    }
  }
  return probe;
}

std::string group_of(const KnownProbe& probe) {
  return probe.event.substr(0, probe.event.find('/'));
}

KnownProbe read_leaving(const Json& json) {
  KnownProbe probe{
      .event = std::string(json.text_of("event")), .program = {}, .lines = {}, .hits = 0};
  probe.is_leaving = true;
  const Json* const places = json.find("places");
  for (std::size_t i = 0; places && i < places->items.size(); ++i) {
    const Json& place = places->items[i];
    add_place(place, probe, false);
    const std::string_view text = place.text_of("place");
    if (probe.program.empty()) probe.program = text.substr(0, text.rfind(':'));
  }
  return probe;
}

std::vector<KnownProbe> probes_in(const Json& json, const ProbeFiles& files) {
  auto all = known_probes(json);
  for (KnownProbe& each : all) {
    const std::string group = group_of(each);
    each.is_left_over = is_temporary(group) && !has_command(files, group);
  }
  return all;
}

}  // namespace

Result<std::vector<KnownProbe>> known_probes(const ProbeFiles& files) {
  const auto json = files.probes();
  if (!json) return json.error();
  return probes_in(json.value(), files);
}

Result<std::vector<KnownProbe>> listed_probes(const ProbeFiles& files) {
  const auto json = files.probes();
  if (!json) return json.error();
  auto all = probes_in(json.value(), files);
  for (KnownProbe& each : leaving_probes(json.value())) all.push_back(std::move(each));
  return all;
}

std::vector<KnownProbe> leaving_probes(const Json& json) {
  std::vector<KnownProbe> all;
  const Json* const leaving = json.find("leaving");
  for (std::size_t i = 0; leaving && i < leaving->items.size(); ++i) {
    if (leaving->items[i].text_of("target") != "program") continue;
    all.push_back(read_leaving(leaving->items[i]));
  }
  return all;
}

std::vector<KnownProbe> known_probes(const Json& json) {
  std::vector<KnownProbe> all;
  const Json* const probes = json.find("probes");
  for (std::size_t i = 0; probes && i < probes->items.size(); ++i) {
    if (probes->items[i].text_of("target") != "program") continue;
    all.push_back(read_probe(probes->items[i]));
  }
  return all;
}

std::vector<std::string> orphaned_probes() {
  const auto tracefs = open_tracefs();
  return tracefs ? orphaned_probe_groups(tracefs.value()) : std::vector<std::string>();
}

std::string note_of(const KnownProbe& probe) {
  if (probe.is_leaving) return "leaving: until nothing is recorded, or for ten minutes";
  if (probe.is_left_over) return "its command has ended: tallyctl probe rm " + group_of(probe);
  if (probe.is_lost) return "stale: tallyctl probe rm " + probe.event + ", then add it again";
  if (probe.is_stale) return "stale: tallyctl probe renew " + probe.event;
  if (!probe.is_whole) return "not found: tallyctl probe renew " + probe.event;
  return {};
}

bool is_meant(std::string_view event, std::string_view name) {
  if (event == name) return true;
  if (name.ends_with('/')) return event.starts_with(name);
  const std::size_t group = event.find('/');
  return group != event.npos && event.substr(group + 1) == name;
}

}  // namespace tallyfs
