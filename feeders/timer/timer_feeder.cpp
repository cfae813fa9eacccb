#include "feeders/timer/timer_feeder.h"

#include <sched.h>

#include <cerrno>
#include <string>
#include <utility>

#include "program/feeder/latency_views.h"

namespace tallyfs {
namespace {

// More than any kernel is built for.
constexpr std::size_t kCpusMax = 64 * 1024;

// 0 to a second in powers of two.
const tally::Definition kLateness{.units = "microseconds/wakeups",
                                  .type = tally::Array{.range = {0, 1 << 20}},
                                  .begin = tally::Begin::kOn};
const tally::Definition kOverruns{.units = "microseconds/periods", .begin = tally::Begin::kOn};
const tally::Definition kLost{.units = "samples/occurrences", .begin = tally::Begin::kOn};

// Rounded up, so that `<=4` holds what was at most 4 us late.
std::int64_t to_us(std::chrono::nanoseconds duration) {
  return std::chrono::ceil<std::chrono::microseconds>(duration).count();
}

}  // namespace

Result<std::vector<unsigned>> allowed_cpus() {
  std::vector<unsigned> cpus;
  for (std::size_t count = 1024; count <= kCpusMax; count *= 2) {
    const std::size_t bytes = CPU_ALLOC_SIZE(count);
    cpu_set_t* const set = CPU_ALLOC(count);
    const bool done = ::sched_getaffinity(0, bytes, set) == 0;
    for (unsigned cpu = 0; done && cpu < count; ++cpu) {
      if (CPU_ISSET_S(cpu, bytes, set)) cpus.push_back(cpu);
    }
    CPU_FREE(set);
    if (done) return cpus;
  }
  return Error{ErrorCode::kInvalid, "cannot tell which CPUs may be used"};
}

TimerFeeder::TimerFeeder(const std::vector<unsigned>& cpus, std::chrono::nanoseconds period)
    : lost_(interface_, "occurrence_lost", kLost) {
  for (const unsigned cpu : cpus) {
    // Labels: metrics of all CPUs are one family, which Prometheus can add up.
    const std::string labels = "{cpu:" + std::to_string(cpu) + "}";
    tally::Statistic lateness(interface_, "lateness" + labels, kLateness);
    auto views = create_latency_views(lateness, "lateness", labels);
    cpus_.push_back({std::make_unique<Wakeups>(cpu, period), std::move(lateness), std::move(views),
                     tally::Statistic(interface_, "overruns" + labels, kOverruns)});
  }
}

void TimerFeeder::collect() {
  for (Cpu& cpu : cpus_) add(cpu);
  report_lost();
}

void TimerFeeder::add(Cpu& cpu) {
  cpu.wakeups->take(taken_);
  samples_lost_ += taken_.dropped;
  for (const Wakeup& wakeup : taken_.wakeups) {
    const std::int64_t late_us = to_us(wakeup.lateness);
    const std::chrono::steady_clock::time_point time(wakeup.time);
    cpu.lateness.add_at(late_us, 1, time);
    if (wakeup.periods_skipped != 0) cpu.overruns.add_at(late_us, wakeup.periods_skipped, time);
  }
}

void TimerFeeder::report_lost() {
  const std::uint64_t dropped = this->dropped();
  samples_lost_ += dropped - std::exchange(dropped_, dropped);
  if (samples_lost_ == 0) return;
  const std::uint64_t before = lost_.dropped();
  lost_.add(1, samples_lost_);
  if (lost_.dropped() == before) samples_lost_ = 0;
}

std::uint64_t TimerFeeder::dropped() const {
  std::uint64_t dropped = 0;
  for (const Cpu& cpu : cpus_) dropped += cpu.lateness.dropped() + cpu.overruns.dropped();
  return dropped;
}

}  // namespace tallyfs
