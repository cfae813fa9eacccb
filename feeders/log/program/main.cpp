// tally-feed-log: what programs write into their logs, as samples. Needs no privileges but to read
// the logs.
#include <iostream>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "core/base/counted.h"
#include "core/base/text.h"
#include "feeders/log/program/check_lines.h"
#include "feeders/log/program/options.h"
#include "feeders/log/service.h"
#include "program/feeder/program.h"
#include "program/feeder/stop_signal.h"
#include "program/log.h"

namespace tallyfs::logs {
namespace {

int refuse(const Options& options, const Error& error) {
  std::cerr << options.name << ": " << to_text(error) << '\n';
  return kUsageStatus;
}

void print_counts(const Service& service) {
  const LineCounts& lines = service.lines();
  std::uint64_t refused = 0;
  for (const std::uint64_t each : lines.refused) refused += each;
  std::cout << counted(std::to_string(lines.lines), "line") << ", " << lines.matched
            << " matched, " << lines.unmatched << " unmatched; "
            << counted(std::to_string(lines.samples), "sample");
  const auto print = [](std::uint64_t count, const char* what) {
    if (count != 0) std::cout << ", " << count << ' ' << what;
  };
  print(lines.absent, "absent");
  print(refused, "refused");
  print(lines.rounded, "rounded");
  print(lines.undated, "undated");
  print(lines.overflowed, "overflowed");
  print(service.files().cut, service.files().cut == 1 ? "line cut" : "lines cut");
  print(Progress::uncounted().dropped, "dropped");
  print(Progress::uncounted().lost, "lost");
  std::cout << '\n';
}

// Each of them was said before, with its reason.
void log_missing(const std::set<std::string>& missing) {
  constexpr std::size_t kShownMax = 500;
  std::string names;
  for (const std::string& each : missing) names.append(names.empty() ? "" : ", ").append(each);
  std::string text = std::to_string(missing.size()) + " of the files and patterns found no log: ";
  append_escaped(text, names, kShownMax, 0);
  log_error(text);
}

// Logs hints about samples that a person might miss afterwards.
void log_hints(const Options& options, const Service& service) {
  if (service.lines().absent != 0) {
    log_info(std::to_string(service.lines().absent) +
             " samples are absent: lines have no such part, as a request time that the server "
             "writes only if it is told to");
  }
  const bool is_hint_due = service.lines().lines == 0 && options.from == "end";
  if (is_hint_due && !options.paths.empty() && service.missing().empty()) {
    log_warning("no line was read: --once reads what is there already with --from start");
  }
}

int finish_once(const Options& options, const Service& service, Service::Outcome outcome) {
  print_counts(service);
  log_hints(options, service);
  switch (outcome) {
    case Service::Outcome::kDone:
      return 0;
    case Service::Outcome::kMissing:
      log_missing(service.missing());
      return 1;
    case Service::Outcome::kUnreadable:
      log_error("not all could be read");
      return 1;
    case Service::Outcome::kStopped:
      log_error("a signal has ended it before all was read");
      return 1;
    case Service::Outcome::kNotTaken:
      log_error(
          "the daemon has not accepted all samples: is tallyfs running? The lines above say more");
      return 1;
  }
  return 1;
}

int check(const Options& options) {
  auto rules = read_rules(options);
  if (!rules) return refuse(options, rules.error());
  if (const auto checked = check_paths(options.paths); !checked) {
    return refuse(options, checked.error());
  }
  if (has_journal(options)) {
    return refuse(options, invalid("--check reads FILE or the standard input, not --journal"));
  }
  return check_lines(rules.value(), {options.paths, options.limits});
}

int run(const Options& options) {
  if (options.checks_lines) return check(options);
  auto settings = to_settings(options);
  if (!settings) return refuse(options, settings.error());
  // Before the log is set up, so that wrong rules are wrong usage. They may come from a pipe, which
  // can be read once.
  auto rules = read_rules(options);
  if (!rules) return refuse(options, rules.error());
  auto signals = StopSignal::create(StopSignal::Hangup::kReloads);
  if (!signals) return log_failure(signals.error());
  if (auto done = set_up(options); !done) return log_failure(done.error());
  try {
    auto service = Service::create(std::move(settings.value()), std::move(rules.value()),
                                   signals.value());
    if (!service) return log_failure(service.error());
    const auto outcome = service.value()->run();
    if (options.is_once) return finish_once(options, *service.value(), outcome);
  } catch (const std::system_error& error) {
    log_error(error.what());
    return 1;
  }
  return 0;
}

int main(int argc, char** argv) {
  Options options{{.name = "tally-feed-log", .log_level = ""}};
  if (const auto status = parse_options(argc, argv, options)) return *status;
  // A run by cron prints nothing if all is well.
  if (options.log_level.empty()) options.log_level = options.is_once ? "warn" : "info";
  return run(options);
}

}  // namespace
}  // namespace tallyfs::logs

int main(int argc, char** argv) { return tallyfs::logs::main(argc, argv); }
