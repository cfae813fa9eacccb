#include "feeders/client/definition_text.h"

#include "core/base/decimal.h"
#include "core/base/exponential_buckets.h"
#include "core/base/quantile_list.h"

namespace tallyfs {
namespace {

// The bounds of core/statistics/definition/definition.h, which a client does not link.
constexpr std::uint32_t kEntriesMaxBound = 1'048'576;
constexpr std::uint64_t kStepsBound = 65'534;  // intervals but the first and the last
constexpr std::uint64_t kPeriodMaxUs = 3'153'600'000'000'000;

const char* name_of(statistic_mode mode) {
  switch (mode) {
    case STATISTIC_MODE_INCREMENTS:
      return "increments";
    case STATISTIC_MODE_PRODUCTS:
      return "products";
    case STATISTIC_MODE_RANGE:
      return "range";
    case STATISTIC_MODE_QUANTILES:
      return "quantiles";
  }
  return nullptr;
}

const char* name_of(statistic_scale scale) {
  switch (scale) {
    case STATISTIC_SCALE_LIN:
      return "lin";
    case STATISTIC_SCALE_LOG2:
      return "log2";
  }
  return nullptr;
}

std::string number_text(Int128 number, unsigned decimals) {
  std::string text;
  append_fixed(text, number, decimals);
  return text;
}

// The end of 64 bits is no bound, and stays a whole number.
std::string bound_text(std::int64_t bound, unsigned decimals) {
  const bool is_none = bound == STATISTIC_RANGE_MIN || bound == STATISTIC_RANGE_MAX;
  return number_text(bound, is_none ? 0 : decimals);
}

Result<std::string> with_range(const std::string& text, const RangeOfX& range) {
  if (range.min > range.max) return invalid("range_min must not be above range_max");
  return text + " range_min=" + bound_text(range.min, range.decimals) +
         " range_max=" + bound_text(range.max, range.decimals);
}

Result<std::string> with_quantiles(std::string text, unsigned precision, const char* quantiles) {
  if (precision > ExponentialBuckets::kPrecisionMax) {
    return invalid("precision must be a number from 0 to 8");
  }
  if (!quantiles || !QuantileList::parse(quantiles)) {
    return invalid(
        "quantiles must be 1 to 16 ascending numbers in (0,100), 4 decimals at most, no blanks");
  }
  return text + " precision=" + std::to_string(precision) + " quantiles=" + quantiles;
}

Result<std::string> with_entries(const std::string& text, const RangeOfX& range,
                                 std::uint32_t entries_max) {
  if (entries_max < 1 || entries_max > kEntriesMaxBound) {
    return invalid("entries_max must be a number from 1 to 1048576");
  }
  return with_range(text + " entries_max=" + std::to_string(entries_max), range);
}

Result<std::string> any_history_text(const RangeOfX& range, std::uint32_t entries_max,
                                     std::uint64_t period_us, statistic_mode mode) {
  if (period_us < 1 || period_us > kPeriodMaxUs) {
    return invalid("period must be a number of microseconds from 1 to 3153600000000000");
  }
  return with_entries(
      std::string("type=history mode=") + name_of(mode) + " period=" + std::to_string(period_us),
      range, entries_max);
}

bool has_too_many(const RangeOfX& range, std::uint64_t base_interval) {
  const auto distance =
      static_cast<std::uint64_t>(range.max) - static_cast<std::uint64_t>(range.min);
  return distance != 0 && (distance - 1) / base_interval + 1 > kStepsBound;
}

}  // namespace

Result<std::string> value_text(const RangeOfX& range, statistic_mode mode) {
  if (mode != STATISTIC_MODE_INCREMENTS && mode != STATISTIC_MODE_PRODUCTS) {
    return invalid("mode must be increments or products");
  }
  return with_range(std::string("type=value mode=") + name_of(mode), range);
}

Result<std::string> range_text(const RangeOfX& range) { return with_range("type=range", range); }

Result<std::string> array_text(const RangeOfX& range, std::uint64_t base_interval,
                               statistic_scale scale) {
  const char* const name = name_of(scale);
  if (!name) return invalid("scale must be lin or log2");
  if (base_interval < 1) return invalid("base_interval must be 1 or more");
  if (scale == STATISTIC_SCALE_LIN && range.min <= range.max &&
      has_too_many(range, base_interval)) {
    return invalid("more than 65536 intervals: range or base_interval must change");
  }
  return with_range("type=array base_interval=" +
                        number_text(Int128{base_interval}, range.decimals) + " scale=" + name,
                    range);
}

// Daemons of old do not know the key.
Result<std::string> list_text(const RangeOfX& range, std::uint32_t entries_max, unsigned base) {
  if (base != 10 && base != 16) return invalid("base must be 10 or 16");
  return with_entries(base == 10 ? "type=list base=10" : "type=list", range, entries_max);
}

Result<std::string> raw_text(const RangeOfX& range, std::uint32_t entries_max) {
  return with_entries("type=raw", range, entries_max);
}

Result<std::string> history_text(const RangeOfX& range, std::uint32_t entries_max,
                                 std::uint64_t period_us, statistic_mode mode) {
  if (!name_of(mode) || mode == STATISTIC_MODE_QUANTILES) {
    return invalid("mode must be increments, products or range");
  }
  return any_history_text(range, entries_max, period_us, mode);
}

Result<std::string> quantiles_text(const RangeOfX& range, unsigned precision,
                                   const char* quantiles) {
  const auto text = with_quantiles("type=quantiles", precision, quantiles);
  if (!text) return text.error();
  return with_range(text.value(), range);
}

Result<std::string> quantile_history_text(const RangeOfX& range, std::uint32_t entries_max,
                                          std::uint64_t period_us, unsigned precision,
                                          const char* quantiles) {
  const auto text = any_history_text(range, entries_max, period_us, STATISTIC_MODE_QUANTILES);
  if (!text) return text.error();
  return with_quantiles(text.value(), precision, quantiles);
}

Result<std::string> last_text(const RangeOfX& range) { return with_range("type=last", range); }

}  // namespace tallyfs
