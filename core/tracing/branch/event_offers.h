// The events that were offered, and the source that delivers each. An offered event is defined in
// all instances. It stays defined while anything is set on it, also without a source.
// Confined to the lock of Tracing's State.
// Limits: events_max events in each instance, source ids below Tracing::kSourceIdsMax.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/tracing/branch/event_routes.h"
#include "core/tracing/branch/instances.h"
#include "core/tracing/branch/probes.h"
#include "core/tracing/branch/tracing.h"

namespace tallyfs::tracing {

// An event as it was offered.
struct OfferedEvent {
  EventOffer::Form form = EventOffer::Form::kKernelFormat;
  EventSource* source = nullptr;  // nullptr: none delivers it at present
  std::uint32_t source_id = 0;
  std::uint32_t use = 0;
  bool is_restored = false;  // it was loaded, and no source has offered it yet
};

// A user's event that was replaced by an event of the kernel: its source has to be notified.
struct TakenOver {
  EventSource* from = nullptr;
  EventPath path;
};

class EventOffers {
 public:
  // All outlive it.
  EventOffers(Instances& instances, EventRoutes& routes, const Probes& probes,
              const Tracing::Options& options)
      : instances_(instances), routes_(routes), probes_(probes), options_(options) {}

  // Returns the event's path. As Tracing::offer(); taken: gets the event that this one replaced.
  Result<EventPath> take(EventSource& source, const EventOffer& offer, Timestamp now,
                         std::vector<TakenOver>& taken);
  // Defines in the instance all events that the top has: offered events and synthetic ones.
  Result<void> define_all(TracingInstance& instance);
  // The source delivers nothing any more. Its events on which nothing is set are removed.
  void withdraw(EventSource& source);
  // The event stays with what is set on it, and is delivered again once it is offered, also with
  // another format.
  void detach(const EventPath& path);
  // kNotFound; kBusy: something is set on it, and nothing has changed.
  Result<EventPath> withdraw(EventSource& source, std::uint32_t source_id);
  // Removes events that have no source and on which nothing is set any more, but not expected ones.
  std::vector<EventPath> remove_unused();

  // An event that was there before a restart: defined, and not delivered until it is offered. If it
  // is an event of the kernel and is offered with another format, it is redefined with all that is
  // set on it. Returns its path. kExists, and as Tracing::offer().
  Result<EventPath> restore(const EventOffer& offer, Timestamp now);

  // The kernel's events that are restored from now on are expected: they stay, also if nothing is
  // set on them, until end_expecting(). Records that the source sends under their ids count.
  void expect(EventSource& from) { expected_from_ = &from; }
  void end_expecting();
  // nullptr: none is expected.
  EventSource* expected_from() const { return expected_from_; }
  bool is_expected(const EventPath& path) const;
  // Whether records under this id of the expected source are those of this event. The kernel may
  // have given the id of an event that went to another one.
  bool has_id(const EventPath& path, std::uint32_t source_id) const;
  // Whether expected events have not been offered yet. Probes are offered one by one, later.
  bool misses_expected() const;
  bool is_delivered(const EventPath& path) const;

  // First those whose ids are theirs: others had them before.
  std::vector<EventPath> kernel_events() const;
  // The kernel's events on which anything is set, filters of events that are off included.
  std::vector<EventPath> kernel_events_set() const;
  bool in_use(const EventPath& path) const;

  // nullptr: it was not offered.
  const OfferedEvent* find(const EventPath& path) const;
  // Whether a source delivers events of the kernel.
  bool has_kernel_events() const;

 private:
  using Form = EventOffer::Form;
  struct Read;

  // kInvalid.
  static Result<Read> read(const EventOffer& offer);
  static std::uint32_t id_of(const Read& offer);
  // kExists: the event is another source's, or is in use with another definition.
  Result<void> may_take(EventSource& source, const EventOffer& offer, const EventPath& path);
  Result<void> define(const EventOffer& offer, const Read& as, Timestamp now);
  // An event of the kernel replaces an event that was defined by its fields.
  void take_over(const EventPath& path, const EventOffer& offer, Timestamp now,
                 std::vector<TakenOver>& taken);
  // From now on its records come under the offer's source_id.
  void connect(const EventPath& path, const OfferedEvent& offered, EventSource& source);
  // An expected event is offered.
  void forget_other_id(const EventSource& source, const EventOffer& offer, const EventPath& path);
  // Forgets this id, if it is that of the event.
  void forget_id(const EventPath& path, std::uint32_t source_id);
  // Redefines an event that was restored with another format.
  void adopt(const EventPath& path, const EventOffer& offer, Timestamp now);
  void report(const EventPath& path, const Error& error, Timestamp now);
  // For an event on which nothing is set.
  void remove(const EventPath& path);

  Instances& instances_;
  EventRoutes& routes_;
  const Probes& probes_;  // whose events are among those that were offered
  const Tracing::Options& options_;
  std::map<EventPath, OfferedEvent> offered_;
  std::set<EventPath> undelivered_;  // those of offered_ that have no source
  EventSource* expected_from_ = nullptr;
  std::map<std::uint32_t, EventPath> ids_;  // of the expected source; empty: none is expected
};

}  // namespace tallyfs::tracing
