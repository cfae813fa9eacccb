// How fast a counter of samples grows from one snapshot to the next: in the last interval,
// smoothed, and in each interval of the last minute. A value, confined to its owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

namespace tallyfs::view {

// The interface of the daemon's own numbers, which each reading moves: no part of a total.
inline constexpr std::string_view kOwnInterface = "tallyfs";

class RecentRate {
 public:
  static constexpr std::size_t kMinute = 60;  // intervals
  static constexpr double kSmoothSeconds = 3;

  // `seconds` since the snapshot before; 0 if it was of another daemon. The rate is unknown then,
  // at the first snapshot, and after samples that fell.
  void take(std::uint64_t samples, double seconds);

  const std::optional<double>& last() const { return last_; }
  const std::optional<double>& smooth() const { return smooth_; }
  const std::deque<double>& minute() const { return minute_; }
  // The sum of minute().
  double of_minute() const;

 private:
  void keep(double now);

  std::optional<std::uint64_t> samples_;
  std::optional<double> last_;
  std::optional<double> smooth_;
  std::deque<double> minute_;
  std::size_t moved_ = 0;  // intervals in minute_ that are not 0
};

}  // namespace tallyfs::view
