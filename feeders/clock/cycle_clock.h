// The clock behind the functions of clock.h, which states their contracts. A driver's cycles, the
// Timeline that turns them into nanoseconds at once, and the History and the Wall that tell
// afterwards what time of day it was.
//
// All of it is fed by instants, at which all clocks are read together. A thread that finds the
// timeline's line over takes one, and so do upkeep() and each conversion.
//
// Threads: any. cycles(), now_ns(), to_ns() and store() wait for no lock, and are signal-safe once
// the clock has begun, which its first use does. Trivially destroyed and constant- initialized:
// there from the first static constructor to the last destructor.
// Bounded: the anchors' room.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>

#include "feeders/clock/cycles.h"
#include "feeders/clock/driver.h"
#include "feeders/clock/history.h"
#include "feeders/clock/owned_lock.h"
#include "feeders/clock/rate.h"
#include "feeders/clock/reference.h"
#include "feeders/clock/timeline.h"
#include "feeders/clock/wall.h"

namespace tallyfs {

// An instant as store() leaves it. Epoch 0: none.
struct CycleTimestamp {
  std::uint64_t cycles = 0;
  std::uint64_t epoch = 0;
};

class CycleClock {
 public:
  // choose: the driver to begin with, which must live on; nullptr: the clock begins switched off.
  // counter_flag: 1 while cycles() is read_counter(), for callers that read the counter inline; or
  // null.
  constexpr CycleClock(const Reference& reference, const Driver* (*choose)(),
                       std::span<Anchor> room, std::uint32_t* counter_flag = nullptr)
      : reference_(reference), choose_(choose), counter_flag_(counter_flag), history_(room) {}
  CycleClock(const CycleClock&) = delete;
  CycleClock& operator=(const CycleClock&) = delete;

  std::uint64_t cycles() {
    if (mode_.load(std::memory_order_relaxed) == Mode::kCounter) [[likely]]
      return read_counter();
    return cycles_otherwise();
  }
  // True while callers may read the counter inline.
  bool is_counter() const { return mode_.load(std::memory_order_relaxed) == Mode::kCounter; }
  std::uint64_t now_ns() {
    if (mode_.load(std::memory_order_relaxed) == Mode::kCounter) [[likely]] {
      if (const auto ns = timeline_.read_own(this_thread())) [[likely]]
        return *ns;
    }
    return now_ns_otherwise();
  }
  void store(CycleTimestamp& stamp) {
    // Before the cycles: if another epoch begins in between, the stamp is stale instead of wrong.
    stamp.epoch = epoch_.load(std::memory_order_acquire);
    if (mode_.load(std::memory_order_relaxed) == Mode::kCounter) [[likely]] {
      stamp.cycles = read_counter();
    } else {
      store_otherwise(stamp);
    }
  }
  // So many cycles; UINT64_MAX if that does not fit.
  std::uint64_t to_ns(std::uint64_t cycles);

  // The line for converting many cycles of the last seconds; laid anew if it is over.
  Line line();

  struct TimeOfDay {
    std::int64_t ns = 0;  // CLOCK_REALTIME
    std::uint64_t error_ns = 0;
  };
  enum class TimeError { kEmpty, kTooOld, kOtherEpoch };
  struct Answer {
    std::optional<TimeOfDay> time;
    TimeError why = TimeError::kEmpty;
  };
  Answer time_of(const CycleTimestamp& stamp) EXCLUDES(lock_);

  void upkeep(Wall::Cause cause) EXCLUDES(lock_);
  void set_spacing(std::int64_t ns) EXCLUDES(lock_);

  // The driver must live on. A clock that is off stays so. False: no rate could be measured; what
  // was chosen before stays.
  bool select(const Driver& driver) EXCLUDES(lock_);
  // Sets the rate of the machine's counter. False: too late.
  bool set_rate(std::uint64_t hz) EXCLUDES(lock_);
  // if_none: the driver if none was ever chosen.
  void switch_on(const Driver& if_none) EXCLUDES(lock_);
  void switch_off() EXCLUDES(lock_);
  bool is_on() const { return mode_.load(std::memory_order_relaxed) > Mode::kOff; }

  struct Status {
    const Driver* driver = nullptr;  // null while it is off
    double rate_hz = 0;
    double drift_ppm = 0;
    std::uint64_t epoch = 0;
    std::uint64_t anchors = 0;
    std::uint64_t anchors_max = 0;
    std::uint64_t reach_ns = 0;
    std::uint64_t steps = 0;
    std::int64_t last_step_ns = 0;
    std::uint64_t leap_seconds = 0;
    std::uint64_t suspends = 0;
    std::uint64_t gaps = 0;
    std::uint64_t jumps = 0;
    std::uint64_t frequency_changes = 0;
    std::uint64_t fallbacks = 0;
    std::uint64_t error_ns = 0;
  };
  Status status() EXCLUDES(lock_);

  // For the handlers of fork(). Another thread's unfinished work begins anew in the child, as an
  // epoch.
  OwnedLock& lock() RETURN_CAPABILITY(lock_) { return lock_; }
  void recover_in_child() EXCLUDES(lock_);

 private:
  enum class Mode : std::uint32_t { kNotBegun, kOff, kCounter, kMonotonic, kOther };

  Mode mode() {
    const Mode mode = mode_.load(std::memory_order_acquire);
    return mode == Mode::kNotBegun ? begin() : mode;
  }
  [[gnu::cold]] std::uint64_t cycles_otherwise();
  [[gnu::noinline]] std::uint64_t now_ns_otherwise();
  [[gnu::cold]] void store_otherwise(CycleTimestamp& stamp);
  std::uint64_t read(const Driver& driver) const;
  std::uint64_t read_ordered() const;
  Mode begin() EXCLUDES(lock_);
  bool adopt(const Driver& driver) REQUIRES(lock_);
  double said_rate(const Driver& driver) const REQUIRES(lock_);
  std::optional<Rate> first_rate(const Driver& driver, double said) const;
  void set_mode(Mode mode);
  static Mode mode_of(const Driver& driver);

  Instant take() const;
  void take_in(const Instant& instant, Wall::Cause cause) REQUIRES(lock_);
  bool is_in_doubt() REQUIRES(lock_);
  void jump(const Instant& instant) REQUIRES(lock_);
  void fall_back() REQUIRES(lock_);
  void begin_epoch_anew(const Instant& instant) REQUIRES(lock_);
  void begin_epoch(const Instant& instant) REQUIRES(lock_);
  void note(Anchor anchor) REQUIRES(lock_);
  Line line_from(const Anchor& anchor) const REQUIRES(lock_);
  bool line_is_over() const REQUIRES(lock_);
  Answer look_up(const CycleTimestamp& stamp) const REQUIRES(lock_);

  const Reference& reference_;
  const Driver* (*const choose_)();
  std::uint32_t* const counter_flag_;

  std::atomic<Mode> mode_{Mode::kNotBegun};
  std::atomic<std::uint64_t> epoch_{1};
  std::atomic<std::uint64_t> per_cycle_{0};  // ns, times 2^32
  std::atomic<const Driver*> driver_{nullptr};
  Timeline timeline_;

  OwnedLock lock_{LockRank::kClock};
  History history_ GUARDED_BY(lock_);
  Wall wall_ GUARDED_BY(lock_);
  Rate rate_ GUARDED_BY(lock_);
  Interval boottime_ GUARDED_BY(lock_);
  double said_hz_ GUARDED_BY(lock_) = 0;  // or what it turned out to be first; 0: not yet
  std::uint64_t set_hz_ GUARDED_BY(lock_) = 0;
  std::uint64_t doubts_ GUARDED_BY(lock_) = 0;
  unsigned strikes_ GUARDED_BY(lock_) = 0;
  std::uint64_t suspends_ GUARDED_BY(lock_) = 0;
  std::uint64_t jumps_ GUARDED_BY(lock_) = 0;
  std::uint64_t frequency_changes_ GUARDED_BY(lock_) = 0;
  std::uint64_t fallbacks_ GUARDED_BY(lock_) = 0;
};

}  // namespace tallyfs
