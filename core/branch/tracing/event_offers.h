// Which events were offered, and which source delivers each. An offered event is defined in all
// instances, and stays defined while anything is set on it, also without a source.
// Confined to the lock of Tracing's State.
// Limits: events_max events in each instance, source ids below Tracing::kSourceIdsMax.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/branch/tracing/event_routes.h"
#include "core/branch/tracing/instances.h"
#include "core/branch/tracing/tracing.h"

namespace tallyfs {

// An event as it was offered.
struct OfferedEvent {
  EventOffer::Form form = EventOffer::Form::kKernelFormat;
  EventSource* source = nullptr;  // nullptr: none delivers it at present
  std::uint32_t source_id = 0;
  std::uint32_t use = 0;
};

// A user's event whose place an event of the kernel took: its source has to be notified.
struct TakenOver {
  EventSource* from = nullptr;
  EventPath path;
};

class EventOffers {
 public:
  // All outlive it.
  EventOffers(Instances& instances, EventRoutes& routes, const Tracing::Options& options)
      : instances_(instances), routes_(routes), options_(options) {}

  // The event's path. As Tracing::offer(); taken: gets the event whose place this one took.
  Result<EventPath> take(EventSource& source, const EventOffer& offer, Moment now,
                         std::vector<TakenOver>& taken);
  // Defines what the top has: offered events and synthetic ones.
  Result<void> define_all(TracingInstance& instance);
  // The source delivers nothing any more. Events are removed that nothing is set on.
  void withdraw(EventSource& source);
  // kNotFound; kBusy: something is set on it, and nothing has changed.
  Result<EventPath> withdraw(EventSource& source, std::uint32_t source_id);
  // Removes events that have no source and that nothing is set on any more.
  std::vector<EventPath> remove_unused();

  // nullptr: it was not offered.
  const OfferedEvent* find(const EventPath& path) const;
  // Whether a source delivers events of the kernel.
  bool has_kernel_events() const;

 private:
  using Form = EventOffer::Form;

  // kExists: it is another source's, or is in use with another definition.
  Result<void> may_take(EventSource& source, const EventOffer& offer, const EventPath& path);
  Result<void> define(const EventOffer& offer, Moment now);
  // An event that was defined by its fields turns out to be one of the kernel's.
  void take_over(const EventPath& path, const EventOffer& offer, Moment now,
                 std::vector<TakenOver>& taken);
  // Its records come under the offer's source_id from now on.
  void connect(const EventPath& path, const OfferedEvent& offered);
  bool in_use(const EventPath& path) const;
  // Nothing is set on it.
  void remove(const EventPath& path);

  Instances& instances_;
  EventRoutes& routes_;
  const Tracing::Options& options_;
  std::map<EventPath, OfferedEvent> offered_;
  std::set<EventPath> undelivered_;  // those of offered_ that have no source
};

}  // namespace tallyfs
