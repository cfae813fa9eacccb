// How long numbers are as text, without writing them: what append_number(), append_hex() and
// append_timestamp() (core/base/text.h) would append.
//
// Pure functions.
#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace tallyfs {

constexpr std::size_t number_length(std::uint64_t value) {
  std::size_t length = 1;
  for (; value >= 10'000; value /= 10'000) length += 4;
  return length + (value >= 10) + (value >= 100) + (value >= 1000);
}

constexpr std::size_t number_length(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return value < 0 ? 1 + number_length(0 - bits) : number_length(bits);
}

constexpr std::size_t hex_length(std::uint64_t value) {
  return 2 + std::max<std::size_t>(1, (static_cast<std::size_t>(std::bit_width(value)) + 3) / 4);
}

constexpr std::size_t timestamp_length(std::chrono::nanoseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
  return number_length(static_cast<std::uint64_t>(std::max<std::int64_t>(0, seconds))) + 9;
}

}  // namespace tallyfs
