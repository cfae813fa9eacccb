// The command line of tally-feed-log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "feeders/log/rules/rules.h"
#include "feeders/log/service.h"
#include "feeders/text/series_bounds.h"
#include "program/feeder/program.h"

namespace tallyfs::logs {

// The options as they are written.
struct Options : ProgramOptions {
  std::vector<std::string> paths;
  std::string rules;
  std::string format;
  std::optional<std::string> match;
  std::vector<std::string> samples;
  std::vector<std::string> counts;
  std::vector<std::string> events;
  std::string time;
  bool is_json = false;
  bool is_logfmt = false;
  std::string from = "end";
  std::string positions;
  std::vector<std::string> journal;
  std::string journal_directory;
  bool is_once = false;
  bool checks_lines = false;
  SeriesLimits limits{};
};

// The status with which to exit at once, if there is one.
std::optional<int> parse_options(int argc, char** argv, Options& options);

bool has_journal(const Options& options);

// The rules that they name: of the file, the format or the command line itself, each time again.
// scales: those that samples have so far. kInvalid: the reason begins with the option or the file;
// kNotFound as open(2).
Result<Rules> read_rules(const Options& options, NameScales scales = {});
// kInvalid: a compressed file, or a directory.
Result<void> check_paths(const std::vector<std::string>& paths);
// kInvalid: what does not go together, or is refused by check_paths().
Result<Service::Settings> to_settings(const Options& options);

}  // namespace tallyfs::logs
