// The block feeder without its outside: trace events in, samples out. Fed in the order of time.
// Confined to one thread.
//
// A request counts in request_sizes and latencies when it is finished, both at once, so that the
// totals of the two are always equal; in pending whenever it is given to the driver, which is more
// than once if the driver had no room for it at first.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include "feeders/block/block_events.h"
#include "feeders/block/disks.h"
#include "feeders/block/request_tracker.h"
#include "feeders/tracefs/merged_reader.h"

namespace tallyfs {

class BlockFeeder final : public EventSink {
 public:
  explicit BlockFeeder(BlockEvents events) : events_(std::move(events)) {}

  void event(std::chrono::nanoseconds time, std::size_t cpu,
             std::span<const char> payload) override;
  // Whose events are missing is unknown, so they count in occurrence_lost of every disk, and no
  // request that was in flight is waited for any more: its end may be among them.
  void lost(std::size_t, std::uint64_t events) override { lost_anywhere(events); }

  // Adds what was lost, once per poll. Samples that libtally had to drop count as lost too, of the
  // disk that they belong to.
  void report_lost();

 private:
  void lost_anywhere(std::uint64_t events);
  void issue(const RequestEvent& event);
  void complete(const RequestEvent& event);

  const BlockEvents events_;
  Disks disks_;
  RequestTracker tracker_;
  std::chrono::nanoseconds last_{0};  // time of the last event
};

}  // namespace tallyfs
