#include "core/definition/change.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/text.h"
#include "core/definition/array_bounds.h"

namespace tallyfs {
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

bool take_name(Change& change, std::string_view value, std::size_t at) {
  change.name = {value, at};
  return is_name(value);
}

bool take_units(Change& change, std::string_view value, std::size_t at) {
  change.units = {value, at};
  return is_units(value);
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

template <std::size_t I = 0>
bool take_type(Change& change, std::string_view value, std::size_t at) {
  if constexpr (I < std::variant_size_v<Settings>) {
    using Alternative = std::variant_alternative_t<I, Settings>;
    if (value != Alternative::kType) return take_type<I + 1>(change, value, at);
    change.type = {Alternative{}, at};
    return true;
  }
  return false;
}

template <std::optional<Requested<std::int64_t>> Change::*kMember>
bool take_signed(Change& change, std::string_view value, std::size_t at) {
  return set(change.*kMember, parse_signed(value), at);
}

bool take_entries_max(Change& change, std::string_view value, std::size_t at) {
  const std::uint64_t number = parse_unsigned(value).value_or(0);
  change.entries_max = {static_cast<std::uint32_t>(number), at};
  return number >= 1 && number <= kEntriesMaxBound;
}

bool take_base_interval(Change& change, std::string_view value, std::size_t at) {
  change.base_interval = {parse_unsigned(value).value_or(0), at};
  return change.base_interval->value >= 1;
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
                                 std::pair{std::string_view("range"), Mode::kRange}};
  for (const auto& [word, mode] : kModes) {
    if (value != word) continue;
    change.mode = {mode, at};
    return true;
  }
  return false;
}

struct Key {
  std::string_view word;
  Where where;
  Take take;
  const char* rule;
};

static_assert(kEntriesMaxBound == 1'048'576 && kPeriodMax.count() == 3'153'600'000'000'000,
              "the rules below name the bounds");
constexpr std::array kKeys = {
    Key{"name", Where::kOnlyInChange, take_name, "not a statistic's name"},
    Key{"on", Where::kEverywhere, take_on, "on must be 0 or 1"},
    Key{"data", Where::kOnlyInChange, take_data, ""},
    Key{"type", Where::kEverywhere, take_type<>,
        "type must be value, range, list, array, history or raw"},
    Key{"range_min", Where::kEverywhere, take_signed<&Change::range_min>,
        "range_min must be a signed 64-bit number"},
    Key{"range_max", Where::kEverywhere, take_signed<&Change::range_max>,
        "range_max must be a signed 64-bit number"},
    Key{"entries_max", Where::kEverywhere, take_entries_max,
        "entries_max must be a number from 1 to 1048576"},
    Key{"base_interval", Where::kEverywhere, take_base_interval,
        "base_interval must be a 64-bit number, 1 or more"},
    Key{"scale", Where::kEverywhere, take_scale, "scale must be lin or log2"},
    Key{"mode", Where::kEverywhere, take_mode, "mode must be increments, products or range"},
    Key{"period", Where::kEverywhere, take_period,
        "period must be a number of microseconds from 1 to 3153600000000000"},
    Key{"units", Where::kOnlyInNew, take_units,
        "units must be at most 255 printable bytes without '='"},
};

// So much of a token stands in a reason.
constexpr std::size_t kTokenBytesShown = 64;

// Keys of the file that a line cannot set.
constexpr std::array<std::string_view, 4> kReadOnlyKeys = {"hits_out_of_range", "hits_missed",
                                                           "started", "stopped"};

const Key* find_key(std::string_view word, Where context) {
  for (const Key& key : kKeys) {
    if (key.word == word && (key.where == Where::kEverywhere || key.where == context)) return &key;
  }
  return nullptr;
}

// Whether a line of the definition file may have the key, to be set or to be ignored.
bool is_known(std::string_view word) {
  return std::ranges::count(kKeys, word, &Key::word) != 0 ||
         std::ranges::count(kReadOnlyKeys, word) != 0;
}

Error widening(const Token& token) {
  const std::string_view key = token.text.substr(0, token.text.find('='));
  std::string reason = key.size() == token.text.size() ? "no key=value, '" : "no such key, '";
  append_escaped(reason, key, kTokenBytesShown, 0);
  return invalid(std::move(reason) + "': a line without name= is for all statistics", token.at);
}

Result<Change> parse(std::string_view line, Where context) {
  Change change;
  Tokens tokens(line);
  while (const auto token = tokens.next()) {
    const auto equals = token->text.find('=');
    if (equals == std::string_view::npos) continue;
    const Key* const key = find_key(token->text.substr(0, equals), context);
    if (!key) continue;
    if (!key->take(change, token->text.substr(equals + 1), token->at)) {
      return Error{ErrorCode::kInvalid, key->rule, token->at};
    }
  }
  return change;
}

// One for each type: shows `visit` its attributes by key, field, and what the change asks.
template <typename Visit>
void each_attribute(ValueSettings& settings, const Change& change, Visit visit) {
  visit("mode", settings.mode, change.mode);
}

template <typename Visit>
void each_attribute(RangeSettings&, const Change&, Visit) {}

template <typename Visit>
void each_attribute(ListSettings& settings, const Change& change, Visit visit) {
  visit("entries_max", settings.entries_max, change.entries_max);
}

template <typename Visit>
void each_attribute(ArraySettings& settings, const Change& change, Visit visit) {
  visit("base_interval", settings.base_interval, change.base_interval);
  visit("scale", settings.scale, change.scale);
}

template <typename Visit>
void each_attribute(HistorySettings& settings, const Change& change, Visit visit) {
  visit("entries_max", settings.entries_max, change.entries_max);
  visit("mode", settings.mode, change.mode);
  visit("period", settings.period, change.period);
}

template <typename Visit>
void each_attribute(RawSettings& settings, const Change& change, Visit visit) {
  visit("entries_max", settings.entries_max, change.entries_max);
}

// The types that have this key among their attributes.
template <std::size_t... Is>
Types types_with(std::string_view key, std::index_sequence<Is...>) {
  Types types;
  const auto look = [&]<std::size_t I>() {
    std::variant_alternative_t<I, Settings> settings;
    each_attribute(settings, Change{}, [&](std::string_view each, const auto&, const auto&) {
      if (each == key) types.set(I);
    });
  };
  (look.template operator()<Is>(), ...);
  return types;
}

Types types_with(std::string_view key) {
  return types_with(key, std::make_index_sequence<std::variant_size_v<Settings>>());
}

// Takes over the attributes that the type has; returns those it has and was not given.
std::string merge(const Change& change, Settings& settings) {
  std::string missing;
  std::visit(
      [&](auto& alternative) {
        each_attribute(alternative, change, [&](const char* key, auto& field, const auto& asked) {
          if (asked) {
            field = asked->value;
          } else {
            missing.append(" ").append(key);
          }
        });
      },
      settings);
  return missing;
}

// The token of the first of these that the line has.
template <typename... Members>
std::size_t blame(const Change& change, Members... members) {
  std::size_t at = Error::kNoToken;
  (void)((change.*members ? (at = (change.*members)->at, true) : false) || ...);
  return at;
}

// Rules between attributes, which no token breaks alone.
Result<void> check(const Change& change, const Definition& definition) {
  if (definition.range_min > definition.range_max) {
    return Error{ErrorCode::kInvalid, "range_min must not be above range_max",
                 blame(change, &Change::range_min, &Change::range_max)};
  }
  const auto* const value = std::get_if<ValueSettings>(&definition.settings);
  if (value && value->mode == Mode::kRange) {
    return Error{ErrorCode::kInvalid, "mode=range is for type=history only",
                 blame(change, &Change::mode)};
  }
  const auto* const array = std::get_if<ArraySettings>(&definition.settings);
  if (array && !ArrayBounds(*array, definition.range_min, definition.range_max).is_small_enough()) {
    return Error{ErrorCode::kInvalid,
                 "more than " + std::to_string(kIntervalsBound) +
                     " intervals: range or base_interval must change",
                 blame(change, &Change::base_interval, &Change::range_max, &Change::range_min,
                       &Change::scale)};
  }
  return {};
}

}  // namespace

Result<Change> parse_change(std::string_view line) {
  auto change = parse(line, Where::kOnlyInChange);
  if (!change || change.value().name) return change;
  Tokens tokens(line);
  while (const auto token = tokens.next()) {
    const auto equals = token->text.find('=');
    if (equals == std::string_view::npos || !is_known(token->text.substr(0, equals))) {
      return widening(*token);
    }
  }
  return change;
}

std::optional<Error> find_ignored_key(std::string_view line, Types types) {
  Tokens tokens(line);
  while (const auto token = tokens.next()) {
    const auto equals = token->text.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view word = token->text.substr(0, equals);
    if (!is_known(word)) return invalid("there is no such key, and it was ignored", token->at);
    const Types users = types_with(word);
    if (users.none() || (users & types).any()) continue;
    return invalid(std::string(word) + " is for other types, and it was ignored", token->at);
  }
  return std::nullopt;
}

Result<Change> parse_new_statistic(std::string_view text) { return parse(text, Where::kOnlyInNew); }

Result<Definition> apply(const Change& change, const Definition& before) {
  Definition after = before;
  if (change.type) after.settings = change.type->value;
  const std::string missing = merge(change, after.settings);
  if (change.type && !missing.empty()) {
    return Error{ErrorCode::kInvalid, "this type also needs:" + missing, change.type->at};
  }
  if (change.range_min) after.range_min = change.range_min->value;
  if (change.range_max) after.range_max = change.range_max->value;
  if (change.units) after.units = change.units->value;
  if (const auto checked = check(change, after); !checked) return checked.error();
  return after;
}

}  // namespace tallyfs
