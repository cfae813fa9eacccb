// The timer feeder: a sleeper per CPU that this process may use. What they gather becomes the
// statistics lateness{cpu:N} and overruns{cpu:N} of the interface `timer`. Confined to one thread.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "core/base/result.h"
#include "feeders/timer/wakeups.h"
#include "tally/statistic.hpp"

namespace tallyfs {

// The CPUs on which this process may run. kInvalid: the kernel does not say.
Result<std::vector<unsigned>> allowed_cpus();

class TimerFeeder {
 public:
  // Starts the sleepers.
  TimerFeeder(const std::vector<unsigned>& cpus, std::chrono::nanoseconds period);

  // Adds what was gathered since the last time.
  void collect();

 private:
  struct Cpu {
    std::unique_ptr<Wakeups> wakeups;
    tally::Statistic lateness;
    std::vector<tally::Statistic> lateness_views;
    tally::Statistic overruns;
  };

  void add(Cpu& cpu);
  void report_lost();
  std::uint64_t dropped() const;

  tally::Interface interface_{"timer", tally::Lifetime::kForGood, tally::Units::kAny,
                              tally::Feed::kOwner};
  tally::Statistic lost_;
  std::vector<Cpu> cpus_;
  Wakeups::Taken taken_;            // kept for its memory
  std::uint64_t samples_lost_ = 0;  // not added to lost_ yet
  std::uint64_t dropped_ = 0;       // by the library, so far
};

}  // namespace tallyfs
