// tally-feed-log: what programs write into their logs, as samples. Needs no privileges but to read
// the logs.
#include <iostream>
#include <system_error>
#include <utility>

#include "feeders/log/program/check_lines.h"
#include "feeders/log/program/options.h"
#include "feeders/log/service.h"
#include "feeders/log/signals.h"
#include "program/feeder/program.h"
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
  std::cout << lines.lines << " lines, " << lines.matched << " matched, " << lines.unmatched
            << " unmatched; " << lines.samples << " samples";
  const auto print = [](std::uint64_t count, const char* what) {
    if (count != 0) std::cout << ", " << count << ' ' << what;
  };
  print(lines.absent, "absent");
  print(refused, "refused");
  print(lines.rounded, "rounded");
  print(lines.undated, "undated");
  print(lines.overflowed, "overflowed");
  print(service.files().cut, "lines cut");
  std::cout << '\n';
}

int finish_once(const Service& service, Service::Outcome outcome) {
  print_counts(service);
  switch (outcome) {
    case Service::Outcome::kDone:
      return 0;
    case Service::Outcome::kMissing:
      log_error("a file is missing");
      return 1;
    case Service::Outcome::kNotTaken:
      log_error("the daemon has not taken all samples in: is tallyfs running?");
      return 1;
  }
  return 1;
}

int check(const Options& options) {
  auto rules = read_rules(options);
  if (!rules) return refuse(options, rules.error());
  CheckSettings settings{options.paths, options.series_max, options.series_per_name_max};
  std::erase(settings.paths, "-");
  return check_lines(rules.value(), settings);
}

int run(const Options& options) {
  if (options.checks_lines) return check(options);
  auto settings = to_settings(options);
  if (!settings) return refuse(options, settings.error());
  // Before the log is set up, so that wrong rules are wrong usage.
  if (const auto rules = read_rules(options); !rules) return refuse(options, rules.error());
  auto signals = Signals::create();
  if (!signals) return log_failure(signals.error());
  if (auto done = set_up(options); !done) return log_failure(done.error());
  try {
    auto service = Service::create(std::move(settings.value()), signals.value());
    if (!service) return log_failure(service.error());
    const auto outcome = service.value()->run();
    if (options.is_once) return finish_once(*service.value(), outcome);
  } catch (const std::system_error& error) {
    log_error(error.what());
    return 1;
  }
  return 0;
}

int main(int argc, char** argv) {
  Options options{{.name = "tally-feed-log"}};
  if (const auto status = parse_options(argc, argv, options)) return *status;
  return run(options);
}

}  // namespace
}  // namespace tallyfs::logs

int main(int argc, char** argv) { return tallyfs::logs::main(argc, argv); }
