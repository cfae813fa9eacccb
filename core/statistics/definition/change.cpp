#include "core/statistics/definition/change.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/decimal.h"
#include "core/base/encoded_name.h"
#include "core/base/labels.h"
#include "core/base/text.h"
#include "core/statistics/definition/array_bounds.h"
#include "core/statistics/definition/feed.h"
#include "core/statistics/definition/synonyms.h"
#include "core/statistics/definition/unread_words.h"

namespace tallyfs::statistics {
namespace {

// Where a key means something; elsewhere it is junk like any unknown one.
enum class Where { kEverywhere, kOnlyInChange, kOnlyInNew };

// Takes a value into the change; false when it is not one that the key can have.
using Take = bool (*)(Change&, std::string_view value, std::size_t at);

template <typename T>
bool set(std::optional<Requested<T>>& asked, const std::optional<T>& value, std::size_t at) {
  if (value) asked = Requested<T>{*value, at};
  return value.has_value();
}

// True if the name may be stored, or if an earlier version stored it in another form.
bool is_typed_name(std::string_view value) {
  if (is_name(value)) return true;
  const auto stored = stored_name(value);
  return stored && is_name(stored.value());
}

bool take_name(Change& change, std::string_view value, std::size_t at) {
  change.name = {value, at};
  return is_typed_name(value);
}

// Empty: the view is to be removed.
bool take_of(Change& change, std::string_view value, std::size_t at) {
  change.of = {value, at};
  return value.empty() || is_typed_name(value);
}

// Lines that are read end with an empty one, which says nothing.
bool take_units(Change& change, std::string_view value, std::size_t at) {
  if (value.empty()) return true;
  change.units = {value == kClearWord ? std::string_view() : value, at};
  return is_units(value);
}

bool take_sample_units(Change& change, std::string_view value, std::size_t at) {
  change.sample_units = {value == kClearWord ? std::string_view() : value, at};
  return is_units(value);
}

// Printable, without blanks and `"`; each % begins an escape of two digits.
bool is_help(std::string_view text) {
  std::string plain(text);
  std::ranges::replace(plain, '=', '_');
  if (!is_units(plain) || text.find('"') != std::string_view::npos) return false;
  for (std::size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
    if (at + 2 >= text.size()) return false;
    if (!is_hex(text[at + 1]) || !is_hex(text[at + 2])) return false;
  }
  return true;
}

bool take_help(Change& change, std::string_view value, std::size_t at) {
  if (value.empty()) return true;
  change.help = {value == kClearWord ? std::string_view() : value, at};
  return is_help(value);
}

bool take_on(Change& change, std::string_view value, std::size_t at) {
  change.on = {value == "1", at};
  return value == "0" || value == "1";
}

// data= with anything but reset was read from the file, and changes nothing.
bool take_data(Change& change, std::string_view value, std::size_t) {
  if (value == "reset") change.data_reset = true;
  return true;
}

bool take_undo(Change& change, std::string_view value, std::size_t at) {
  change.undo = {true, at};
  return value == "1";
}

bool take_type(Change& change, std::string_view value, std::size_t at) {
  each_type([&]<typename S>() {
    if (value == S::kType) change.type = {S{}, at};
  });
  return change.type && change.type->at == at;
}

// A whole number as parse() reads it, or a decimal.
template <typename Number, typename Parse>
std::optional<Number> parse_typed(std::string_view text, Parse parse) {
  if (const auto whole = parse(text)) return Number{.digits = *whole};
  if (!is_decimal(text)) return std::nullopt;
  const std::size_t places = text.size() - text.find('.') - 1;
  if (places > kDecimalsMax) return std::nullopt;
  const auto fixed = parse_fixed(text, static_cast<unsigned>(places));
  using Digits = decltype(Number::digits);
  if (!fixed || std::cmp_less(fixed->value, std::numeric_limits<Digits>::min())) {
    return std::nullopt;
  }
  return Number{static_cast<Digits>(fixed->value), static_cast<unsigned>(places)};
}

template <std::optional<Requested<Typed>> Change::*kMember>
bool take_bound(Change& change, std::string_view value, std::size_t at) {
  return set(change.*kMember, parse_typed<Typed>(value, parse_signed), at);
}

bool take_decimals(Change& change, std::string_view value, std::size_t at) {
  const std::uint64_t decimals = parse_unsigned(value).value_or(kDecimalsMax + 1);
  change.decimals = {static_cast<std::uint8_t>(decimals), at};
  return decimals <= kDecimalsMax;
}

bool take_entries_max(Change& change, std::string_view value, std::size_t at) {
  const std::uint64_t number = parse_unsigned(value).value_or(0);
  change.entries_max = {static_cast<std::uint32_t>(number), at};
  return number >= 1 && number <= kEntriesMaxBound;
}

bool take_base(Change& change, std::string_view value, std::size_t at) {
  const std::uint64_t number = parse_unsigned(value).value_or(0);
  change.base = {static_cast<Base>(number), at};
  return number == 10 || number == 16;
}

bool take_base_interval(Change& change, std::string_view value, std::size_t at) {
  return set(change.base_interval, parse_typed<TypedUnsigned>(value, parse_unsigned), at) &&
         change.base_interval->value.digits >= 1;
}

bool take_period(Change& change, std::string_view value, std::size_t at) {
  const std::chrono::microseconds period(parse_signed(value).value_or(0));
  change.period = {period, at};
  return period >= kPeriodMin && period <= kPeriodMax;
}

bool take_scale(Change& change, std::string_view value, std::size_t at) {
  change.scale = {value == "log2" ? Scale::kLog2 : Scale::kLin, at};
  return value == "lin" || value == "log2";
}

bool take_mode(Change& change, std::string_view value, std::size_t at) {
  constexpr std::array kModes = {std::pair{std::string_view("increments"), Mode::kIncrements},
                                 std::pair{std::string_view("products"), Mode::kProducts},
                                 std::pair{std::string_view("range"), Mode::kRange},
                                 std::pair{std::string_view("quantiles"), Mode::kQuantiles}};
  for (const auto& [word, mode] : kModes) {
    if (value != word) continue;
    change.mode = {mode, at};
    return true;
  }
  return false;
}

bool take_precision(Change& change, std::string_view value, std::size_t at) {
  const std::uint64_t precision = parse_unsigned(value).value_or(kPrecisionMax + 1u);
  change.precision = {static_cast<std::uint8_t>(precision), at};
  return precision <= kPrecisionMax;
}

bool take_quantiles(Change& change, std::string_view value, std::size_t at) {
  return set(change.quantiles, QuantileList::parse(value), at);
}

std::string refusal_of_name(std::string_view value, const char* rule) {
  const auto stored = stored_name(value);
  return stored ? rule : stored.error().reason;
}

struct Key {
  std::string_view word;
  Where where;
  Take take;
  const char* rule;

  std::string refusal(std::string_view value) const {
    if (take == take_type) return refusal_of_type(value);
    if (take == take_name || take == take_of) return refusal_of_name(value, rule);
    const char* synonym = take == take_mode ? refusal_of_mode_synonym(value) : nullptr;
    return synonym ? synonym : rule;
  }
};

static_assert(kEntriesMaxBound == 1'048'576 && kPeriodMax.count() == 3'153'600'000'000'000 &&
                  kPrecisionMax == 8 && QuantileList::kBound == 16,
              "the rules below name the bounds");
constexpr std::array kKeys = {
    Key{"name", Where::kOnlyInChange, take_name, "not a statistic's name"},
    Key{"of", Where::kEverywhere, take_of,
        "of must be a statistic of the same interface, by its name alone"},
    Key{"on", Where::kEverywhere, take_on, "on must be 0 or 1"},
    Key{"data", Where::kOnlyInChange, take_data, ""},
    Key{"undo", Where::kOnlyInChange, take_undo, "undo must be 1"},
    Key{"type", Where::kEverywhere, take_type, ""},
    Key{"range_min", Where::kEverywhere, take_bound<&Change::range_min>,
        "range_min must be a signed 64-bit number, or as 2.5 with decimals="},
    Key{"range_max", Where::kEverywhere, take_bound<&Change::range_max>,
        "range_max must be a signed 64-bit number, or as 2.5 with decimals="},
    Key{attribute::EntriesMax::kKey, Where::kEverywhere, take_entries_max,
        "entries_max must be a number from 1 to 1048576"},
    Key{attribute::BaseNumber::kKey, Where::kEverywhere, take_base, "base must be 10 or 16"},
    Key{attribute::BaseInterval::kKey, Where::kEverywhere, take_base_interval,
        "base_interval must be a 64-bit number, 1 or more"},
    Key{attribute::ScaleWord::kKey, Where::kEverywhere, take_scale, "scale must be lin or log2"},
    Key{attribute::ModeWord::kKey, Where::kEverywhere, take_mode,
        "mode must be increments (it adds Y), products (X*Y), range or quantiles"},
    Key{attribute::Period::kKey, Where::kEverywhere, take_period,
        "period must be a number of microseconds from 1 to 3153600000000000"},
    Key{attribute::Precision::kKey, Where::kEverywhere, take_precision,
        "precision must be a number from 0 to 8"},
    Key{attribute::Quantiles::kKey, Where::kEverywhere, take_quantiles,
        "quantiles must be 1 to 16 ascending numbers in (0,100), 4 decimals at most, no blanks"},
    Key{"decimals", Where::kEverywhere, take_decimals,
        "decimals must be a number from 0 to 9: how many decimal places X has"},
    Key{"units", Where::kEverywhere, take_units,
        "units must be at most 255 printable bytes without '=' and blanks, or - for none"},
    Key{"help", Where::kEverywhere, take_help,
        "help must be one word of at most 255 bytes, with %20 for a blank, %25 for %, %22 for a "
        "quote, or - for none"},
    Key{"sample_units", Where::kOnlyInNew, take_sample_units,
        "sample_units must be at most 255 printable bytes without '=' and blanks, or - for none"},
};

// So much of a token stands in a reason.
constexpr std::size_t kTokenBytesShown = 64;

const Key* find_key(std::string_view word, Where context) {
  for (const Key& key : kKeys) {
    if (key.word == word && (key.where == Where::kEverywhere || key.where == context)) return &key;
  }
  return nullptr;
}

// The keys of a strict line, which a person has typed: feeders alone say what their samples have.
// `name` is in each line that is printed: what it says is compared where the statistic is known. A
// new statistic has no data to discard.
std::vector<std::string> strict_keys(Where context) {
  std::vector<std::string> keys;
  for (const Key& key : kKeys) {
    if (key.where == Where::kOnlyInNew) continue;
    const bool is_of_data = key.take == take_data || key.take == take_undo;
    if (context != Where::kOnlyInNew || !is_of_data) keys.emplace_back(key.word);
  }
  return keys;
}

Error widening(const Token& token) {
  const std::string_view key = token.text.substr(0, token.text.find('='));
  std::string reason = key.size() == token.text.size() ? "no key=value, '" : "no such key, '";
  append_escaped(reason, key, kTokenBytesShown, 0);
  return invalid(std::move(reason) + "': a line without name= is for all statistics", token.at);
}

Error feed_in_line(std::size_t at) {
  return invalid("feed is of the interface, and is set alone: define INTERFACE feed=owner", at);
}

Result<Change> parse(std::string_view line, Where context, Strictness strictness) {
  const bool is_strict = strictness == Strictness::kStrict || has_strict_mark(line);
  Change change{.is_strict = is_strict, .begins_log2_at_zero = is_strict};
  StrictWords words(change.is_strict ? strict_keys(context) : std::vector<std::string>());
  Tokens tokens(line);
  while (const auto token = tokens.next()) {
    if (token->text.starts_with(kFeedKey)) return feed_in_line(token->at);
    if (change.is_strict) {
      if (auto taken = words.take(*token); !taken) return taken.error();
    }
    const auto equals = token->text.find('=');
    if (equals == std::string_view::npos) continue;
    const Key* const key = find_key(token->text.substr(0, equals), context);
    if (!key) continue;
    const std::string_view value = token->text.substr(equals + 1);
    if (!key->take(change, value, token->at)) return invalid(key->refusal(value), token->at);
  }
  if (change.is_strict) {
    if (auto fractions = find_fractions(change)) return *fractions;
  }
  return change;
}

}  // namespace

bool is_known_key(std::string_view word) {
  return std::ranges::count(kKeys, word, &Key::word) != 0 || is_read_only_key(word);
}

Result<Change> parse_change(std::string_view line, Strictness strictness) {
  auto change = parse(line, Where::kOnlyInChange, strictness);
  if (!change || change.value().name || change.value().is_strict) return change;
  Tokens tokens(line);
  while (const auto token = tokens.next()) {
    const auto equals = token->text.find('=');
    if (equals == std::string_view::npos || !is_known_key(token->text.substr(0, equals))) {
      return widening(*token);
    }
  }
  return change;
}

Result<Change> parse_new_statistic(std::string_view text, Strictness strictness) {
  return parse(text, Where::kOnlyInNew, strictness);
}

}  // namespace tallyfs::statistics
