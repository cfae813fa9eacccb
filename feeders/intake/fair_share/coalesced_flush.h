// Drains that their callers share: a drain shows what was sent before it began, so that all callers
// that come while one runs wait for the next one, which a single caller of them runs for what all
// of them want.
//
// Thread-safe; no drain runs beside another.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>

#include "feeders/intake/fair_share/interface_filter.h"

namespace tallyfs {

class CoalescedFlush {
 public:
  // Returns when a drain has ended that began after this call, for this subject and perhaps more:
  // by calling drain(subjects), or while another caller did. before_waiting is called if another
  // one's drain is waited for; it may be empty.
  template <typename Drain>
  void wait_for(Subject subject, const Drain& drain, const std::function<void()>& before_waiting) {
    const std::uint64_t reserved = reserve(subject);
    for (bool told = !before_waiting;;) {
      const auto ended = ended_.load();
      if (done_.load() >= reserved) return;
      if (!runs_.exchange(true)) return run(drain);
      if (!told) before_waiting();
      told = true;
      ended_.wait(ended);
    }
  }

 private:
  // The number of a drain that has not begun, and will find the subject. One that begins meanwhile
  // may or may not have found it.
  std::uint64_t reserve(Subject subject) {
    for (;;) {
      const std::uint64_t next = begun_.load() + 1;
      requests_of(next).add(subject);
      if (begun_.load() + 1 == next) return next;
    }
  }
  // Returns the requests of this drain. Those of the drain before get no more, and are soon taken.
  SharedInterfaceFilter& requests_of(std::uint64_t number) {
    return requests_[number % requests_.size()];
  }

  template <typename Drain>
  void run(const Drain& drain) {
    const std::uint64_t number = begun_.fetch_add(1) + 1;
    drain(requests_of(number).take());
    done_.store(number);
    runs_.store(false);
    // Behind both, so that a caller that has seen this number sees them, too.
    ended_.fetch_add(1);
    ended_.notify_all();
  }

  std::array<SharedInterfaceFilter, 2> requests_;
  std::atomic<bool> runs_{false};
  std::atomic<std::uint64_t> begun_{0};
  std::atomic<std::uint64_t> done_{0};
  std::atomic<unsigned> ended_{0};
};

}  // namespace tallyfs
