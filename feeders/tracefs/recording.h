// The kernel's records in an instance of our own, on their way to a sink: polled as they come, and
// drained when a reader of the mount needs all records until then.
//
// Confined to one thread. The clock outlives it.
#pragma once

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "feeders/tracefs/instance.h"
#include "feeders/tracefs/merged_reader.h"

namespace tallyfs {

// Whose the instances of a feeder are, and where.
struct RecordingOwner {
  InstanceOwner instance = {};
  TracefsInstance::Predecessor predecessor = TracefsInstance::Predecessor::kNone;
  int tracefs = -1;  // as for open_tracefs()
};

class Recording {
 public:
  using Remaining = MergedReader::Remaining;

  // A drain takes no longer than that, and a little more than MergedReader::kHoldBack.
  static constexpr std::chrono::milliseconds kDrainMax{90};

  // Fails as TracefsInstance::create() does.
  static Result<Recording> create(const TracefsInstance::Options& options, const Clock& clock);

  TracefsInstance& instance() { return *instance_; }
  // Readable as soon as there is an event.
  const std::vector<int>& fds() const { return fds_; }
  void expect_stacks(MergedReader::Stacks stacks) { reader_.expect_stacks(std::move(stacks)); }

  // Hands on what is there. kMore: there is more than one call takes.
  Remaining poll(EventSink& sink);
  // Hands on everything that was recorded until now, or as much of it as goes in kDrainMax.
  Remaining drain(EventSink& sink);
  // The last poll(), of an instance whose events are off: hands on everything.
  void finish(EventSink& sink);
  // Hands on what was read already: the kernel goes on recording, and a successor goes on reading.
  void leave(EventSink& sink);

 private:
  Recording(std::unique_ptr<TracefsInstance> instance, std::vector<int> fds, const Clock& clock);

  std::unique_ptr<TracefsInstance> instance_;  // has one place, which the reader knows
  std::vector<int> fds_;                       // of its pipes
  MergedReader reader_;
  const Clock& clock_;
};

// The reason why tracing is impossible, worded for the user that wants events: kNoAccess,
// kNoDevice.
Error tracing_refusal(const Error& error);

}  // namespace tallyfs
