// Decimals that are kept as integers: X with `decimals` places is X * 10^decimals. No double is on
// the way, so that each digit is exact. Pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/int128.h"

namespace tallyfs {

inline constexpr unsigned kDecimalsMax = 9;

inline constexpr std::array<std::uint64_t, kDecimalsMax + 1> kPowersOfTen = {
    1, 10, 100, 1'000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000, 1'000'000'000};

// Digits with one point among them or at an end, perhaps after a minus sign.
bool is_decimal(std::string_view text);

// A decimal or a whole number as an integer of so many places.
struct Fixed {
  std::int64_t value = 0;
  bool is_rounded = false;  // it had more places: half to even
};
// text: digits with or without a point (is_decimal()). Nothing: it does not fit into 64 bits.
std::optional<Fixed> parse_fixed(std::string_view text, unsigned decimals);
// As parse_fixed(), for an integer.
std::optional<std::int64_t> to_fixed(std::int64_t whole, unsigned decimals);

// As text, with exactly so many places: 250 of three is 0.250, and of none 250.
void append_fixed(std::string& out, Int128 value, unsigned decimals);
std::size_t fixed_length(std::int64_t value, unsigned decimals);

}  // namespace tallyfs
