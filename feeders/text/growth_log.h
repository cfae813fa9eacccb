// Says for the log, once a minute at most, by how much a count has grown. Confined to one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

namespace tallyfs {

class GrowthLog {
 public:
  // Since the last call that returned more than 0. 0: it has not grown, or it is too early.
  std::uint64_t take(std::uint64_t total, std::chrono::nanoseconds now) {
    constexpr std::chrono::minutes kPeriod{1};
    if (total == logged_ || (last_ && now - *last_ < kPeriod)) return 0;
    last_ = now;
    return total - std::exchange(logged_, total);
  }

 private:
  std::uint64_t logged_ = 0;
  std::optional<std::chrono::nanoseconds> last_;
};

}  // namespace tallyfs
