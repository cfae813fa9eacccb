#include "tools/display/recent_rate.h"

#include <cmath>

namespace tallyfs::view {

void RecentRate::take(std::uint64_t samples, double seconds) {
  const bool is_known = samples_ && seconds > 0 && samples >= *samples_;
  if (is_known) {
    const double now = static_cast<double>(samples - *samples_) / seconds;
    const double part = smooth_ ? 1 - std::exp(-seconds / kSmoothSeconds) : 1;
    last_ = now;
    smooth_ = smooth_.value_or(0) + part * (now - smooth_.value_or(0));
    minute_.push_back(now);
    if (minute_.size() > kMinute) minute_.pop_front();
  } else {
    last_.reset();
    smooth_.reset();
  }
  samples_ = samples;
}

}  // namespace tallyfs::view
