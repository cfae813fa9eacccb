#include "feeders/clock/cycle_clock.h"

#include <algorithm>
#include <type_traits>

#include "core/base/int128.h"
#include "feeders/clock/wide_counter.h"

namespace tally {
namespace {

static_assert(std::is_trivially_destructible_v<CycleClock>);

// The first rate is taken over this long.
constexpr std::int64_t kFirstSpan = 200'000;

}  // namespace

// ---- reading

// By the driver alone, one pointer, since the mode may change behind a look at it.
std::uint64_t CycleClock::read_ordered() const {
  const Driver* const driver = driver_.load(std::memory_order_acquire);
  if (!driver) return 0;
  switch (driver->kind) {
    case Driver::Kind::kNone:
      break;
    case Driver::Kind::kCounter:
      return read_counter_ordered();
    case Driver::Kind::kMonotonic:
      return static_cast<std::uint64_t>(reference_.monotonic_ns());
    case Driver::Kind::kOther:
      return driver->wide ? driver->wide->read() : driver->read(driver->context);
  }
  return 0;
}

std::uint64_t CycleClock::cycles_otherwise() { return mode() == Mode::kOff ? 0 : read_ordered(); }

void CycleClock::store_otherwise(Timestamp& stamp) {
  stamp = {};
  if (mode() == Mode::kOff) return;
  stamp.epoch = epoch_.load(std::memory_order_acquire);
  stamp.cycles = read_ordered();
}

std::uint64_t CycleClock::now_ns_otherwise() {
  const auto read = [this] { return read_ordered(); };
  for (;;) {
    const std::uint64_t turn = timeline_.turn();
    switch (mode()) {
      case Mode::kNotBegun:
      case Mode::kOff:
        return 0;
      case Mode::kMonotonic: {
        const auto ns = static_cast<std::uint64_t>(reference_.monotonic_ns());
        if (timeline_.turn() == turn) return timeline_.not_before_floor(ns);
        continue;  // another driver has been chosen
      }
      case Mode::kCounter:
      case Mode::kOther:
        break;
    }
    if (const auto ns = timeline_.read(this_thread(), read)) return *ns;
    if (lock_.try_lock()) {
      if (line_is_over()) take_in(take(), Wall::Cause::kDue);
      lock_.unlock();
      if (const auto ns = timeline_.read(this_thread(), read)) return *ns;
    }
    return timeline_.read_meanwhile(static_cast<std::uint64_t>(reference_.monotonic_ns()), read);
  }
}

std::uint64_t CycleClock::to_ns(std::uint64_t cycles) {
  if (mode() == Mode::kOff) return 0;
  const UInt128 ns = (UInt128{cycles} * per_cycle_.load(std::memory_order_relaxed)) >> 32;
  return ns > UINT64_MAX ? UINT64_MAX : static_cast<std::uint64_t>(ns);
}

Line CycleClock::line() {
  (void)mode();
  if (const MutexLock lock(lock_); line_is_over()) take_in(take(), Wall::Cause::kDue);
  return timeline_.line();
}

bool CycleClock::line_is_over() const {
  const Line line = timeline_.line();
  return read_ordered() - line.cycles > line.span;
}

// ---- drivers

CycleClock::Mode CycleClock::mode_of(const Driver& driver) {
  switch (driver.kind) {
    case Driver::Kind::kNone:
      break;
    case Driver::Kind::kCounter:
      return Mode::kCounter;
    case Driver::Kind::kMonotonic:
      return Mode::kMonotonic;
    case Driver::Kind::kOther:
      return Mode::kOther;
  }
  return Mode::kOff;
}

void CycleClock::set_mode(Mode mode) {
  mode_.store(mode, std::memory_order_release);
  if (counter_flag_) {
    __atomic_store_n(counter_flag_, mode == Mode::kCounter ? 1u : 0u, __ATOMIC_RELAXED);
  }
}

CycleClock::Mode CycleClock::begin() {
  const Driver* const driver = choose_();
  const MutexLock lock(lock_);
  if (mode_.load() == Mode::kNotBegun) {
    if (driver) {
      adopt(*driver);
    } else {
      set_mode(Mode::kOff);
    }
  }
  return mode_.load();
}

void CycleClock::select(const Driver& driver) {
  const MutexLock lock(lock_);
  if (driver_.load() != &driver) adopt(driver);
}

void CycleClock::set_on(bool on) {
  if (mode() == Mode::kOff && on) {
    const Driver* const known = driver_.load();
    const Driver* const driver = known ? known : choose_();
    const MutexLock lock(lock_);
    if (!driver_.load()) return adopt(driver ? *driver : kMonotonicDriver);
    return set_mode(mode_of(*driver_.load()));
  }
  if (on) return;
  const MutexLock lock(lock_);
  set_mode(Mode::kOff);
}

bool CycleClock::set_rate(std::uint64_t hz) {
  const MutexLock lock(lock_);
  if (mode_.load() > Mode::kOff) return false;
  set_hz_ = hz;
  return true;
}

// Until the first anchor there is a line without length; readers then take CLOCK_MONOTONIC. The
// mode changes between two lines, so that no reader takes one driver's cycles for another's.
void CycleClock::adopt(const Driver& driver) {
  Line nothing = timeline_.line();
  nothing.span = 0;
  timeline_.lay(
      nothing, Timeline::Counter::kOther, [this] { return read_ordered(); },
      [&] {
        driver_.store(&driver);
        set_mode(mode_of(driver));
      });
  const Anchor now = take().anchor;
  rate_.begin(now, said_hz_ = first_rate(driver, now));
  doubts_ = driver.wide ? driver.wide->doubts() : 0;
  begin_epoch(take());
}

double CycleClock::first_rate(const Driver& driver, const Anchor& now) const {
  const bool is_counter = driver.kind == Driver::Kind::kCounter;
  const std::uint64_t said = is_counter && set_hz_ != 0 ? set_hz_ : driver.rate_hz;
  if (said != 0) return static_cast<double>(said);
  if (const std::uint64_t hz = is_counter ? counter_rate_hz() : 0) return static_cast<double>(hz);
  Anchor then = now;
  while (then.ns - now.ns < kFirstSpan) then = take().anchor;
  return static_cast<double>(then.cycles - now.cycles) / static_cast<double>(then.ns - now.ns) *
         1e9;
}

// ---- instants

Instant CycleClock::take() const {
  const auto read = [this] { return read_ordered(); };
  Instant instant = take_instant(reference_, read);
  if (driver_.load(std::memory_order_relaxed)->kind == Driver::Kind::kMonotonic) {
    instant.anchor.cycles = static_cast<std::uint64_t>(instant.anchor.ns);
    instant.anchor.error_cycles = 0;
  }
  return instant;
}

void CycleClock::take_in(Instant instant, Wall::Cause cause) {
  if (is_other_epoch(instant)) {
    rate_.begin_again(instant.anchor);
    return begin_epoch(instant);
  }
  boottime_ = boottime_.narrowed_by(instant.boottime);
  wall_.look(instant.anchor.ns, instant.realtime, cause);
  switch (rate_.add(instant.anchor)) {
    case Rate::Seen::kSteady:
      break;
    case Rate::Seen::kChange:
      ++frequency_changes_;
      [[fallthrough]];
    case Rate::Seen::kKink:
      history_.keep_newest();
      break;
  }
  note(instant.anchor);
}

bool CycleClock::is_other_epoch(const Instant& instant) {
  if (!boottime_.meets(instant.boottime)) {
    ++suspends_;
    return true;
  }
  const Driver& driver = *driver_.load(std::memory_order_relaxed);
  const std::uint64_t doubts = driver.wide ? driver.wide->doubts() : 0;
  if (doubts == doubts_ && instant.anchor.cycles >= history_.newest()->cycles) return false;
  doubts_ = doubts;
  ++jumps_;
  return true;
}

void CycleClock::begin_epoch(const Instant& instant) {
  epoch_.store(epoch_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  boottime_ = instant.boottime;
  wall_.begin(instant.anchor.ns, instant.realtime);
  history_.keep_newest();
  note(instant.anchor);
}

// For whoever asks later, and for the timeline.
void CycleClock::note(Anchor anchor) {
  anchor.epoch = static_cast<std::uint32_t>(epoch_.load(std::memory_order_relaxed));
  anchor.error_ns = round_up(anchor.error_cycles * rate_.ns_per_cycle());
  history_.add(anchor);
  const Driver& driver = *driver_.load(std::memory_order_relaxed);
  if (driver.wide) driver.wide->hold_against(anchor.cycles, anchor.ns);
  per_cycle_.store(rate_.per_cycle(), std::memory_order_relaxed);
  const bool is_counter = driver.kind == Driver::Kind::kCounter;
  timeline_.lay(
      line_from(anchor), is_counter ? Timeline::Counter::kMachines : Timeline::Counter::kOther,
      [this] { return read_ordered(); }, [] {});
}

Line CycleClock::line_from(const Anchor& anchor) const {
  const bool is_monotonic =
      driver_.load(std::memory_order_relaxed)->kind == Driver::Kind::kMonotonic;
  const double span = static_cast<double>(rate_.good_for_ns()) / rate_.ns_per_cycle();
  return {.cycles = anchor.cycles,
          .ns = static_cast<std::uint64_t>(anchor.ns),
          .rate = rate_.per_cycle(),
          .span = is_monotonic ? UINT64_MAX : static_cast<std::uint64_t>(span)};
}

void CycleClock::upkeep(Wall::Cause cause) {
  if (mode() == Mode::kOff) return;
  // This reads a file, so before the lock.
  const Driver& known = *driver_.load();
  const bool is_trusted = !known.is_trusted || known.is_trusted();
  const MutexLock lock(lock_);
  if (!is_trusted && driver_.load() == &known) {
    ++fallbacks_;
    return adopt(kMonotonicDriver);
  }
  take_in(take(), cause);
}

void CycleClock::set_spacing(std::int64_t ns) {
  const MutexLock lock(lock_);
  history_.set_spacing(ns);
}

// ---- times of day

CycleClock::Answer CycleClock::time_of(const Timestamp& stamp) {
  if (stamp.epoch == 0 || mode() == Mode::kOff) return {};
  const MutexLock lock(lock_);
  // What was stored since the last anchor needs one behind it; and there may have been a suspend.
  if (stamp.cycles > history_.newest()->cycles || line_is_over()) {
    take_in(take(), Wall::Cause::kDue);
  }
  return look_up(stamp);
}

CycleClock::Answer CycleClock::look_up(const Timestamp& stamp) const {
  const std::uint64_t epoch = epoch_.load(std::memory_order_relaxed);
  if (stamp.epoch > epoch) return {};
  if (stamp.epoch != epoch) return {.why = NoTime::kOtherEpoch};
  const auto time = history_.time_of(stamp.cycles, static_cast<std::uint32_t>(epoch));
  const auto ahead = time ? wall_.at(time->ns) : std::nullopt;
  if (!ahead) return {.why = NoTime::kTooOld};
  return {.time = TimeOfDay{time->ns + ahead->ns,
                            static_cast<std::uint64_t>(time->error_ns + ahead->error_ns)}};
}

CycleClock::Status CycleClock::status() {
  Timestamp now;
  store(now);
  const Answer answer = time_of(now);
  const MutexLock lock(lock_);
  const Driver* const driver = is_on() ? driver_.load() : nullptr;
  const std::size_t anchors = history_.size();
  return {
      .driver = driver,
      .rate_hz = rate_.hz(),
      .drift_ppm = said_hz_ != 0 ? (rate_.hz() / said_hz_ - 1) * 1e6 : 0,
      .epoch = epoch_.load(),
      .anchors = anchors,
      .anchors_max = history_.size_max(),
      .reach_ns =
          static_cast<std::uint64_t>(anchors != 0 ? history_.newest()->ns - history_.at(0).ns : 0),
      .steps = wall_.steps(),
      .last_step_ns = wall_.last_step_ns(),
      .leap_seconds = wall_.leap_seconds(),
      .suspends = suspends_,
      .gaps = driver && driver->wide ? driver->wide->gaps() : 0,
      .jumps = jumps_,
      .frequency_changes = frequency_changes_,
      .fallbacks = fallbacks_,
      .error_ns = answer.time ? answer.time->error_ns : 0,
  };
}

}  // namespace tally
