#include "exporters/web/tracing_site.h"

#include <algorithm>
#include <vector>

#include "core/base/json.h"
#include "core/base/text.h"
#include "exporters/web/cpus_json.h"
#include "exporters/web/hist_json.h"
#include "tools/tree/json.h"
#include "tools/tree/statistics_json.h"
#include "tools/tree/timed_file.h"

namespace tallyfs::web {
namespace {

// Directories of events: of the mount, and of its instances.
std::vector<std::string> event_roots(const std::string& mount) {
  std::vector<std::string> made = {"tracing/events"};
  const auto instances = list_in_time(mount + "/tracing/instances");
  if (!instances) return made;
  for (const std::string& each : instances.value()) {
    made.push_back("tracing/instances/" + each + "/events");
  }
  return made;
}

bool is_trigger_of_hist(const std::string& text) {
  return text.starts_with("hist:") || text.find("\nhist:") != text.npos;
}

// The events of a root that have a histogram, asked one by one.
class HistSearch {
 public:
  explicit HistSearch(const std::string& mount) : mount_(mount) {}

  // Failures but of the root are passed over: an event may have gone.
  Result<void> look_below(const std::string& root) {
    const auto systems = list_in_time(mount_ + "/" + root);
    if (!systems) return systems.error();
    for (const std::string& system : systems.value()) {
      const auto events = list_in_time(mount_ + "/" + root + "/" + system);
      if (!events) {
        if (events.error().code == ErrorCode::kTimedOut) return events.error();
        continue;  // a file
      }
      for (const std::string& event : events.value()) {
        if (auto done = ask(root + "/" + system + "/" + event); !done) return done;
      }
    }
    return {};
  }

  std::string text() const {
    std::string text;
    JsonWriter writer(text);
    writer.begin_object().key("hists").begin_array();
    for (const std::string& each : found_) writer.string(each);
    writer.end_array().key("left_out").boolean(asked_ > TracingSite::kEventsMax).end_object();
    return text;
  }

 private:
  Result<void> ask(const std::string& event) {
    if (asked_ > TracingSite::kEventsMax || ++asked_ > TracingSite::kEventsMax) return {};
    const auto trigger = read_in_time(mount_ + "/" + event + "/trigger");
    if (trigger && is_trigger_of_hist(trigger.value())) found_.push_back(event);
    if (!trigger && trigger.error().code == ErrorCode::kTimedOut) return trigger.error();
    return {};
  }

  const std::string& mount_;
  std::size_t asked_ = 0;
  std::vector<std::string> found_;
};

// The CPUs whose histograms are in a directory, in their order.
std::vector<unsigned> cpus_among(const std::vector<std::string>& names) {
  constexpr std::string_view kCpu = "CPU";
  std::vector<unsigned> made;
  for (const std::string& name : names) {
    if (!name.starts_with(kCpu)) continue;
    const auto cpu = parse_unsigned(std::string_view(name).substr(kCpu.size()));
    if (cpu && *cpu < 1'000'000) made.push_back(static_cast<unsigned>(*cpu));
  }
  std::ranges::sort(made);
  if (made.size() > TracingSite::kCpusMax) made.resize(TracingSite::kCpusMax);
  return made;
}

}  // namespace

Result<std::string> TracingSite::hists() {
  return readings_.get("hists", kListFresh, [this] { return read_hists(); });
}

Result<std::string> TracingSite::hist(const std::string& path) {
  return readings_.get("hist " + path, kHistFresh, [&] { return read_hist(path); });
}

Result<std::string> TracingSite::cpus(const std::string& path) {
  return readings_.get("cpus " + path, kCpusFresh, [&] { return read_cpus(path); });
}

Result<std::string> TracingSite::read_hists() const {
  HistSearch search(mount_);
  for (const std::string& root : event_roots(mount_)) {
    const auto done = search.look_below(root);
    if (!done && done.error().code != ErrorCode::kNotFound) return done.error();
  }
  return search.text();
}

Result<std::string> TracingSite::read_hist(const std::string& path) const {
  const auto text = read_in_time(mount_ + "/" + path + "/hist.json");
  if (!text) return text.error();
  const auto json = parse_json(text.value());
  return json ? hist_json(path, json.value()) : json.error();
}

Result<std::string> TracingSite::read_cpus(const std::string& path) const {
  const auto all = read_in_time(mount_ + "/" + path + "/data.json");
  if (!all) return all.error();
  const auto json = parse_json(all.value());
  if (!json) return json.error();
  const auto interface = to_interface(json.value());
  if (!interface) return interface.error();
  const auto& statistics = interface.value().statistics;
  const auto* bins = statistics.empty() ? nullptr : std::get_if<view::Array>(&statistics[0].values);
  if (!bins) return Error{ErrorCode::kNotFound, path + ": no latency histogram"};
  const auto names = list_in_time(mount_ + "/" + path);
  if (!names) return names.error();
  std::vector<CpuHits> cpus;
  for (const unsigned cpu : cpus_among(names.value())) {
    const auto text = read_in_time(mount_ + "/" + path + "/CPU" + std::to_string(cpu));
    if (!text) return text.error();
    cpus.push_back({cpu, hits_of_cpu(text.value(), *bins)});
  }
  return cpus_json(path, statistics[0], cpus, {.bins_max = 40});
}

}  // namespace tallyfs::web
