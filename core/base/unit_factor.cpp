#include "core/base/unit_factor.h"

#include <array>
#include <numeric>
#include <utility>

namespace tallyfs {
namespace {

struct Named {
  std::string_view word;
  Unit unit;
};

constexpr std::array kUnits = {
    Named{"seconds", {"seconds", {1, 1}}},
    Named{"nanoseconds", {"seconds", {1, 1'000'000'000}}},
    Named{"microseconds", {"seconds", {1, 1'000'000}}},
    Named{"milliseconds", {"seconds", {1, 1'000}}},
    Named{"minutes", {"seconds", {60, 1}}},
    Named{"hours", {"seconds", {3'600, 1}}},
    Named{"days", {"seconds", {86'400, 1}}},
    Named{"bytes", {"bytes", {1, 1}}},
    Named{"bits", {"bytes", {1, 8}}},
    Named{"KiB", {"bytes", {1u << 10, 1}}},
    Named{"MiB", {"bytes", {1u << 20, 1}}},
    Named{"GiB", {"bytes", {1u << 30, 1}}},
    Named{"kilobytes", {"bytes", {1'000, 1}}},
    Named{"megabytes", {"bytes", {1'000'000, 1}}},
    Named{"gigabytes", {"bytes", {1'000'000'000, 1}}},
    Named{"percent", {"ratio", {1, 100}}},
    Named{"thousandths", {"", {1, 1'000}}},
    Named{"millionths", {"", {1, 1'000'000}}},
};
static_assert(kUnits.size() * (kDecimalsMax + 1) <= kUnitFactors);

Unit named(std::string_view word) {
  for (const Named& known : kUnits) {
    if (known.word == word) return known.unit;
  }
  return {.base = word};
}

}  // namespace

Unit unit_of_x(std::string_view units) {
  const std::size_t slash = units.find('/');
  if (slash == std::string_view::npos) return {};
  const std::string_view word = units.substr(0, slash);
  return word == units.substr(slash + 1) ? Unit{} : named(word);
}

Unit unit_of_y(std::string_view units) {
  const std::size_t slash = units.find('/');
  if (slash == std::string_view::npos) return named(units);
  const std::string_view word = units.substr(slash + 1);
  return word == units.substr(0, slash) ? Unit{} : named(word);
}

std::string_view measure_of(std::string_view word) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 21> kAbbreviations = {{
      {"s", "seconds"},       {"sec", "seconds"},       {"second", "seconds"},
      {"ms", "milliseconds"}, {"msec", "milliseconds"}, {"millis", "milliseconds"},
      {"us", "microseconds"}, {"usec", "microseconds"}, {"micros", "microseconds"},
      {"ns", "nanoseconds"},  {"nsec", "nanoseconds"},  {"nanos", "nanoseconds"},
      {"min", "minutes"},     {"h", "hours"},           {"B", "bytes"},
      {"byte", "bytes"},      {"kB", "kilobytes"},      {"KB", "kilobytes"},
      {"MB", "megabytes"},    {"GB", "gigabytes"},      {"%", "percent"},
  }};
  for (const Named& known : kUnits) {
    if (known.word == word) return word;
  }
  for (const auto& [abbreviation, full] : kAbbreviations) {
    if (abbreviation == word) return full;
  }
  return {};
}

UnitFactor with_decimals(const UnitFactor& factor, unsigned decimals) {
  const std::uint64_t common = std::gcd(factor.numerator, kPowersOfTen[decimals]);
  return {factor.numerator / common, factor.denominator * (kPowersOfTen[decimals] / common)};
}

bool have_one_scale(const XScale& scale, const XScale& other) {
  const Unit unit = unit_of_x(scale.units);
  const Unit others = unit_of_x(other.units);
  const bool is_one_factor =
      with_decimals(unit.factor, scale.decimals) == with_decimals(others.factor, other.decimals);
  if (!is_one_factor || unit.base == others.base) return is_one_factor;
  const bool is_pure = unit.base.empty() || others.base.empty();
  return is_pure && unit.factor == UnitFactor{} && others.factor == UnitFactor{};
}

std::size_t number_of(const UnitFactor& factor) {
  std::size_t number = 0;
  for (unsigned decimals = 0; decimals <= kDecimalsMax; ++decimals) {
    for (const Named& known : kUnits) {
      if (with_decimals(known.unit.factor, decimals) == factor) return number;
      ++number;
    }
  }
  return number - 1;
}

}  // namespace tallyfs
