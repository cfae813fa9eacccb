// Time that may be spent: `most`, refilled at 1/`share` of the time that passes. One thread at a
// time spends; any may look at what is left.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

namespace tallyfs {

class RefilledTime {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  constexpr RefilledTime(Nanoseconds most, int share) : most_(most), share_(share) {}

  Nanoseconds left(Nanoseconds now) const {
    return most_ - std::max(Nanoseconds(0), full() - now) / share_;
  }
  bool is_full(Nanoseconds now) const { return full() <= now; }
  void spend(Nanoseconds spent, Nanoseconds now) {
    set_full(std::max(full(), now) + share_ * spent);
  }
  // What was spent beyond `most` is no debt.
  void forgive(Nanoseconds now) { set_full(std::min(full(), now + share_ * most_)); }

 private:
  Nanoseconds full() const { return full_.load(std::memory_order_relaxed); }
  void set_full(Nanoseconds full) { full_.store(full, std::memory_order_relaxed); }

  const Nanoseconds most_;
  const int share_;
  std::atomic<Nanoseconds> full_{Nanoseconds(0)};  // when all of it is there again
};

}  // namespace tallyfs
