// A change: the request in a line written to a definition file, by GRAMMAR.md, and its effect on a
// definition. Pure functions of text and definition: replaying a line does the same again.
#pragma once

#include <bitset>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/result.h"
#include "core/statistics/definition/definition.h"
#include "core/statistics/definition/strict_words.h"

namespace tallyfs::statistics {

// A value that a line gives, and at which byte its token starts, for the caret.
template <typename T>
struct Requested {
  T value{};
  std::size_t at = 0;
};

// A number as it was typed: how many places a decimal may have is for the statistic to say.
struct Typed {
  std::int64_t digits = 0;  // without the point
  unsigned places = 0;
};
struct TypedUnsigned {
  std::uint64_t digits = 0;
  unsigned places = 0;
};

// Every value is within its bounds by itself; whether they go together is for apply() to say.
struct Change {
  bool is_strict = false;                           // the line was read so
  // A person or a rule says it, and not the definition file or a program: an array of times or of
  // sizes begins at 0.
  bool begins_log2_at_zero = false;
  // Points into the line, and may be spelled as labels.h says.
  std::optional<Requested<std::string_view>> name;
  std::optional<Requested<std::string_view>> of;  // the same: a view's source; "" removes the view
  std::optional<Requested<bool>> on;
  bool data_reset = false;
  std::optional<Requested<bool>> undo;
  std::optional<Requested<Settings>> type;  // the type alone: its attributes are still the defaults
  std::optional<Requested<Typed>> range_min;
  std::optional<Requested<Typed>> range_max;
  std::optional<Requested<std::uint8_t>> decimals;
  std::optional<Requested<std::uint32_t>> entries_max;
  std::optional<Requested<Base>> base;
  std::optional<Requested<TypedUnsigned>> base_interval;
  std::optional<Requested<Scale>> scale;
  std::optional<Requested<Mode>> mode;
  std::optional<Requested<std::chrono::microseconds>> period;
  std::optional<Requested<std::uint8_t>> precision;
  std::optional<Requested<QuantileList>> quantiles;
  std::optional<Requested<std::string_view>> units;  // points into the line; "" clears them
  std::optional<Requested<std::string_view>> help;   // the same
  // The units of the samples of a feeder; the same. A line for a new statistic alone has them.
  std::optional<Requested<std::string_view>> sample_units;

  // Whether it says how the statistic counts or what it is; else the line only switches and resets.
  bool redefines() const {
    return type || range_min || range_max || decimals || entries_max || base || base_interval ||
           scale || mode || period || precision || quantiles || units || help;
  }

  // The value that it asks for an attribute.
  const auto& asked(attribute::EntriesMax) const { return entries_max; }
  const auto& asked(attribute::BaseNumber) const { return base; }
  const auto& asked(attribute::BaseInterval) const { return base_interval; }
  const auto& asked(attribute::ScaleWord) const { return scale; }
  const auto& asked(attribute::ModeWord) const { return mode; }
  const auto& asked(attribute::Period) const { return period; }
  const auto& asked(attribute::Precision) const { return precision; }
  const auto& asked(attribute::Quantiles) const { return quantiles; }
};

// The type-specific attributes of definitions, as a set.
using Attributes = std::bitset<8>;
Attributes attributes_of(const Settings& settings);

// `units=-` clears the units, and so does `help=-`. `units=` says nothing, as lines of statistics
// without units end so.
inline constexpr std::string_view kClearWord = "-";

// A line of the definition file. kInvalid with the token whose value is wrong, or, in a line
// without name=, with the first token that is no key=value or has an unknown key: a misspelt name=
// would change all statistics. A line with strict=1 is strict in any case; it is refused for each
// token that StrictWords refuses, and for find_fractions(). Keys of other types are for
// check_all_read().
Result<Change> parse_change(std::string_view line, Strictness strictness = Strictness::kTolerant);
// Whether a line of the definition file may have the key, to be set or to be ignored.
bool is_known_key(std::string_view word);
// The attributes of a new statistic: neither name nor data=reset, which are ignored. kInvalid as
// above.
Result<Change> parse_new_statistic(std::string_view text,
                                   Strictness strictness = Strictness::kTolerant);

// The definition that results. A list that comes into being shows its X in decimal if the line is
// strict and says nothing of the base. scale=log2 without range_min makes an unbounded range_min 0
// where units= names a time or a size and begins_log2_at_zero. kInvalid with the token to blame:
// the type lacks an attribute, the mode does not go with the type, range_min is above range_max,
// too many intervals, a number with more places than the decimals.
Result<Definition> apply(const Change& change, const Definition& before);
// Whether there is a definition to which the change could be applied: for changes of statistics
// that do not exist yet. Returns the attributes that it may have. kInvalid as above.
Result<Attributes> check_alone(const Change& change);

}  // namespace tallyfs::statistics
