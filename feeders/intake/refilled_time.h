// Time that may be spent: `most`, refilled at 1/`share` of the time that passes.
#pragma once

#include <algorithm>
#include <chrono>

namespace tallyfs {

class RefilledTime {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  constexpr RefilledTime(Nanoseconds most, int share) : most_(most), share_(share) {}

  Nanoseconds left(Nanoseconds now) const {
    return most_ - std::max(Nanoseconds(0), full_ - now) / share_;
  }
  bool is_full(Nanoseconds now) const { return full_ <= now; }
  void spend(Nanoseconds spent, Nanoseconds now) { full_ = std::max(full_, now) + share_ * spent; }

 private:
  const Nanoseconds most_;
  const int share_;
  Nanoseconds full_{0};  // when all of it is there again
};

}  // namespace tallyfs
