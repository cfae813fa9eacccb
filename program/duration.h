// Lengths of time as people type them: 10m, 500ms, 2h. The one parser of all options that take a
// time. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tallyfs {

// The unit of a number alone, in microseconds.
enum class TimeUnit : std::uint32_t {
  kMicroseconds = 1,
  kMilliseconds = 1'000,
  kSeconds = 1'000'000
};

// Parses a whole number with us, ms, s, m, h or d, into microseconds. nullopt: the text is no such
// time, or longer than ten years. alone: the unit of a number without one; nullopt: it needs one.
std::optional<std::uint64_t> parse_duration(std::string_view text,
                                            std::optional<TimeUnit> alone = std::nullopt);

// Prints a time as it may be typed, in the largest unit that needs no fraction: "10s", "90m", "0s".
std::string duration_text(std::uint64_t micros);

// "ms", as it is typed.
std::string_view suffix_of(TimeUnit unit);

}  // namespace tallyfs
