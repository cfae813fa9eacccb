#include "core/tracing/set/event_set.h"

#include <map>
#include <string>
#include <utility>

#include "core/tracing/hist/hist_contents.h"

namespace tallyfs::tracing {
namespace {

// The contents of histograms by the serial numbers of their triggers.
using KeptBySerial = std::map<std::uint64_t, HistContents>;

KeptBySerial kept_histograms(const EventTable& events) {
  KeptBySerial kept;
  for (const auto& event : events.entries()) {
    for (const auto& trigger : event->triggers) {
      if (trigger->table) {
        kept.emplace(trigger->serial, HistContents(trigger->plan, *trigger->table));
      }
    }
  }
  return kept;
}

// The first of several triggers with one name fills their histogram.
Result<void> refill(Trigger& trigger, const KeptBySerial& kept) {
  const auto found = kept.find(trigger.serial);
  if (!trigger.table || found == kept.end() || !trigger.table->is_empty()) return {};
  std::string bytes;
  ByteWriter out(bytes);
  found->second.encode(out);
  ByteReader in(bytes);
  return load_hist(in, *trigger.plan, *trigger.table, HistVariables::kKept);
}

Error fault_of(const SavedTrigger& trigger, const Error& error) {
  std::string location = "trigger:";
  location.append(trigger.system).append(":").append(trigger.event);
  return {error.code, error.reason, Error::kNoToken, std::move(location), trigger.parameters};
}

void restore(EventSet& set, const SavedTrigger& saved, const KeptBySerial& kept,
             std::vector<Error>& faults) {
  const auto made = set.commands.restore(saved);
  if (!made) {
    const Fault& fault = made.error();
    return faults.push_back(fault_of(saved, {fault.code, std::string(fault.reason)}));
  }
  const auto note = [&](const Result<void>& done) {
    if (!done) faults.push_back(fault_of(saved, done.error()));
  };
  note(refill(*made.value(), kept));
  for (const SavedTrigger& each : saved.hidden) {
    const auto on = set.events.find(each.system, each.event);
    if (Trigger* const hidden = on ? set.triggers.find(*on, each.serial) : nullptr) {
      note(refill(*hidden, kept));
    }
  }
}

}  // namespace

EventSet::EventSet(const Limits& limits, std::shared_ptr<EventIds> ids)
    : events(limits.events_max, std::move(ids)),
      switches(events),
      filters(events),
      synthetic(events),
      selection(limits.pids_max),
      follower(events, selection),
      trace(events, limits.trace_bytes_max),
      triggers(events, limits.triggers_max),
      named(events),
      hists(events, named, triggers, trace, limits.hist_bytes_max),
      commands(events, named, triggers, hists, trace),
      demands(events),
      feed_(events, selection, follower, trace, limits.synthetic_depth_max) {}

Result<std::vector<Error>> EventSet::redefine_event(std::string_view system,
                                                    std::string_view format) {
  const auto parsed = parse_event_format(format);
  if (!parsed) return parsed.error();
  const auto known = events.find(system, parsed.value().name);
  if (!known) return Error{ErrorCode::kNotFound, "no such event"};
  const KeptBySerial kept = kept_histograms(events);
  const std::vector<SavedTrigger> before = triggers.saved();
  const DefinedEvent& event = events.at(*known);
  const FilterState filter = filters.state(*known);
  const bool enabled = event.enabled, soft_enabled = event.soft_enabled;
  const auto defined = take_over_event(system, format);
  if (!defined) return defined.error();
  std::vector<Error> faults;
  for (const SavedTrigger& each : before) {
    const auto on = events.find(each.system, each.event);
    if (on && triggers.find(*on, each.serial)) continue;
    restore(*this, each, kept, faults);
  }
  events.at(*known).enabled = enabled;
  events.at(*known).soft_enabled = soft_enabled;
  if (!filter.filter.empty()) {
    const auto set = filters.write(*known, filter.filter);
    if (!set) faults.push_back(set.error());
  }
  return faults;
}

Result<EventNumber> EventSet::take_over_event(std::string_view system, std::string_view format) {
  const auto parsed = parse_event_format(format);
  if (!parsed) return parsed.error();
  const auto known = events.find(system, parsed.value().name);
  if (!known || system == kSyntheticSystem || *events.format_text(*known) == format) {
    return events.define_event(system, format);
  }
  triggers.strip(*known);
  DefinedEvent& event = events.at(*known);
  // Triggers that name the event keep their reference, but another source delivers the event.
  const auto waiting = std::exchange(event.waiting, 0);
  const auto referrers = std::exchange(event.referrers, 0);
  const Demand told = event.told;
  const bool is_followed = std::exchange(event.follows, std::nullopt).has_value();
  const auto defined = events.define_event(system, format);
  event.waiting = waiting;
  event.referrers = referrers;
  event.told = told;
  // Its fields lie elsewhere now.
  if (is_followed) (void)follower.set_on(true);
  return defined;
}

}  // namespace tallyfs::tracing
