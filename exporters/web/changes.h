// "What changed most" for the page: the newest minute of the store beside the nine before it, by
// the rule of tools/display/behaviour.h, as `tallyctl show --changed` has it. It is made at most
// each kEach, and only when it is asked for; the first time the store is read in parts of
// kReadTime, an answer each. What it keeps is freed when no answer was asked for kKeep. Any thread
// may call it: one of them reads, without the lock, and those that come meanwhile get the answer
// before, or that it is being read.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/base/mutex.h"
#include "tools/past/stored_pasts.h"

namespace tallyfs::web {

class Changes {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kEach{5};
  static constexpr std::chrono::milliseconds kReadTime{200};
  static constexpr std::chrono::minutes kKeep{2};
  static constexpr std::size_t kRowsMax = 10;
  static constexpr std::size_t kNewMax = 10;
  static constexpr std::size_t kSilentMax = 10;

  explicit Changes(std::string store, std::function<Clock::time_point()> clock = Clock::now)
      : store_(std::move(store)), clock_(std::move(clock)) {}

  // A JSON object (docs/web.md). Errors of the store are in it, in words. now_us: the wall clock.
  std::string json(std::uint64_t now_us) EXCLUDES(mutex_);
  // Each second.
  void tick() EXCLUDES(mutex_);

 private:
  struct Made {
    std::string text{};
    bool is_whole = false;  // else the store is still being read
  };

  // Only the thread that has set is_reading_ calls it. Nothing: it is as before.
  std::optional<Made> make(std::uint64_t now_us);

  const std::string store_;
  const std::function<Clock::time_point()> clock_;
  std::optional<past::StoredPasts> pasts_;  // of the thread that has set is_reading_
  std::uint64_t shown_us_ = 0;              // the same; until when the table is, 0: there is none
  Mutex mutex_{LockRank::kChanges};
  bool is_reading_ GUARDED_BY(mutex_) = false;
  std::optional<Clock::time_point> asked_ GUARDED_BY(mutex_);
  std::optional<Clock::time_point> made_ GUARDED_BY(mutex_);  // of the table as a whole
  std::string text_ GUARDED_BY(mutex_);
};

}  // namespace tallyfs::web
