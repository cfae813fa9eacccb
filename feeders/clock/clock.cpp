// The functions of clock.h: one CycleClock for the process, the drivers that it has registered, and
// the thread that it has asked for.
#include "tally/clock.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <string_view>

#include "feeders/clock/cycle_clock.h"
#include "feeders/clock/driver.h"
#include "feeders/clock/reference.h"
#include "feeders/clock/upkeep_thread.h"
#include "feeders/clock/wide_counter.h"

std::uint32_t tally_clock_counter = 0;

namespace tallyfs {
namespace {

constexpr std::size_t kAnchorsMax = 4096;
constexpr std::size_t kDriversMax = 8;
constexpr std::size_t kNameBytesMax = 31;
constexpr std::uint64_t kRateMax = 100'000'000'000;
constexpr std::int64_t kSpacing = 900'000'000;

constinit std::array<Anchor, kAnchorsMax> g_room{};
constinit SystemReference g_reference;
constinit CycleClock g_clock(g_reference, &driver_by_environment, g_room, &tally_clock_counter);

// ---- registered drivers; they stay

struct Registered {
  std::array<char, kNameBytesMax + 1> name{};
  WideCounter wide;
  Driver driver;
};

constinit OwnedLock g_registering{LockRank::kClockDrivers};
constinit std::array<Registered, kDriversMax> g_registered{};
constinit std::size_t g_registered_size GUARDED_BY(g_registering) = 0;

const Driver* find_registered(std::string_view name) REQUIRES(g_registering) {
  for (std::size_t i = 0; i < g_registered_size; ++i) {
    if (name == g_registered[i].name.data()) return &g_registered[i].driver;
  }
  return nullptr;
}

bool is_builtin(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames = {"auto", "off", "tsc", "cntvct", "monotonic"};
  return std::ranges::find(kNames, name) != kNames.end();
}

bool is_valid(const tally_clock_driver& driver) {
  if (driver.size != sizeof driver || !driver.name || !driver.read) return false;
  const std::size_t length = ::strnlen(driver.name, kNameBytesMax + 1);
  if (length == 0 || length > kNameBytesMax) return false;
  if (driver.width_bits < 8 || driver.width_bits > 64 || driver.rate_hz > kRateMax) return false;
  return driver.rate_hz != 0 || driver.width_bits == 64;
}

int add_driver(const tally_clock_driver& given) REQUIRES(g_registering) {
  if (is_builtin(given.name) || find_registered(given.name)) return -EEXIST;
  if (g_registered_size == kDriversMax) return -ENOSPC;
  Registered& made = g_registered[g_registered_size];
  std::strcpy(made.name.data(), given.name);
  made.driver = {.kind = Driver::Kind::kOther,
                 .name = made.name.data(),
                 .width_bits = given.width_bits,
                 .rate_hz = given.rate_hz,
                 .read = given.read,
                 .context = given.context};
  if (given.width_bits != 64) {
    made.wide.begin(made.driver, g_reference);
    made.driver.wide = &made.wide;
  }
  ++g_registered_size;
  return 0;
}

int select(std::string_view name) {
  const auto take = [](const Driver& driver) { return g_clock.select(driver) ? 0 : -ENOTSUP; };
  if (name == "auto") return take(*best_driver());
  if (name == kMonotonicDriver.name) return take(kMonotonicDriver);
  if (name == kCounterDriver.name) {
    return best_driver() == &kCounterDriver ? take(kCounterDriver) : -ENOTSUP;
  }
  const Owned lock(g_registering);
  const Driver* const driver = find_registered(name);
  if (!driver) return -ENOENT;
  return take(*driver);
}

// ---- the thread, and fork()

constinit OwnedLock g_starting{LockRank::kClockUpkeep};
// Never destroyed: the thread may be at work while a program ends.
constinit struct Keeping {
  union {
    UpkeepThread thread;
  };
  constexpr Keeping() : thread() {}
  ~Keeping() {}
} g_keeping;

// A handler of a signal that has interrupted one of our own calls forks without the locks: what
// this thread holds it goes on holding in the child, and what others hold is made anew there.
[[gnu::tls_model("initial-exec")]] thread_local constinit bool t_forks_within = false;

void before_fork() NO_THREAD_SAFETY_ANALYSIS {
  t_forks_within = g_starting.is_mine() || g_registering.is_mine() || g_clock.lock().is_mine();
  if (t_forks_within) return;
  g_starting.lock();
  g_registering.lock();
  g_clock.lock().lock();
}
void after_fork_in_parent() NO_THREAD_SAFETY_ANALYSIS {
  if (t_forks_within) return;
  g_clock.lock().unlock();
  g_registering.unlock();
  g_starting.unlock();
}
void after_fork_in_child() NO_THREAD_SAFETY_ANALYSIS {
  after_fork_in_parent();
  g_keeping.thread.forget();
  if (t_forks_within) {
    g_starting.take_from_the_gone();
    g_registering.take_from_the_gone();
    g_clock.recover_in_child();
  }
  // The thread's own is not needed without it; under the lock, which an interrupted call may have.
  if (!g_clock.lock().is_mine()) g_clock.set_spacing(kSpacing);
}

// Before any other thread can be within one of the locks for long.
[[gnu::constructor]] void handle_forks() {
  ::pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child);
}

// ---- conversions

CycleTimestamp from(const fast_timestamp& stamp) { return {stamp.cycles, stamp.epoch}; }

int error_of(CycleClock::TimeError why) {
  switch (why) {
    case CycleClock::TimeError::kEmpty:
      return -EINVAL;
    case CycleClock::TimeError::kTooOld:
      return -ERANGE;
    case CycleClock::TimeError::kOtherEpoch:
      return -ESTALE;
  }
  return -EINVAL;
}

// put: gets the seconds, and the nanoseconds within.
template <typename Put>
int convert(const fast_timestamp& stamp, std::uint64_t* error_ns, Put&& put) {
  const CycleClock::Answer answer = g_clock.time_of(from(stamp));
  if (!answer.time) return error_of(answer.why);
  const std::int64_t ns = answer.time->ns;
  const std::int64_t rest = (ns % kSecond + kSecond) % kSecond;  // of times before 1970, too
  put((ns - rest) / kSecond, rest);
  if (error_ns) *error_ns = answer.time->error_ns;
  return 0;
}

}  // namespace
}  // namespace tallyfs

using namespace tallyfs;

cycles_t tally_clock_cycles() { return g_clock.cycles(); }

uint64_t cycles_to_nsec(cycles_t cycles) { return g_clock.to_ns(cycles); }

uint32_t cycles_to_usec(cycles_t cycles) {
  return static_cast<uint32_t>(std::min<uint64_t>(g_clock.to_ns(cycles) / 1000, UINT32_MAX));
}

uint64_t sched_clock() { return g_clock.now_ns(); }

int set_cyc2ns_scale(unsigned long cpu_mhz) {
  if (cpu_mhz == 0 || cpu_mhz > kRateMax / 1'000'000) return -EINVAL;
  return g_clock.set_rate(std::uint64_t{cpu_mhz} * 1'000'000) ? 0 : -EBUSY;
}

void store_fast_timestamp(fast_timestamp_t* stamp) {
  CycleTimestamp now;
  g_clock.store(now);
  *stamp = {now.cycles, now.epoch};
}

int fast_timestamp_to_timeval(const fast_timestamp_t* stamp, timeval* result, uint64_t* error_ns) {
  return convert(*stamp, error_ns, [&](std::int64_t seconds, std::int64_t ns) {
    *result = {static_cast<time_t>(seconds), static_cast<suseconds_t>(ns / 1000)};
  });
}

int fast_timestamp_to_timespec(const fast_timestamp_t* stamp, timespec* result,
                               uint64_t* error_ns) {
  return convert(*stamp, error_ns, [&](std::int64_t seconds, std::int64_t ns) {
    *result = {static_cast<time_t>(seconds), static_cast<long>(ns)};
  });
}

void tally_clock_upkeep() { g_clock.upkeep(Wall::Cause::kDue); }

int tally_clock_start_upkeep(unsigned period_ms) {
  if (period_ms < 10 || period_ms > 60'000) return -EINVAL;
  const int before = errno;
  const Owned lock(g_starting);
  const std::chrono::milliseconds period(period_ms);
  const int error = g_keeping.thread.start(g_clock, period);
  if (error == 0) g_clock.set_spacing(std::chrono::nanoseconds(period).count() / 10 * 9);
  errno = before;
  return error;
}

void tally_clock_stop_upkeep() {
  const Owned lock(g_starting);
  g_keeping.thread.stop();
  g_clock.set_spacing(kSpacing);
}

int tally_clock_register(const tally_clock_driver* driver) {
  if (!driver || !is_valid(*driver)) return -EINVAL;
  const Owned lock(g_registering);
  return add_driver(*driver);
}

int tally_clock_select(const char* name) { return select(name ? name : ""); }

void tally_clock_set(tally_clock_switch on) {
  if (on == TALLY_CLOCK_ON) {
    g_clock.switch_on(*best_driver());
  } else {
    g_clock.switch_off();
  }
}

int tally_clock_get_status(tally_clock_status* status, size_t size) {
  if (!status || size != sizeof *status) return -EINVAL;
  const CycleClock::Status now = g_clock.status();
  *status = {.width_bits = now.driver ? now.driver->width_bits : 0,
             .has_thread = g_keeping.thread.runs() ? 1u : 0u,
             .rate_hz = now.rate_hz,
             .drift_ppm = now.drift_ppm,
             .epoch = now.epoch,
             .anchors = now.anchors,
             .anchors_max = now.anchors_max,
             .reach_ns = now.reach_ns,
             .steps = now.steps,
             .last_step_ns = now.last_step_ns,
             .leap_seconds = now.leap_seconds,
             .suspends = now.suspends,
             .gaps = now.gaps,
             .jumps = now.jumps,
             .frequency_changes = now.frequency_changes,
             .fallbacks = now.fallbacks,
             .error_ns = now.error_ns};
  std::strcpy(status->driver, now.driver ? now.driver->name : "off");
  return 0;
}
