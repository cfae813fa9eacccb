// When the position of a line may be stored: when its samples are where a kill of the feeder does
// not reach them, in memory that it shares with the daemon, or with the daemon.
//
// A sample that libtally holds itself (of a statistic that the daemon has not registered yet, or
// that has no lane) is not; then positions wait for a confirmation by the daemon. It is asked for
// after one line, two, four and so on, up to 1,000 lines or 100 ms: most statistics are registered
// with the first confirmation, and have a lane soon after it. Confined to one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "feeders/log/follow/positions.h"

namespace tallyfs::logs {

class Settled {
 public:
  static constexpr std::uint64_t kLinesMax = 1'000;
  static constexpr std::chrono::milliseconds kTimeMax{100};

  // confirm: asks the daemon until it has confirmed all; false: it is in vain. positions may be
  // nullptr: none are kept.
  using Confirm = std::function<bool()>;
  Settled(Positions* positions, Confirm confirm)
      : positions_(positions), confirm_(std::move(confirm)) {}

  // A line was taken, up to the offset; has_samples: since the last call.
  void store(PositionRecord* record, std::uint64_t offset, bool has_samples);
  void store_cursor(std::string_view cursor, bool has_samples);
  // Whether lines wait for more than kTimeMax.
  bool is_due() const;
  bool is_waiting() const { return lines_ != 0; }
  // Confirms what waits, and stores it.
  void settle();

 private:
  bool is_safe(bool has_samples) const;
  void note_safe();
  void note(PositionRecord& record, std::uint64_t offset);
  void wait();

  Positions* const positions_;
  const Confirm confirm_;
  std::vector<std::pair<PositionRecord*, std::uint64_t>> pending_;
  std::string cursor_;
  std::uint64_t lines_ = 0;       // that wait
  std::uint64_t lines_max_ = 1;   // that may
  std::uint64_t safe_lines_ = 0;  // in a row
  std::chrono::nanoseconds since_{0};
};

}  // namespace tallyfs::logs
