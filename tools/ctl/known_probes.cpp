#include "tools/ctl/known_probes.h"

#include <utility>

#include "core/base/text.h"

namespace tallyfs {
namespace {

// The path of `p:EVENT PATH:PLACE`.
std::string program_in(std::string_view line) {
  Tokens words(line);
  (void)words.next();
  const auto place = words.next();
  return place ? std::string(place->text.substr(0, place->text.find(':'))) : std::string();
}

void add_place(const Json& place, KnownProbe& probe) {
  probe.places += 1;
  const Json* const hits = place.find("hits");
  if (!hits || hits->kind != Json::Kind::kNumber) {
    probe.hits.reset();
  } else if (probe.hits) {
    *probe.hits += place.number_of("hits");
  }
  probe.is_stale |= place.text_of("stale") == "true";
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
    if (probe.program.empty()) probe.program = program_in(probe.lines.back());
    const Json* const places = line.find("places");
    probe.is_whole &= places && !places->items.empty();
    for (std::size_t k = 0; places && k < places->items.size(); ++k) {
      add_place(places->items[k], probe);
    }
  }
  return probe;
}

}  // namespace

Result<std::vector<KnownProbe>> known_probes(const ProbeFiles& files) {
  const auto json = files.probes();
  if (!json) return json.error();
  std::vector<KnownProbe> all;
  const Json* const probes = json.value().find("probes");
  for (std::size_t i = 0; probes && i < probes->items.size(); ++i) {
    if (probes->items[i].text_of("target") != "program") continue;
    all.push_back(read_probe(probes->items[i]));
  }
  return all;
}

bool is_meant(std::string_view event, std::string_view name) {
  if (event == name) return true;
  if (name.ends_with('/')) return event.starts_with(name);
  const std::size_t group = event.find('/');
  return group != event.npos && event.substr(group + 1) == name;
}

}  // namespace tallyfs
