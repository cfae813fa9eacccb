// How long the commands of a sender have taken, between two calls of take(): no longer than the
// thread has worked since the first of them. While the machine has no CPU for the daemon, a command
// lasts without a fault of its sender. Confined to the thread that has the intake's turn.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "core/base/clock.h"
#include "feeders/intake/fair_share/accounts.h"

namespace tallyfs {

class CommandCosts {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  explicit CommandCosts(const Clock& clock) : clock_(clock) {}

  // Before each command. CPU time is a system call, so that it is read once for all of them.
  void begin() {
    if (!worked_) worked_ = clock_.cpu_time();
  }
  void add(Nanoseconds took) {
    if (took >= Accounts::kCostly) took_ += took;
  }
  // After each write, for the next server, of what commands have changed.
  void add_write(Nanoseconds took) {
    if (took >= Accounts::kCostlyWrite) took_ += took;
  }
  Nanoseconds take() {
    const auto took = std::exchange(took_, {});
    const auto worked = std::exchange(worked_, {});
    return took.count() == 0 ? took : std::min(took, clock_.cpu_time() - worked.value());
  }

 private:
  const Clock& clock_;
  Nanoseconds took_{0};  // of those that took at least so long each
  std::optional<Nanoseconds> worked_;
};

}  // namespace tallyfs
