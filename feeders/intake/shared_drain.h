// Drains that their callers share: a drain shows what was sent before it began, so that all callers
// that come while one runs wait for the next one, which a single caller of them runs.
//
// Thread-safe; no drain runs beside another.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace tallyfs {

class SharedDrain {
 public:
  // Returns when a drain has ended that began after this call: by calling `drain`, or while another
  // caller did. before_waiting is called if another one's drain is waited for; it may be empty.
  template <typename Drain>
  void join(const Drain& drain, const std::function<void()>& before_waiting) {
    const std::uint64_t wanted = begun_.load() + 1;
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
  template <typename Drain>
  void run(const Drain& drain) {
    const std::uint64_t number = begun_.fetch_add(1) + 1;
    drain();
    done_.store(number);
    runs_.store(false);
    // Behind both, so that a caller that has seen this number sees them, too.
    ended_.fetch_add(1);
    ended_.notify_all();
  }

  std::atomic<bool> runs_{false};
  std::atomic<std::uint64_t> begun_{0};
  std::atomic<std::uint64_t> done_{0};
  std::atomic<unsigned> ended_{0};
};

}  // namespace tallyfs
