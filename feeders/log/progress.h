// Reports the feeder's work: its own statistics, at most ten times a second, and, in the log once a
// minute, growing counts that a person should know. Confined to one thread.
#pragma once

#include <chrono>
#include <cstdint>

#include "feeders/log/follow/line_sink.h"
#include "feeders/log/line_intake.h"
#include "feeders/log/own_statistics.h"
#include "feeders/text/growth_log.h"
#include "feeders/text/series_log.h"

namespace tallyfs::logs {

class Progress {
 public:
  static constexpr std::chrono::milliseconds kPeriod{100};

  // Both must outlive it. Throws std::system_error, as libtally does.
  Progress(const LineIntake& lines, const FollowCounts& files) : lines_(lines), files_(files) {}

  // The period since the last publication has gone.
  bool is_due() const;
  bool is_unpublished() const;
  std::chrono::nanoseconds due_at() const { return published_at_ + kPeriod; }
  void publish();

  static UncountedSamples uncounted();

 private:
  void log_growth();

  const LineIntake& lines_;
  const FollowCounts& files_;
  OwnStatistics own_;
  std::chrono::nanoseconds published_at_{0};
  LineCounts published_lines_;
  FollowCounts published_files_;
  UncountedSamples published_uncounted_;
  SeriesLog series_log_{"statistics"};
  GrowthLog undated_log_;
};

}  // namespace tallyfs::logs
