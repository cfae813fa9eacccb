#include "feeders/clock/program/watch.h"

#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "tally/clock.h"

namespace tallyfs {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMonotonicMax = 1'000;
// Two readings that are farther apart were interrupted, and tell nothing.
constexpr std::int64_t kApartMax = 1'000;
constexpr useconds_t kPauseUs = 1'000;

std::int64_t now_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * kSecond + now.tv_nsec;
}

class Watch {
 public:
  void look() {
    look_at_monotonic();
    look_at_realtime();
    look_at_microsecond();
  }
  Watched found() const {
    const std::uint64_t looks = same_ + other_;
    return {.is_good = outside_.max() <= kMonotonicMax && steps_back_ == 0,
            .stamp_p99_ns = stamps_.quantile(0.99),
            .same_microsecond_percent =
                looks == 0 ? 0 : 100.0 * static_cast<double>(same_) / static_cast<double>(looks)};
  }
  std::int64_t outside_max() const { return outside_.max(); }
  void print() const {
    const auto count = static_cast<unsigned long long>(outside_.count());
    std::printf("%-20s %llu\n", "looks", count);
    std::printf("%-20s %lld\n", "sched_clock_off_ns", static_cast<long long>(outside_.max()));
    std::printf("%-20s %llu\n", "steps_back", static_cast<unsigned long long>(steps_back_));
    std::printf("%-20s p50 %lld, p99 %lld, max %lld\n", "timestamp_off_ns",
                static_cast<long long>(stamps_.quantile(0.5)),
                static_cast<long long>(stamps_.quantile(0.99)),
                static_cast<long long>(stamps_.max()));
    std::printf("%-20s %.2f%%\n", "same_microsecond", found().same_microsecond_percent);
  }

 private:
  void look_at_monotonic() {
    const std::int64_t before = now_ns(CLOCK_MONOTONIC);
    const auto ns = static_cast<std::int64_t>(sched_clock());
    const std::int64_t after = now_ns(CLOCK_MONOTONIC);
    outside_.add(std::max({std::int64_t{0}, before - ns, ns - after}));
    if (ns < last_) ++steps_back_;
    last_ = ns;
  }

  // Where CLOCK_REALTIME was read, half-way between two stamps, what do these say?
  void look_at_realtime() {
    fast_timestamp_t before;
    fast_timestamp_t after;
    store_fast_timestamp(&before);
    const std::int64_t said = now_ns(CLOCK_REALTIME);
    store_fast_timestamp(&after);
    std::int64_t first = 0;
    std::int64_t last = 0;
    if (!convert(before, first) || !convert(after, last) || last - first > kApartMax) return;
    stamps_.add(std::abs(first + (last - first) / 2 - said));
  }

  // Compares with gettimeofday().
  void look_at_microsecond() {
    fast_timestamp_t before;
    fast_timestamp_t after;
    timeval said{};
    store_fast_timestamp(&before);
    ::gettimeofday(&said, nullptr);
    store_fast_timestamp(&after);
    std::int64_t first = 0;
    std::int64_t last = 0;
    if (!convert(before, first) || !convert(after, last) || last - first > kApartMax) return;
    const std::int64_t us = (first + (last - first) / 2) / 1000;
    ++(us == std::int64_t{said.tv_sec} * 1'000'000 + said.tv_usec ? same_ : other_);
  }

  static bool convert(const fast_timestamp_t& stamp, std::int64_t& ns) {
    timespec time{};
    if (fast_timestamp_to_timespec(&stamp, &time, nullptr) != 0) return false;
    ns = std::int64_t{time.tv_sec} * kSecond + time.tv_nsec;
    return true;
  }

  Distances outside_;
  Distances stamps_;
  std::uint64_t same_ = 0;
  std::uint64_t other_ = 0;
  std::uint64_t steps_back_ = 0;
  std::int64_t last_ = 0;
};

volatile std::sig_atomic_t g_interrupted = 0;

// While it is there, SIGINT and SIGTERM end the watch, not the program; what is ignored stays so.
class Interruptible {
 public:
  Interruptible() {
    g_interrupted = 0;
    struct sigaction action {};
    action.sa_handler = [](int) { g_interrupted = 1; };
    ::sigaction(SIGINT, &action, &before_int_);
    if (before_int_.sa_handler == SIG_IGN) ::sigaction(SIGINT, &before_int_, nullptr);
    ::sigaction(SIGTERM, &action, &before_term_);
  }
  ~Interruptible() {
    ::sigaction(SIGINT, &before_int_, nullptr);
    ::sigaction(SIGTERM, &before_term_, nullptr);
  }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  struct sigaction before_int_ {};
  struct sigaction before_term_ {};
};

void show_progress(std::int64_t passed, unsigned seconds, const Watch& watch) {
  tally_clock_status status{};
  tally_clock_get_status(&status, sizeof status);
  std::fprintf(stderr, "%lld of %u s: drift %+.3f ppm, sched_clock off by %lld ns at most\n",
               static_cast<long long>(passed / kSecond), seconds, status.drift_ppm,
               static_cast<long long>(watch.outside_max()));
}

}  // namespace

void Distances::add(std::int64_t ns) {
  ++count_;
  max_ = std::max(max_, ns);
  ++by_ns_[std::min(static_cast<std::size_t>(ns), by_ns_.size() - 1)];
}

std::int64_t Distances::quantile(double share) const {
  std::uint64_t below = 0;
  for (std::size_t ns = 0; ns + 1 < by_ns_.size(); ++ns) {
    below += by_ns_[ns];
    if (static_cast<double>(below) >= share * static_cast<double>(count_)) {
      return static_cast<std::int64_t>(ns);
    }
  }
  return max_;
}

Watched watch(unsigned seconds, Progress progress) {
  Watch watch;
  const Interruptible until_interrupted;
  const std::int64_t begun = now_ns(CLOCK_MONOTONIC);
  std::int64_t shown = begun;
  const bool has_thread = tally_clock_start_upkeep(1000) == 0;
  for (std::int64_t now = begun; now - begun < seconds * kSecond && g_interrupted == 0;
       now = now_ns(CLOCK_MONOTONIC)) {
    for (int i = 0; i < 1000; ++i) watch.look();
    ::usleep(kPauseUs);
    if (now - shown < kSecond) continue;
    shown = now;
    if (!has_thread) tally_clock_upkeep();
    if (progress == Progress::kShown) show_progress(now - begun, seconds, watch);
  }
  if (has_thread) tally_clock_stop_upkeep();
  watch.print();
  return watch.found();
}

}  // namespace tallyfs
