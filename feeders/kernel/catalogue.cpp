#include "feeders/kernel/catalogue.h"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/tracing/format/format.h"
#include "feeders/tracefs/probe_group.h"
#include "feeders/tracefs/tracefs.h"

namespace tallyfs {
namespace {

bool can_be_switched(const Fd& tracefs, const std::string& directory) {
  return ::faccessat(tracefs.get(), (directory + "/enable").c_str(), F_OK, 0) == 0;
}

}  // namespace

Catalogue::Catalogue(std::vector<CatalogueEvent> events) : events_(std::move(events)) {
  std::ranges::sort(events_, {}, &CatalogueEvent::id);
}

Catalogue Catalogue::read(const Fd& tracefs) {
  std::vector<CatalogueEvent> events;
  for (const std::string& system : list_names(tracefs, "events")) {
    const std::string directory = "events/" + system;
    // Files beside the systems have no entries.
    for (const std::string& name : list_names(tracefs, directory)) {
      const std::string event = directory + "/" + name;
      if (events.size() == kEventsMax || !can_be_switched(tracefs, event)) continue;
      auto text = read_text(tracefs, event + "/format");
      if (!text) continue;
      const auto format = tracing::parse_event_format(text.value());
      if (!format) continue;
      events.push_back({format.value().id, system, name, std::move(text.value())});
    }
  }
  // Read last: what was defined meanwhile is in the list.
  std::set<std::pair<std::string, std::string>> defined;
  for (RealProbe& each : read_dynamic_events(tracefs)) {
    defined.emplace(std::move(each.group), std::move(each.event));
  }
  std::erase_if(events, [&](const CatalogueEvent& each) {
    return defined.contains({each.system, each.name});
  });
  return Catalogue(std::move(events));
}

void Catalogue::add(CatalogueEvent event) {
  const auto at = std::ranges::lower_bound(events_, event.id, {}, &CatalogueEvent::id);
  if (at != events_.end() && at->id == event.id) {
    *at = std::move(event);
  } else {
    events_.insert(at, std::move(event));
  }
}

void Catalogue::remove(std::uint32_t id) {
  std::erase_if(events_, [id](const CatalogueEvent& each) { return each.id == id; });
}

const CatalogueEvent* Catalogue::find(std::uint32_t id) const {
  const auto at = std::ranges::lower_bound(events_, id, {}, &CatalogueEvent::id);
  return at == events_.end() || at->id != id ? nullptr : &*at;
}

const CatalogueEvent* Catalogue::find(std::string_view system, std::string_view name) const {
  const auto is_it = [&](const auto& event) {
    return event.system == system && event.name == name;
  };
  const auto at = std::ranges::find_if(events_, is_it);
  return at == events_.end() ? nullptr : &*at;
}

}  // namespace tallyfs
