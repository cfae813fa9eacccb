// Steps that are common to the daemon's side processes and to a daemon that goes into the
// background. A side process is forked by the daemon to look after it. Called before there are
// threads, or in a process with only one.
#pragma once

#include <array>
#include <csignal>

namespace tallyfs {

// Signals to end the daemon reach its process group, or its control group, as a whole.
inline constexpr std::array kEndingSignals = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
void ignore_ending_signals();

// Leaves the directory and the standard streams, so that a process that reads the daemon's output
// sees its end when the daemon ends.
enum class StandardError { kGoes, kStays };
void let_go(StandardError error = StandardError::kGoes);

}  // namespace tallyfs
