// What a process does that the daemon forks to look after it, and a daemon that goes into the
// background. Before there are threads, or by who has one only.
#pragma once

#include <array>
#include <csignal>

namespace tallyfs {

// Those that end the daemon reach its process group, or its control group, as a whole.
inline constexpr std::array kEndingSignals = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
void ignore_ending_signals();

// Leaves the directory and the standard streams to others: whoever waits for the end of the
// daemon's output waits for nobody else.
enum class StandardError { kGoes, kStays };
void let_go(StandardError error = StandardError::kGoes);

}  // namespace tallyfs
