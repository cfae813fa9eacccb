#include "tools/display/quantity.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

#include "core/base/text.h"
#include "core/base/unit_factor.h"

namespace tallyfs::view {
namespace {

struct Step {
  double size;
  const char* suffix;
};

constexpr std::array kTimes = {Step{1, "ns"}, Step{1e3, "us"}, Step{1e6, "ms"}, Step{1e9, "s"},
                               Step{60e9, "min"}};
constexpr std::array kBytes = {Step{1, "B"}, Step{1024, "KiB"}, Step{1048576, "MiB"},
                               Step{1073741824, "GiB"}, Step{1099511627776, "TiB"}};
constexpr std::array kNumbers = {Step{1, ""}, Step{1e3, "k"}, Step{1e6, "M"}, Step{1e9, "G"},
                                 Step{1e12, "T"}};
using StepList = std::array<Step, 5>;

const StepList& steps_of(const Quantity& quantity) {
  switch (quantity.kind) {
    case Quantity::Kind::kTime:
      return kTimes;
    case Quantity::Kind::kBytes:
      return kBytes;
    case Quantity::Kind::kNumber:
      break;
  }
  return kNumbers;
}

double power_of_ten(int exponent) {
  return static_cast<double>(
             kPowersOfTen[static_cast<std::size_t>(exponent) % (kDecimalsMax + 1)]) *
         (exponent > static_cast<int>(kDecimalsMax) ? 1e10 : 1);
}

// The step of the unit that the definition names.
const Step& own_step(const Quantity& quantity) {
  static constexpr Step kNone{1, ""};
  const double factor = quantity.factor * power_of_ten(quantity.decimals);
  for (const Step& step : steps_of(quantity)) {
    if (std::fabs(step.size - factor) <= step.size * 1e-9) return step;
  }
  return kNone;
}

// The largest step that leaves at least 1 of the value, after rounding to three digits.
const Step& step_of(double value, const Quantity& quantity) {
  if (value == 0) return own_step(quantity);
  const StepList& steps = steps_of(quantity);
  const double base = std::fabs(value) * quantity.factor;
  const Step* found = &steps[0];
  for (const Step& step : steps) {
    if (base >= step.size * 0.9995) found = &step;
  }
  return *found;
}

std::string printed(const char* format, double value) {
  std::array<char, 400> text;
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string printed_with(int decimals, double value) {
  std::array<char, 400> text;
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

// text: has a decimal point.
std::string without_zeros(std::string text) {
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

// A double that is inexact in its last bits must not be rounded up or down by a whole place.
double rounded(double value, int places, Rounding rounding) {
  const double parts = value * power_of_ten(places);
  const double slack = std::fabs(parts) * 1e-13;
  switch (rounding) {
    case Rounding::kDown:
      return std::floor(parts + slack) / power_of_ten(places);
    case Rounding::kUp:
      return std::ceil(parts - slack) / power_of_ten(places);
    case Rounding::kNearest:
      break;
  }
  return std::nearbyint(parts) / power_of_ten(places);
}

// An integer in the statistic's own unit loses nothing, and so gets no decimals.
std::string scaled(double value, const Step& step, const Quantity& quantity, Digits digits,
                   Rounding rounding) {
  const double shown = value * quantity.factor / step.size;
  if (quantity.factor == step.size && shown == std::floor(shown)) return printed("%.0f", shown);
  int places = digits == Digits::kTwo ? 1 : 2;
  // Below 1 there is no smaller unit, so that digits count from the first one that is not 0.
  const bool is_pure = quantity.kind == Quantity::Kind::kNumber && quantity.decimals > 0 &&
                       step.size == 1;
  if (is_pure && shown != 0 && std::fabs(shown) < 1) {
    places -= static_cast<int>(std::floor(std::log10(std::fabs(shown))));
  }
  double number = rounded(shown, places, rounding);
  for (double limit = 10; places > 0 && std::fabs(number) >= limit; limit *= 10) {
    number = rounded(shown, --places, rounding);
  }
  std::string text = printed_with(places, number);
  return is_pure && places > 0 ? without_zeros(std::move(text)) : text;
}

std::string unscaled(double value, const Quantity& quantity) {
  if (quantity.decimals > 0) {
    return without_zeros(
        printed_with(quantity.decimals + 3, value / power_of_ten(quantity.decimals)));
  }
  return value == std::floor(value) ? printed("%.0f", value) : printed("%.3f", value);
}

// The digits before the point by `whole_text`, those behind it without zeros at the end.
std::string with_point(Int128 value, const Quantity& quantity, std::string (*whole_text)(Int128)) {
  Int128 parts = 1;
  for (int i = 0; i < quantity.decimals; ++i) parts *= 10;
  const Int128 rest = value % parts;
  std::string text = value < 0 && value > -parts ? "-0" : whole_text(value / parts);
  if (rest == 0) return text == "-0" ? "0" : text;
  std::string digits = exact_text(parts + (rest < 0 ? -rest : rest)).substr(1);
  digits.erase(digits.find_last_not_of('0') + 1);
  return text.append(".").append(digits);
}

Quantity quantity_of_units(std::string_view units) {
  const Unit unit = unit_of_x(units);
  const std::size_t slash = units.find('/');
  Quantity found;
  if (slash == std::string_view::npos) return found;
  found.name = units.substr(0, slash);
  const auto ratio =
      static_cast<double>(unit.factor.numerator) / static_cast<double>(unit.factor.denominator);
  if (unit.base == "seconds") {
    found.kind = Quantity::Kind::kTime;
    // A division is exact where the multiplication is not: 1e9 times a millionth is not quite 1000.
    found.factor = unit.factor.numerator == 1 ? 1e9 / static_cast<double>(unit.factor.denominator)
                                              : 1e9 * ratio;
  } else if (unit.base == "bytes") {
    found.kind = Quantity::Kind::kBytes;
    found.factor = ratio;
  } else if (unit.base.empty() && unit.factor.denominator > 1) {
    found.name.clear();
    found.factor = ratio;
    for (std::uint64_t rest = unit.factor.denominator; rest > 1; rest /= 10) ++found.decimals;
  }
  return found;
}

}  // namespace

Quantity quantity_of_x(std::string_view units, unsigned decimals) {
  Quantity found = quantity_of_units(units);
  found.factor /= power_of_ten(static_cast<int>(decimals));
  found.decimals += static_cast<int>(decimals);
  return found;
}

Quantity quantity_of_x(const Statistic& statistic) {
  return quantity_of_x(statistic.units, statistic.decimals());
}

Quantity quantity_of_counts(std::string_view units) {
  const std::size_t slash = units.find('/');
  return {.name = std::string(slash == std::string_view::npos ? units : units.substr(slash + 1))};
}

std::string_view shown_units(std::string_view units) {
  return quantity_of_x(units).decimals > 0 ? units.substr(units.find('/') + 1) : units;
}

bool has_products(const Statistic& statistic) { return statistic.key("mode") == "products"; }

Quantity quantity_of_totals(const Statistic& statistic) {
  return has_products(statistic) ? quantity_of_x(statistic)
                                             : quantity_of_counts(statistic.units);
}

double in_base_unit(double value, const Quantity& quantity) {
  return value * quantity.factor / (quantity.kind == Quantity::Kind::kTime ? 1e9 : 1);
}

std::string number_text(double value, const Quantity& quantity, Digits digits, Charset charset,
                        Rounding rounding) {
  const Step& step = digits == Digits::kAll ? own_step(quantity) : step_of(value, quantity);
  std::string text = digits == Digits::kAll ? unscaled(value, quantity)
                                            : scaled(value, step, quantity, digits, rounding);
  const bool is_micro = std::string_view(step.suffix) == "us" && charset == Charset::kUtf8;
  return text.append(is_micro ? "µs" : step.suffix);
}

std::string number_like(double value, double like, const Quantity& quantity, Digits digits,
                        Rounding rounding) {
  if (digits == Digits::kAll) return unscaled(value, quantity);
  return scaled(value, step_of(like, quantity), quantity, digits, rounding);
}

std::string exact_text(Int128 value) {
  std::string text;
  append_number(text, value);
  return text;
}

std::string grouped_text(Int128 value) {
  std::string text = exact_text(value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

std::string exact_text(Int128 value, const Quantity& quantity) {
  return with_point(value, quantity, exact_text);
}

std::string grouped_text(Int128 value, const Quantity& quantity) {
  return with_point(value, quantity, grouped_text);
}

std::string share_text(Int128 part, Int128 whole) {
  if (whole <= 0) return "-";
  const double share = 100 * static_cast<double>(part) / static_cast<double>(whole);
  if (part > 0 && share < 0.05) return "<0.1";
  return printed("%.1f", share);
}

std::string rate_text(double per_second) {
  if (per_second > 0 && per_second < 0.01) return "<0.01/s";
  return number_text(per_second, {}, Digits::kThree, Charset::kAscii).append("/s");
}

std::string duration_text(std::uint64_t micros) {
  const std::uint64_t seconds = micros / 1'000'000;
  if (seconds < 10)
    return number_text(static_cast<double>(micros), quantity_of_x("microseconds/"), Digits::kThree,
                       Charset::kAscii);
  const auto two = [](std::uint64_t large, const char* unit, std::uint64_t small,
                      const char* less) {
    return std::to_string(large).append(unit).append(std::to_string(small)).append(less);
  };
  if (seconds < 60) return std::to_string(seconds).append(" s");
  if (seconds < 3600) return two(seconds / 60, " min ", seconds % 60, " s");
  if (seconds < 86400) return two(seconds / 3600, " h ", seconds / 60 % 60, " min");
  return two(seconds / 86400, " d ", seconds / 3600 % 24, " h");
}

}  // namespace tallyfs::view
