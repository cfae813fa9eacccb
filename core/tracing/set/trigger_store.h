// The triggers that are set on the events of an EventSet, and the references that prevent a
// removal: variables of a trigger's histogram that other triggers use.
// Confined to the EventSet's lock. A trigger keeps its place in memory as long as it exists.
// Limits: triggers_max triggers of all events together.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/tracing/set/event_table.h"
#include "core/tracing/set/saved_trigger.h"

namespace tallyfs::tracing {

class TriggerStore {
 public:
  TriggerStore(EventTable& events, std::size_t triggers_max)
      : events_(events), triggers_max_(triggers_max) {}

  // Lines of the trigger file, newest first, as the kernel has them.
  std::vector<TriggerLine> lines(EventNumber event) const;
  // All triggers in the order in which they have come, hidden histograms within their owners.
  std::vector<SavedTrigger> saved() const;
  // nullptr: the event has no trigger of that serial number (any more).
  Trigger* find(EventNumber event, std::uint64_t serial) const;
  // The serial of the next trigger; all others are smaller.
  std::uint64_t next_serial() const { return next_serial_; }

  // O_TRUNC: removes all triggers except those whose variables other triggers reference, and those
  // that are to stay.
  using Stays = std::function<bool(const Trigger&)>;
  void truncate(EventNumber event, const Stays& stays = {});

  bool is_full() const { return count_ >= triggers_max_; }
  // A trigger without a serial number gets the next one.
  Trigger& add(std::unique_ptr<Trigger> trigger);
  // Removes the trigger, with the hidden histograms that it owns.
  void remove(Trigger& trigger);
  void remove_hidden(const Trigger* owner);
  // Removes everything that is set on the event, and the triggers that reference it.
  void strip(EventNumber number);

 private:
  std::vector<std::pair<EventNumber, Trigger*>> with_referrers(EventNumber number) const;
  // Counts the references of the trigger: to its target, to tables whose variables it uses, to
  // synthetic events that it traces.
  void count_references(const Trigger& trigger, int change);

  EventTable& events_;
  const std::size_t triggers_max_;
  std::size_t count_ = 0;
  std::uint64_t next_serial_ = 1;
};

// The file `trigger`: the lines, or, without any, the commands that it takes.
std::string triggers_text(const std::vector<TriggerLine>& lines);

}  // namespace tallyfs::tracing
