// Filters: what becomes of a piece of a line before it is part of a name or a number.
//
//   route      segments of a path that are numbers, UUIDs, hexadecimal of 8 digits or more, or have
//              over 40 bytes, become *; the query is dropped
//   lower      letters of ASCII become small
//   first:C    the first piece between C that is not empty
//   class      a status: 404 becomes 4xx
//   duration   12ms, 1.5s, 1h2m3.5s: a number of seconds
//   bytes      3.2KiB, 10MB: a number of bytes
//
// Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "feeders/text/number.h"

namespace tallyfs::logs {

struct Filter {
  enum class Kind : std::uint8_t { kRoute, kLower, kFirst, kClass, kDuration, kBytes };
  Kind kind = Kind::kRoute;
  char separator = '/';  // of kFirst

  // Whether it makes a number.
  bool is_numeric() const { return kind == Kind::kDuration || kind == Kind::kBytes; }
};

// kInvalid: no filter of that name; the reason has the nearest one.
Result<Filter> parse_filter(std::string_view text);

// Appends the text that the filter, which is not numeric, makes of `value`.
void append_filtered(std::string& out, Filter filter, std::string_view value);
// The number that a numeric filter makes of `value`, times `factor`. Nothing: it makes none.
std::optional<Number> filtered_number(Filter filter, std::string_view value, const Number& factor);

// The number in `text` times `factor`, which has no tail, exactly. Nothing: `text` is no number.
std::optional<Number> multiplied(std::string_view text, const Number& factor);

}  // namespace tallyfs::logs
