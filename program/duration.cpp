#include "program/duration.h"

#include <algorithm>
#include <array>

#include "core/base/text.h"

namespace tallyfs {
namespace {

struct Unit {
  std::string_view suffix;
  std::uint64_t micros;
};
// "us" and "ms" before "s", with which they end.
constexpr std::array kBySuffix = {Unit{"us", 1},          Unit{"ms", 1'000},
                                  Unit{"s", 1'000'000},   Unit{"m", 60'000'000},
                                  Unit{"h", 3'600'000'000}, Unit{"d", 86'400'000'000}};
constexpr std::uint64_t kLongest = std::uint64_t{3660} * 86'400'000'000;

}  // namespace

std::optional<std::uint64_t> parse_duration(std::string_view text, std::optional<TimeUnit> alone) {
  const auto unit = std::ranges::find_if(
      kBySuffix, [&](const Unit& each) { return text.ends_with(each.suffix); });
  if (unit == kBySuffix.end() && !alone) return std::nullopt;
  const bool has_unit = unit != kBySuffix.end();
  const std::uint64_t micros = has_unit ? unit->micros : static_cast<std::uint64_t>(*alone);
  if (has_unit) text.remove_suffix(unit->suffix.size());
  // A `d` would be a digit of a hexadecimal number: 0x1d.
  const bool is_decimal = text.find_first_not_of("0123456789") == text.npos;
  const auto number = is_decimal ? parse_unsigned(text) : std::nullopt;
  if (!number || *number > kLongest / micros) return std::nullopt;
  return *number * micros;
}

std::string duration_text(std::uint64_t micros) {
  if (micros == 0) return "0s";
  const auto unit = std::find_if(kBySuffix.rbegin(), kBySuffix.rend(),
                                 [&](const Unit& each) { return micros % each.micros == 0; });
  return std::to_string(micros / unit->micros) + std::string(unit->suffix);
}

std::string_view suffix_of(TimeUnit unit) {
  const auto found =
      std::ranges::find(kBySuffix, static_cast<std::uint64_t>(unit), &Unit::micros);
  return found->suffix;
}

}  // namespace tallyfs
