// Feeds records to the EventSets of the instances that ask for them, in the order of their times.
// So a trigger that joins records of several sources sees them in that order.
//
// Sources deliver with different delays: a marker and a line on the socket come at once, records
// of programs with libtally within kGatheredNs, the kernel's when its feeder has polled. That
// feeder is the one late source, see EventSource::is_late(). So:
//   * while a late source is asked for anything, records of the other sources are pending until
//     records of the late source have passed their time;
//   * while programs are asked for anything, records of late sources, and of other programs, are
//     pending for kGatheredNs;
//   * when late sources were drained, because a file is read or written, all records from before
//     the drain are released. A record that a program has gathered and not sent by then comes too
//     late for its place.
//
// Confined to the lock of Tracing's State.
// Limits: kPendingMax records, kPendingBytesMax bytes; beyond, all are released at once and counted
// in events_hurried. After kPendingNs a record waits no longer for a late source, which may have no
// records to send. feed() and feed_marker() check the limits and the time, release_old() the
// time; no timer does. The constants are in record_sequencer.cpp and docs/limits.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/branch/daemon_counters.h"
#include "core/tracing/branch/event_routes.h"
#include "core/tracing/branch/excluded_threads.h"
#include "core/tracing/branch/instances.h"
#include "core/tracing/branch/pending_records.h"

namespace tallyfs::tracing {

// Functions that feed records touch the instances, as texts that were rendered before are outdated.
class RecordSequencer {
 public:
  static constexpr std::uint64_t kReleaseAll = UINT64_MAX;

  // All outlive it. counters: nullptr if nothing is counted.
  RecordSequencer(Instances& instances, const EventRoutes& routes, DaemonCounters* counters)
      : instances_(instances), routes_(routes), counters_(counters) {}

  // The records are in the order of their times. Those whose route has another use are left out.
  // Returns how many are asked for, pending ones included.
  std::uint64_t feed(EventSource& source, std::span<const EventRecord> records, std::uint32_t use,
                     Timestamp now);
  // A marker goes to this instance alone, and is never excluded.
  void feed_marker(TracingInstance& instance, const EventRecord& record, Timestamp now);

  // Feeds pending records up to that time.
  void release(std::uint64_t until_ns, Timestamp now) {
    if (feed_until(until_ns)) touch_all(now);
  }
  // Feeds those that happened before the last drain of all late sources.
  void release_drained(Timestamp now) { release(drained_ns_, now); }
  // Feeds those that have been pending for as long as they have to.
  void release_old(Timestamp now) { release(ready_until_ns(now), now); }
  // All late sources were drained at `now`: feeds what happened before.
  void note_drained(Timestamp now);

  bool has_pending() const { return !pending_.is_empty(); }
  // The instance is removed, and a later instance may have the same address.
  void drop(const TracingInstance& instance) { pending_.drop_markers(instance); }
  // From now on, records about these threads, and no others, are left out.
  void exclude(ExcludedThreads threads) { excluded_ = std::move(threads); }

 private:
  // False: the record is not asked for, or is excluded.
  bool feed(const EventRoute& route, const EventRecord& record);
  void feed_pending(const PendingRecords::Pending& pending);
  std::uint64_t ready_until_ns(Timestamp now) const;
  // Feeds pending records up to that time, or those that need not be pending any longer; returns
  // whether there were any. The caller touches the instances.
  bool feed_until(std::uint64_t until_ns);
  bool feed_due(Timestamp now);
  void touch_all(Timestamp now);

  Instances& instances_;
  const EventRoutes& routes_;
  DaemonCounters* const counters_;
  PendingRecords pending_;
  ExcludedThreads excluded_;
  std::uint64_t drained_ns_ = 0;   // up to this time, no late source has any records left
  std::uint64_t late_fed_ns_ = 0;  // the youngest record of a late source
};

}  // namespace tallyfs::tracing
