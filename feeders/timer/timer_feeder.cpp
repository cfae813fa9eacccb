#include "feeders/timer/timer_feeder.h"

#include <sched.h>

#include <cerrno>
#include <string>

namespace tally {
namespace {

// More than any kernel is built for.
constexpr std::size_t kCpusMax = 64 * 1024;

// 0 to a second in powers of two.
constexpr const char* kLateness =
    "type=array scale=log2 base_interval=1 range_min=0 range_max=1048576 on=1 "
    "units=microseconds/wakeups";
constexpr const char* kOverruns = "type=value mode=increments on=1 units=microseconds/periods";
constexpr const char* kLost = "type=value mode=increments on=1 units=samples/occurrences";

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

Result<TimerFeeder> TimerFeeder::start(const std::vector<unsigned>& cpus,
                                       std::chrono::nanoseconds period, Sender& sender) {
  const auto lost = sender.add_statistic("timer/occurrence_lost", kLost);
  if (!lost) return lost.error();
  TimerFeeder made(sender, lost.value());
  for (const unsigned cpu : cpus) {
    const std::string name = "_cpu" + std::to_string(cpu);
    const auto lateness = sender.add_statistic("timer/lateness" + name, kLateness);
    const auto overruns = sender.add_statistic("timer/overruns" + name, kOverruns);
    if (!lateness) return lateness.error();
    if (!overruns) return overruns.error();
    made.cpus_.push_back(
        {std::make_unique<Wakeups>(cpu, period), lateness.value(), overruns.value()});
  }
  return made;
}

void TimerFeeder::collect() {
  for (const Cpu& cpu : cpus_) send(cpu);
  samples_lost_ += sender_->take_dropped(lost_);
  if (samples_lost_ == 0 || sender_->full() || taken_.wakeups.empty()) return;
  const auto time = taken_.wakeups.back().time;
  sender_->add(lost_, {.x = 1, .y = samples_lost_, .time = time});
  samples_lost_ = 0;
}

void TimerFeeder::send(const Cpu& cpu) {
  cpu.wakeups->take(taken_);
  samples_lost_ += taken_.dropped;
  for (const Wakeup& wakeup : taken_.wakeups) {
    const std::int64_t late_us = to_us(wakeup.lateness);
    sender_->add(cpu.lateness, {.x = late_us, .time = wakeup.time});
    if (wakeup.periods_skipped == 0) continue;
    sender_->add(cpu.overruns, {.x = late_us, .y = wakeup.periods_skipped, .time = wakeup.time});
  }
  samples_lost_ += sender_->take_dropped(cpu.lateness) + sender_->take_dropped(cpu.overruns);
}

}  // namespace tally
