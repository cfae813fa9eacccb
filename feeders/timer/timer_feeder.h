// The timer feeder: a sleeper per CPU that we may use, and what they gather as the statistics
// lateness_cpuN and overruns_cpuN of the interface `timer`. Confined to one thread.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "core/base/result.h"
#include "feeders/client/sender.h"
#include "feeders/timer/wakeups.h"

namespace tally {

// The CPUs on which this process may run. kInvalid: the kernel does not say.
Result<std::vector<unsigned>> allowed_cpus();

class TimerFeeder {
 public:
  // Starts the sleepers. The sender outlives the feeder. kNoSpace: too many CPUs for it.
  static Result<TimerFeeder> start(const std::vector<unsigned>& cpus,
                                   std::chrono::nanoseconds period, Sender& sender);

  // Hands the sender what was gathered since the last time.
  void collect();

 private:
  struct Cpu {
    std::unique_ptr<Wakeups> wakeups;
    Sender::Handle lateness;
    Sender::Handle overruns;
  };

  TimerFeeder(Sender& sender, Sender::Handle lost) : sender_(&sender), lost_(lost) {}
  void send(const Cpu& cpu);

  Sender* sender_;
  Sender::Handle lost_;
  std::vector<Cpu> cpus_;
  Wakeups::Taken taken_;  // kept for its memory
  std::uint64_t samples_lost_ = 0;
};

}  // namespace tally
