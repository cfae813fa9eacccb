// Time that may be spent: `most` at once, refilled at 1/`share` of the time that passes.
// One thread at a time spends; any thread may look at what is left.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

namespace tallyfs {

class Budget {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  constexpr Budget(Nanoseconds most, int share) : most_(most), share_(share) {}

  // Negative after more than `most` was spent.
  Nanoseconds left(Nanoseconds now) const {
    return most_ - std::max(Nanoseconds(0), full_at() - now) / share_;
  }
  bool is_full(Nanoseconds now) const { return full_at() <= now; }
  void spend(Nanoseconds spent, Nanoseconds now) {
    set_full_at(std::max(full_at(), now) + share_ * spent);
  }
  // Spending beyond `most` leaves no debt.
  void forgive(Nanoseconds now) { set_full_at(std::min(full_at(), now + share_ * most_)); }

 private:
  Nanoseconds full_at() const { return full_at_.load(std::memory_order_relaxed); }
  void set_full_at(Nanoseconds at) { full_at_.store(at, std::memory_order_relaxed); }

  const Nanoseconds most_;
  const int share_;
  std::atomic<Nanoseconds> full_at_{Nanoseconds(0)};
};

}  // namespace tallyfs
