// What `tallyctl probe count` and `latency` share: which functions of which program they probe, of
// which process, and for how long.
#pragma once

#include <unistd.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "program/command_line.h"
#include "tools/ctl/probe_interrupts.h"
#include "tools/ctl/probed_program.h"
#include "tools/ctl/session.h"
#include "tools/ctl/temporary_probes.h"

namespace tallyfs {

struct ProbeOptions {
  ProbeInterrupts interrupts;  // before the first thread
  std::uint64_t pid = 0;
  std::string span;  // --for
  bool stays = false;
  bool is_forced = false;
};

struct ProbeTarget {
  ProbedProgram program;
  std::vector<tracing::ListedFunction> functions;
  std::vector<std::string> unsafe = {};  // functions left out, whose returns cannot be probed
};

// --pid, --for, --every, --count, --stay, --top, --all
void add_probe_options(CommandLine& line, ProbeOptions& probe, Options& options);
// words: PROGRAM and patterns of functions. Of a PID its process alone is meant. Errors are those
// of probed_program.h; with kProbed also those of keep_safe_returns().
enum class Returns { kNone, kProbed };
Result<ProbeTarget> find_target(const std::vector<std::string>& words, ProbeOptions& probe,
                                Returns returns);
// Leaves out functions whose returns cannot be probed. kNotPermitted: the program would be harmed,
// or none is left. is_forced: also where exceptions may pass.
Result<void> keep_safe_returns(ProbeTarget& target, const tracing::ProgramList& list,
                               bool is_forced);
// How many of so many functions a table has.
std::size_t rows_shown(const Options& options, std::size_t rows);
// A line for the rows that a table leaves out, if there are any.
void put_rows_left_out(view::Grid& grid, std::size_t rows, std::size_t shown);
// The end of a run: the probes go, or stay where that was asked for. Returns the exit status.
int end_run(TemporaryProbes& probes, const ProbeOptions& probe);
// "cheap", "dear" or "?"
const char* word_of(tracing::HitCost cost);

// The threads of a process, as a filter names them.
struct ThreadFilter {
  std::string terms = {};              // `common_pid == 1 || common_pid == 2`; empty: no process
  std::vector<std::string> ids = {};   // sorted
};
Result<ThreadFilter> filter_of(std::uint64_t pid);
// Complains of threads that have begun since then.
void note_new_threads(const ProbeOptions& probe, const ThreadFilter& filter);

// `p:GROUP/EVENT PATH:OFFSET f=\NUMBER:u32`, and what follows, for the NUMBERth function.
std::string line_of(char kind, const std::string& event, const std::string& path,
                    std::uint64_t offset, std::size_t number, const std::string& more = {});

// When tables are printed: each --every, and at the end one of what came since the last one. With
// --count there are so many.
class ProbePace {
 public:
  ProbePace(const Options& options, ProbeOptions& probe);

  // The functions are probed, which it reports on stderr, and the time of --for begins.
  void begin(const ProbeTarget& target);

  // kLast is the end with a table, kEnd the end without one.
  enum class Step { kInterval, kLast, kEnd };
  // Waits for the next table, or for the end. nullopt: it was there.
  std::optional<Step> next();

 private:
  using Clock = std::chrono::steady_clock;

  ProbeInterrupts& interrupts_;
  const bool has_intervals_;
  const std::uint64_t count_;
  const Clock::duration period_;
  const Clock::duration span_;  // 0: until it is interrupted
  std::optional<Clock::time_point> end_;
  Clock::time_point next_;
  std::uint64_t printed_ = 0;
  bool has_ended_ = false;
};

}  // namespace tallyfs
