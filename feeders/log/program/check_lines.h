// The option --check: prints what each line would do, and the lines that no rule matches.
#pragma once

#include <string>
#include <vector>

#include "feeders/log/rules/rules.h"
#include "feeders/text/series_bounds.h"

namespace tallyfs::logs {

struct CheckSettings {
  std::vector<std::string> paths;  // or patterns; none, or -: the standard input
  SeriesLimits limits{};
};
// The exit status: 0, or 1 if a line was refused or a file could not be read.
int check_lines(const Rules& rules, const CheckSettings& settings);

}  // namespace tallyfs::logs
