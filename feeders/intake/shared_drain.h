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

#include "feeders/intake/subjects.h"

namespace tallyfs {

class SharedDrain {
 public:
  // Returns when a drain has ended that began after this call, for this subject and perhaps more:
  // by calling drain(subjects), or while another caller did. before_waiting is called if another
  // one's drain is waited for; it may be empty.
  template <typename Drain>
  void join(Subject subject, const Drain& drain, const std::function<void()>& before_waiting) {
    const std::uint64_t wanted = want(subject);
    for (bool told = !before_waiting;;) {
      const auto ended = ended_.load();
      if (done_.load() >= wanted) return;
      if (!runs_.exchange(true)) return run(drain);
      if (!told) before_waiting();
      told = true;
      ended_.wait(ended);
    }
  }

 private:
  // The number of a drain that has not begun, and will find the subject. One that begins meanwhile
  // may or may not have found it.
  std::uint64_t want(Subject subject) {
    for (;;) {
      const std::uint64_t next = begun_.load() + 1;
      wanted_of(next).add(subject);
      if (begun_.load() + 1 == next) return next;
    }
  }
  // Of this drain: those of the one before are not added to any more, and soon taken.
  SharedSubjects& wanted_of(std::uint64_t number) { return wanted_[number % wanted_.size()]; }

  template <typename Drain>
  void run(const Drain& drain) {
    const std::uint64_t number = begun_.fetch_add(1) + 1;
    drain(wanted_of(number).take());
    done_.store(number);
    runs_.store(false);
    // Behind both, so that a caller that has seen this number sees them, too.
    ended_.fetch_add(1);
    ended_.notify_all();
  }

  std::array<SharedSubjects, 2> wanted_;
  std::atomic<bool> runs_{false};
  std::atomic<std::uint64_t> begun_{0};
  std::atomic<std::uint64_t> done_{0};
  std::atomic<unsigned> ended_{0};
};

}  // namespace tallyfs
