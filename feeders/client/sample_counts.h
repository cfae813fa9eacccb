// Counts of all samples and records that this process has added, by result. Thread-safe: any thread
// may read the counts while others change them.
#pragma once

#include <atomic>
#include <cstdint>

#include "feeders/client/delivery.h"
#include "feeders/client/event_feed.h"
#include "feeders/client/lane_progress.h"
#include "feeders/client/sample_path.h"
#include "feeders/client/thread_buffers.h"
#include "tally/statistic.h"

namespace tallyfs {

class SampleCounts {
 public:
  SampleCounts(const SamplePath& samples, const ThreadBuffers& buffers, const Delivery& delivery,
               const LaneProgress& progress, const RecordCounts& records)
      : samples_(samples),
        buffers_(buffers),
        delivery_(delivery),
        progress_(progress),
        records_(records) {}

  void read(statistic_counts& counts) const;
  std::uint64_t dropped() const;
  // Samples and records that wait to be sent.
  std::uint64_t held() const { return buffers_.held() + records_.held.load(); }

 private:
  const SamplePath& samples_;
  const ThreadBuffers& buffers_;
  const Delivery& delivery_;
  const LaneProgress& progress_;
  const RecordCounts& records_;
};

}  // namespace tallyfs
