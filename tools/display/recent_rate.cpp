#include "tools/display/recent_rate.h"

#include <cmath>
#include <numeric>

namespace tallyfs::view {

void RecentRate::take(std::uint64_t samples, double seconds) {
  const bool is_known = samples_ && seconds > 0 && samples >= *samples_;
  if (is_known) {
    const double now = static_cast<double>(samples - *samples_) / seconds;
    last_ = now;
    // Of thousands nearly all rest, and need no exponential.
    if (!smooth_) smooth_ = now;
    if (now != *smooth_) *smooth_ += (1 - std::exp(-seconds / kSmoothSeconds)) * (now - *smooth_);
    keep(now);
  } else {
    last_.reset();
    smooth_.reset();
  }
  samples_ = samples;
}

void RecentRate::keep(double now) {
  minute_.push_back(now);
  if (now != 0) ++moved_;
  if (minute_.size() <= kMinute) return;
  if (minute_.front() != 0) --moved_;
  minute_.pop_front();
}

double RecentRate::of_minute() const {
  return moved_ == 0 ? 0 : std::accumulate(minute_.begin(), minute_.end(), 0.0);
}

}  // namespace tallyfs::view
