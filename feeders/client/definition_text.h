// The statistic_define_ calls as text of a definition line (core/statistics/definition/GRAMMAR.md),
// with the daemon's bounds checked here too, so that a program hears of its mistake where it makes
// it. Stateless. Every function: kInvalid for a number out of its bounds, with the reason.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "tally/statistic.h"

namespace tallyfs {

struct RangeOfX {
  std::int64_t min = STATISTIC_RANGE_MIN;
  std::int64_t max = STATISTIC_RANGE_MAX;
  unsigned decimals = 0;  // the last digits of both, and of base_interval, are so many places
};

Result<std::string> value_text(const RangeOfX& range, statistic_mode mode);
Result<std::string> range_text(const RangeOfX& range);
Result<std::string> array_text(const RangeOfX& range, std::uint64_t base_interval,
                               statistic_scale scale);
Result<std::string> list_text(const RangeOfX& range, std::uint32_t entries_max, unsigned base);
Result<std::string> raw_text(const RangeOfX& range, std::uint32_t entries_max);
Result<std::string> history_text(const RangeOfX& range, std::uint32_t entries_max,
                                 std::uint64_t period_us, statistic_mode mode);
Result<std::string> quantiles_text(const RangeOfX& range, unsigned precision,
                                   const char* quantiles);
Result<std::string> quantile_history_text(const RangeOfX& range, std::uint32_t entries_max,
                                          std::uint64_t period_us, unsigned precision,
                                          const char* quantiles);
Result<std::string> last_text(const RangeOfX& range);

}  // namespace tallyfs
