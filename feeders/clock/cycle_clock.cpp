#include "feeders/clock/cycle_clock.h"

#include <type_traits>
#include <utility>

#include "core/base/int128.h"
#include "feeders/clock/wide_counter.h"

namespace tallyfs {
namespace {

static_assert(std::is_trivially_destructible_v<CycleClock>);

// A rate that the driver does not give is first measured over this span, or longer until it is
// precise enough.
constexpr std::int64_t kFirstSpan = 200'000;
constexpr std::int64_t kFirstSpanMax = 20'000'000;
// A counter that jumps so often before its rate could be measured again is none.
constexpr unsigned kStrikesMax = 8;
// The drift is told against what was measured over this long.
constexpr std::int64_t kDriftSpan = 1'000'000'000;

}  // namespace

// ---- reading

std::uint64_t CycleClock::read(const Driver& driver) const {
  switch (driver.kind) {
    case Driver::Kind::kNone:
      break;
    case Driver::Kind::kCounter:
      return read_counter_ordered();
    case Driver::Kind::kMonotonic:
      return static_cast<std::uint64_t>(reference_.monotonic_ns());
    case Driver::Kind::kOther:
      return driver.wide ? driver.wide->read() : driver.read(driver.context);
  }
  return 0;
}

// Reads through the driver alone, which is one pointer: the mode may change after it was read.
std::uint64_t CycleClock::read_ordered() const {
  const Driver* const driver = driver_.load(std::memory_order_acquire);
  return driver ? read(*driver) : 0;
}

std::uint64_t CycleClock::cycles_otherwise() { return mode() == Mode::kOff ? 0 : read_ordered(); }

void CycleClock::store_otherwise(CycleTimestamp& stamp) {
  stamp = {};
  if (mode() == Mode::kOff) return;
  stamp.epoch = epoch_.load(std::memory_order_acquire);
  stamp.cycles = read_ordered();
}

std::uint64_t CycleClock::now_ns_otherwise() {
  const auto read = [this] { return read_ordered(); };
  for (;;) {
    const std::uint64_t edition = timeline_.edition();
    switch (mode()) {
      case Mode::kNotBegun:
      case Mode::kOff:
        return 0;
      case Mode::kMonotonic: {
        const auto ns = static_cast<std::uint64_t>(reference_.monotonic_ns());
        if (timeline_.edition() == edition) return timeline_.not_before_floor(ns);
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
  if (const Owned lock(lock_); line_is_over()) take_in(take(), Wall::Cause::kDue);
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

// The mode is set last: a thread that sees it finds an epoch and a rate.
CycleClock::Mode CycleClock::begin() {
  const Driver* const driver = choose_();
  const Owned lock(lock_);
  if (mode_.load() != Mode::kNotBegun) return mode_.load();
  if (driver && !adopt(*driver)) adopt(kMonotonicDriver);
  set_mode(driver ? mode_of(*driver_.load()) : Mode::kOff);
  return mode_.load();
}

bool CycleClock::select(const Driver& driver) {
  (void)mode();
  const Owned lock(lock_);
  return driver_.load() == &driver || adopt(driver);
}

void CycleClock::switch_on(const Driver& if_none) {
  (void)mode();
  const Owned lock(lock_);
  if (!driver_.load() && !adopt(if_none)) adopt(kMonotonicDriver);
  set_mode(mode_of(*driver_.load()));
}

void CycleClock::switch_off() {
  (void)mode();
  const Owned lock(lock_);
  set_mode(Mode::kOff);
}

bool CycleClock::set_rate(std::uint64_t hz) {
  const Owned lock(lock_);
  if (mode_.load() > Mode::kOff) return false;
  set_hz_ = hz;
  return true;
}

// Until the first anchor there is a line without length; readers then take CLOCK_MONOTONIC. The
// mode changes between two lines, so that no reader takes one driver's cycles for another's; a
// clock that is off stays so.
bool CycleClock::adopt(const Driver& driver) {
  if (driver.wide) driver.wide->resume();
  const double said = said_rate(driver);
  const auto rate = first_rate(driver, said);
  if (!rate) return false;
  Line nothing = timeline_.line();
  nothing.span = 0;
  timeline_.lay(
      nothing, Timeline::Counter::kOther, [this] { return read_ordered(); },
      [&] {
        driver_.store(&driver);
        if (mode_.load() > Mode::kOff) set_mode(mode_of(driver));
      });
  rate_ = *rate;
  said_hz_ = said;
  strikes_ = 0;
  doubts_ = driver.wide ? driver.wide->doubts() : 0;
  begin_epoch(take());
  return true;
}

double CycleClock::said_rate(const Driver& driver) const {
  if (driver.kind != Driver::Kind::kCounter) return static_cast<double>(driver.rate_hz);
  return static_cast<double>(set_hz_ != 0 ? set_hz_ : counter_rate_hz());
}

std::optional<Rate> CycleClock::first_rate(const Driver& driver, double said) const {
  const auto look = [&] { return take_anchor(reference_, [&] { return read(driver); }); };
  const Anchor begun = look();
  Rate rate;
  rate.begin(begun, said != 0 ? said : 1e9);
  if (said != 0) return rate;
  for (;;) {
    const Anchor now = look();
    if (now.cycles < begun.cycles || now.ns - begun.ns > kFirstSpanMax) return std::nullopt;
    rate.add(now);
    if (now.ns - begun.ns >= kFirstSpan && rate.is_measured()) return rate;
  }
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

void CycleClock::take_in(const Instant& instant, Wall::Cause cause) {
  if (!boottime_.meets(instant.boottime)) {
    ++suspends_;
    return begin_epoch_anew(instant);
  }
  if (is_in_doubt()) {
    ++jumps_;
    return begin_epoch_anew(instant);
  }
  if (instant.anchor.cycles < history_.newest()->cycles) return jump(instant);
  const Rate::Observation seen = rate_.add(instant.anchor);
  switch (seen) {
    case Rate::Observation::kJump:
      return jump(instant);
    case Rate::Observation::kStop:
      return fall_back();
    case Rate::Observation::kChange:
      ++frequency_changes_;
      [[fallthrough]];
    case Rate::Observation::kKink:
      history_.keep_newest();
      break;
    case Rate::Observation::kSteady:
      break;
  }
  boottime_ = boottime_.narrowed_by(instant.boottime);
  wall_.look({instant.anchor.ns, instant.done_ns}, instant.realtime, cause);
  note(instant.anchor);
  // The interval with the change is to have an end of its own.
  if (seen == Rate::Observation::kChange) history_.keep_newest();
}

// Does the driver say so itself?
bool CycleClock::is_in_doubt() {
  const Driver& driver = *driver_.load(std::memory_order_relaxed);
  const std::uint64_t doubts = driver.wide ? driver.wide->doubts() : 0;
  return std::exchange(doubts_, doubts) != doubts;
}

// A counter that counts down does so at every look.
void CycleClock::jump(const Instant& instant) {
  ++jumps_;
  strikes_ = rate_.is_measured() ? 0 : strikes_ + 1;
  if (strikes_ == kStrikesMax) return fall_back();
  begin_epoch_anew(instant);
}

void CycleClock::fall_back() {
  ++fallbacks_;
  adopt(kMonotonicDriver);
}

void CycleClock::begin_epoch_anew(const Instant& instant) {
  rate_.begin_again(instant.anchor);
  begin_epoch(instant);
}

void CycleClock::begin_epoch(const Instant& instant) {
  if (history_.newest()) {
    epoch_.store(epoch_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  boottime_ = instant.boottime;
  wall_.begin(instant.anchor.ns, instant.realtime);
  history_.keep_newest();
  note(instant.anchor);
}

// Keeps the anchor for later conversions, and for the timeline.
void CycleClock::note(Anchor anchor) {
  anchor.epoch = epoch_.load(std::memory_order_relaxed);
  anchor.error_ns =
      round_up(static_cast<double>(anchor.error_cycles) * rate_.ns_per_cycle()) + rate_.stood_ns();
  history_.add(anchor);
  const Driver& driver = *driver_.load(std::memory_order_relaxed);
  if (driver.wide) driver.wide->hold_against(anchor.cycles, anchor.ns);
  per_cycle_.store(rate_.per_cycle(), std::memory_order_relaxed);
  if (said_hz_ == 0 && rate_.measured_over_ns() >= kDriftSpan) said_hz_ = rate_.hz();
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
  const Trust trust = known.trusted ? known.trusted() : Trust::kYes;
  const Owned lock(lock_);
  if (trust == Trust::kNo && driver_.load() == &known) return fall_back();
  take_in(take(), cause);
}

void CycleClock::recover_in_child() {
  if (!lock_.take_from_the_gone()) return;
  const Owned lock(lock_);
  timeline_.recover();
  history_.clear();
  epoch_.fetch_add(1);
  const Driver* const driver = driver_.load();
  if (driver && !adopt(*driver)) adopt(kMonotonicDriver);
}

void CycleClock::set_spacing(std::int64_t ns) {
  const Owned lock(lock_);
  history_.set_spacing(ns);
}

// ---- times of day

CycleClock::Answer CycleClock::time_of(const CycleTimestamp& stamp) {
  if (stamp.epoch == 0 || mode() == Mode::kOff) return {};
  const Owned lock(lock_);
  // A stamp that was stored since the last anchor needs an anchor after it. Also, there may have
  // been a suspend, or a counter that the program provides may have stopped.
  if (mode_.load() == Mode::kOther || stamp.cycles > history_.newest()->cycles || line_is_over()) {
    take_in(take(), Wall::Cause::kDue);
  }
  return look_up(stamp);
}

CycleClock::Answer CycleClock::look_up(const CycleTimestamp& stamp) const {
  const std::uint64_t epoch = epoch_.load(std::memory_order_relaxed);
  if (stamp.epoch > epoch) return {};
  if (stamp.epoch != epoch) return {.why = TimeError::kOtherEpoch};
  const auto time = history_.time_of(stamp.cycles, epoch);
  const auto ahead = time ? wall_.at(time->ns) : std::nullopt;
  if (!ahead) return {.why = TimeError::kTooOld};
  return {.time = TimeOfDay{time->ns + ahead->ns,
                            static_cast<std::uint64_t>(time->error_ns + ahead->error_ns)}};
}

CycleClock::Status CycleClock::status() {
  CycleTimestamp now;
  store(now);
  const Answer answer = time_of(now);
  const Owned lock(lock_);
  const Driver* const driver = is_on() ? driver_.load() : nullptr;
  const std::size_t anchors = history_.size();
  return {
      .driver = driver,
      .rate_hz = anchors != 0 ? rate_.hz() : 0,
      .drift_ppm = said_hz_ != 0 ? (rate_.hz() / said_hz_ - 1) * 1e6 : 0,
      .epoch = anchors != 0 ? epoch_.load() : 0,
      .anchors = anchors,
      .anchors_max = history_.size_max(),
      .reach_ns = static_cast<std::uint64_t>(history_.reach_ns()),
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

}  // namespace tallyfs
