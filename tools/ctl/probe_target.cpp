#include "tools/ctl/probe_target.h"

#include <algorithm>
#include <climits>

#include "core/base/text.h"
#include "tools/ctl/commands.h"
#include "tools/tree/timed_file.h"

namespace tallyfs {
namespace {

// A filter has at most 1,024 terms.
constexpr std::size_t kThreadsMax = 1'000;

std::vector<std::string> threads(std::uint64_t pid) {
  auto names = list_in_time("/proc/" + std::to_string(pid) + "/task");
  if (!names) return {};
  std::ranges::sort(names.value());
  return std::move(names.value());
}

Error harmful(std::string reason) { return {ErrorCode::kNotPermitted, std::move(reason)}; }

}  // namespace

void add_probe_options(CommandLine& line, ProbeOptions& probe, Options& options) {
  line.add({.names = "--pid",
            .variable = &probe.pid,
            .value = "PID",
            .text = "only of this process, and of the threads that it has now",
            .check = InRange{1, INT_MAX},
            .shown = Option::Default::kHidden});
  line.add({.names = "--for",
            .variable = &probe.span,
            .value = "TIME",
            .text = "end after so long: 10s, 5m; without it, Ctrl-C ends it",
            .check = FindFault(fault_of_period),
            .shown = Option::Default::kHidden});
  add_every(line, options);
  line.add({.names = "--top",
            .variable = &options.top,
            .value = "N",
            .text = "the first N functions (30)",
            .check = InRange{1, 1'000'000},
            .shown = Option::Default::kHidden});
  line.add_flag("-a,--all", options.all, "all functions, also those without a call");
  line.add_flag("--stay", probe.stays, "leave the probes there at the end");
}

Result<ProbeTarget> find_target(const std::vector<std::string>& words, ProbeOptions& probe,
                                Returns returns) {
  const ProbeInterrupts::Unblocked unblocked(probe.interrupts);
  auto program = find_program(words.front(), static_cast<pid_t>(probe.pid));
  if (!program) return program.error();
  const auto of_word = static_cast<std::uint64_t>(program.value().pid);
  if (of_word != 0 && probe.pid != 0 && probe.pid != of_word) {
    return invalid("two processes are named: " + words.front() + " and --pid " +
                   std::to_string(probe.pid));
  }
  if (probe.pid == 0) probe.pid = of_word;
  auto list = list_of(program.value().path);
  if (!list) return list.error();
  if (returns == Returns::kProbed && probe.pid != 0 && !probe.is_forced) {
    list.value().may_throw |= process_may_throw(static_cast<pid_t>(probe.pid));
  }
  auto functions = select_functions(list.value(), {words.begin() + 1, words.end()});
  if (!functions) return functions.error();
  ProbeTarget target{std::move(program.value()), std::move(functions.value())};
  if (returns == Returns::kNone) return target;
  if (const auto kept = keep_safe_returns(target, list.value(), probe.is_forced); !kept) {
    return kept.error();
  }
  return target;
}

Result<void> keep_safe_returns(ProbeTarget& target, const tracing::ProgramList& list,
                               bool is_forced) {
  if (list.is_go) return harmful("probes of returns make Go programs crash: tallyctl probe count");
  if (list.may_throw && !is_forced) {
    return harmful(target.program.path +
                   " has exceptions: one that passes a function whose return is probed ends the "
                   "program. Without returns: tallyctl probe count. If none passes: --force");
  }
  std::erase_if(target.functions, [&](const tracing::ListedFunction& each) {
    const bool is_unsafe = tracing::is_return_unsafe(each.symbol);
    if (is_unsafe) target.unsafe.push_back(each.name());
    return is_unsafe;
  });
  if (!target.functions.empty()) return {};
  return harmful("a probe of its return would make the program crash: tallyctl probe count");
}

Result<ThreadFilter> filter_of(std::uint64_t pid) {
  ThreadFilter filter;
  if (pid == 0) return filter;
  filter.ids = threads(pid);
  if (filter.ids.empty()) {
    return Error{ErrorCode::kNotFound, "no process " + std::to_string(pid)};
  }
  if (filter.ids.size() > kThreadsMax) {
    return invalid("process " + std::to_string(pid) + " has more than 1000 threads: omit --pid");
  }
  for (const std::string& each : filter.ids) {
    filter.terms.append(filter.terms.empty() ? "" : " || ").append("common_pid == ").append(each);
  }
  return filter;
}

void note_new_threads(const ProbeOptions& probe, const ThreadFilter& filter) {
  const auto now = probe.pid == 0 ? std::vector<std::string>() : threads(probe.pid);
  if (std::ranges::includes(filter.ids, now)) return;
  (void)complain(kDone, "threads have begun meanwhile, and do not count: start again");
}

std::size_t rows_shown(const Options& options, std::size_t rows) {
  constexpr std::size_t kRowsShown = 30;
  const std::size_t most = options.all ? rows : kRowsShown;
  return std::min(rows, options.top != 0 ? static_cast<std::size_t>(options.top) : most);
}

void put_rows_left_out(view::Grid& grid, std::size_t rows, std::size_t shown) {
  if (rows <= shown) return;
  grid.put_line(std::to_string(rows - shown) + " more: --top N, or -a", {view::Tone::kDim});
}

int end_run(TemporaryProbes& probes, const ProbeOptions& probe) {
  if (probe.stays) probes.stay();
  const auto ended = probes.end();
  return ended ? kDone : complain(kRefused, ended.error().reason);
}

const char* word_of(tracing::HitCost cost) {
  switch (cost) {
    case tracing::HitCost::kEmulated:
      return "cheap";
    case tracing::HitCost::kStepped:
      return "dear";
    case tracing::HitCost::kUnknown:
      break;
  }
  return "?";
}

std::string line_of(char kind, const std::string& event, const std::string& path,
                    std::uint64_t offset, std::size_t number, const std::string& more) {
  std::string line(1, kind);
  line.append(":").append(event).append(" ").append(path).append(":");
  append_hex(line, offset);
  return line.append(" f=\\").append(std::to_string(number)).append(":u32").append(more) + "\n";
}

ProbePace::ProbePace(const Options& options, ProbeOptions& probe)
    : interrupts_(probe.interrupts),
      has_intervals_(!options.every.empty() || options.count != 0),
      count_(options.count),
      period_(options.period()),
      span_(probe.span.empty() ? Clock::duration(0) : parse_period(probe.span)) {}

void ProbePace::begin(const ProbeTarget& target) {
  (void)complain(0, std::to_string(target.functions.size()) + " functions of " +
                        target.program.path + " are probed" +
                        (span_.count() == 0 && count_ == 0 ? "; Ctrl-C ends" : ""));
  const auto now = Clock::now();
  next_ = now + period_;
  if (span_.count() != 0) end_ = now + span_;
}

std::optional<ProbePace::Step> ProbePace::next() {
  if (has_ended_) return std::nullopt;
  const bool is_counted_out = has_intervals_ && count_ != 0 && printed_ == count_;
  while (!is_counted_out) {
    const auto now = Clock::now();
    if (end_ && now >= *end_) break;
    if (has_intervals_ && now >= next_) {
      next_ = std::max(next_ + period_, now);
      printed_ += 1;
      return Step::kInterval;
    }
    auto until = has_intervals_ ? next_ : now + std::chrono::hours(1);
    if (end_) until = std::min(until, *end_);
    if (interrupts_.wait(until - now)) break;
  }
  has_ended_ = true;
  return is_counted_out ? Step::kEnd : Step::kLast;
}

}  // namespace tallyfs
