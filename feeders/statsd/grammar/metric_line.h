// A line with metrics, taken apart:
//
//   metric = name ":" part *( ":" part ) *( "|" field )
//   part   = values "|" type [ "|@" rate ]
//   values = value *( ":" value )            of type s: all of it is one value
//   field  = "#" tags / "@" rate / "T" seconds / "c:" ... / "e:" ... / "card:" ... / other
//
// docs/statsd.md has the grammar in full. The texts are pieces of the line. Pure functions; a
// Metric is used again for its memory. Its size is bounded by the length of the line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "feeders/text/number.h"
#include "feeders/statsd/grammar/refusal.h"

namespace tallyfs::statsd {

enum class Kind : std::uint8_t { kCounter, kGauge, kTimer, kHistogram, kSet };
inline constexpr std::size_t kKinds = 5;

struct Part {
  Kind kind = Kind::kCounter;
  Weight weight{};
  // The part's values are Metric::values from the end of the part before up to this index.
  std::size_t values_end = 0;
};

struct Value {
  std::string_view text;  // a member, of a set
  Number number{};
};

struct Metric {
  std::string_view name;
  std::vector<Part> parts;
  std::vector<Value> values;
  std::string_view tags{};       // after the #
  std::string_view container{};  // after c:
  std::optional<std::int64_t> seconds{};  // since the epoch
  bool is_from_datadog = false;  // has c:, e:, card: or T
};

// A line that begins as a metric, cut into the text before its values, the values, and the text
// after them. The grammar of the rest does not depend on the values.
struct LinePieces {
  std::string_view name;    // without its ':'
  std::string_view values;
  std::string_view rest;    // from the '|' on
};
// False: the line has no values. Sets `pieces` in place: a returned copy would have to wait for its
// stores.
inline bool split_line(std::string_view line, LinePieces& pieces) {
  const char* const begin = line.data();
  const char* const end = begin + line.size();
  const auto* const colon = static_cast<const char*>(std::memchr(begin, ':', line.size()));
  if (!colon) return false;
  const char* bar = colon + 1;
  while (bar != end && *bar != '|') ++bar;
  if (bar == end) return false;
  pieces.name = {begin, static_cast<std::size_t>(colon - begin)};
  pieces.values = {colon + 1, static_cast<std::size_t>(bar - colon - 1)};
  pieces.rest = {bar, static_cast<std::size_t>(end - bar)};
  return true;
}

// line: without the newline and blanks at its end, not empty. After a refusal `metric` has what was
// parsed until then.
std::optional<Refusal> parse_metric(std::string_view line, Metric& metric);

// Seconds since the epoch, whole and above 0.
std::optional<std::int64_t> parse_seconds(std::string_view text);

}  // namespace tallyfs::statsd
