// Applies a change to a definition.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "core/base/decimal.h"
#include "core/base/unit_factor.h"
#include "core/statistics/definition/array_bounds.h"
#include "core/statistics/definition/change.h"

namespace tallyfs::statistics {
namespace {

// The bound of the range as long as no line gives one.
bool is_no_bound(std::int64_t bound) {
  using Limits = std::numeric_limits<std::int64_t>;
  return bound == Limits::min() || bound == Limits::max();
}

// digits * 10^up into `to`. False: it does not fit.
template <typename Digits>
bool take_scaled(Digits digits, unsigned up, Digits& to) {
  return !__builtin_mul_overflow(digits, static_cast<Digits>(kPowersOfTen[up]), &to);
}

// A number of the line as an integer of so many places.
template <typename Number, typename Digits>
Result<void> take_typed(const Requested<Number>& typed, std::string_view key, unsigned decimals,
                        Digits& to) {
  const auto& [digits, places] = typed.value;
  const std::string name(key);
  if (places > decimals) {
    return invalid(decimals == 0
                       ? name + " must be a whole number: decimals= is not set"
                       : name + " has more places than decimals=" + std::to_string(decimals),
                   typed.at);
  }
  if (take_scaled<Digits>(digits, decimals - places, to)) return {};
  return invalid(name + " is too large with decimals=" + std::to_string(decimals), typed.at);
}

Result<void> take_bound(const std::optional<Requested<Typed>>& typed, std::string_view key,
                        unsigned decimals, std::int64_t& bound) {
  if (!typed) return {};
  if (typed->value.places != 0 || !is_no_bound(typed->value.digits)) {
    return take_typed(*typed, key, decimals, bound);
  }
  bound = typed->value.digits;
  return {};
}

// The values of the definition are kept when the number of places changes.
template <typename Digits>
bool rescale(Digits& digits, unsigned before, unsigned after) {
  if (after >= before) return take_scaled<Digits>(digits, after - before, digits);
  const auto power = static_cast<Digits>(kPowersOfTen[before - after]);
  const bool is_exact = digits % power == 0;
  digits /= power;
  return is_exact;
}

Result<void> take_decimals(const Change& change, Definition& definition) {
  if (!change.decimals) return {};
  const unsigned before = definition.decimals;
  const unsigned after = change.decimals->value;
  definition.decimals = change.decimals->value;
  const auto refused = [&](std::string_view key) {
    return invalid(
        std::string(key) +
            " must be said anew: as it is, it does not go with decimals=" + std::to_string(after),
        change.decimals->at);
  };
  const auto keep = [&](bool is_said, std::int64_t& bound) {
    return is_said || is_no_bound(bound) || rescale(bound, before, after);
  };
  if (!keep(change.range_min.has_value(), definition.range_min)) return refused("range_min");
  if (!keep(change.range_max.has_value(), definition.range_max)) return refused("range_max");
  auto* const array = std::get_if<ArraySettings>(&definition.settings);
  const bool is_kept = array && !change.type && !change.base_interval;
  if (is_kept && !rescale(array->base_interval, before, after)) return refused("base_interval");
  return {};
}

// base_interval is a number in the places of X.
Result<void> take_base_interval(const Change& change, Definition& definition) {
  auto* const array = std::get_if<ArraySettings>(&definition.settings);
  if (!array || !change.base_interval) return {};
  return take_typed(*change.base_interval, attribute::BaseInterval::kKey, definition.decimals,
                    array->base_interval);
}

// Takes over the attributes that the type has; returns those it has and was not given.
std::string merge(const Change& change, Settings& settings) {
  std::string missing;
  std::visit(
      [&](auto& alternative) {
        alternative.each_attribute(alternative, [&](auto attribute, auto& field) {
          if (const auto& asked = change.asked(attribute)) {
            if constexpr (requires { field = asked->value; }) field = asked->value;
          } else if constexpr (!requires { attribute.kDefault; }) {
            missing.append(" ").append(attribute.kKey);
          }
        });
      },
      settings);
  return missing;
}

// The attributes of mode=quantiles are there with that mode and with no other. False: they are not.
bool has_its_attributes(HistorySettings& history) {
  if (history.mode == Mode::kQuantiles) {
    return history.precision != HistorySettings::kNoPrecision && !history.quantiles.empty();
  }
  history.precision = HistorySettings::kNoPrecision;
  history.quantiles = {};
  return true;
}

// People read decimal numbers. A line that was printed leaves out base=16, so that a strict one
// leaves the base of a list that is there.
Base base_of_type(const Change& change, const Definition& before) {
  if (!change.is_strict) return attribute::BaseNumber::kDefault;
  const auto* const list = std::get_if<ListSettings>(&before.settings);
  return list ? list->base : Base::kDecimal;
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
  if (value && (value->mode == Mode::kRange || value->mode == Mode::kQuantiles)) {
    return Error{ErrorCode::kInvalid,
                 value->mode == Mode::kRange ? "mode=range is for type=history only"
                                             : "mode=quantiles is for type=history only",
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

bool is_log2(const Definition& definition) {
  const auto* const array = std::get_if<ArraySettings>(&definition.settings);
  return array && array->scale == Scale::kLog2;
}
// Times and sizes are not below 0, and intervals that double from the least number on have all of
// them in one. An array that is there keeps its range: a line as it is shown changes nothing.
bool becomes_open_log2(const Change& change, const Definition& before, const Definition& after) {
  return change.begins_log2_at_zero && is_log2(after) && !is_log2(before) && change.scale &&
         !change.range_min && after.range_max >= 0 &&
         after.range_min == std::numeric_limits<std::int64_t>::min();
}

// As units= says of X.
bool is_time_or_size(std::string_view units) {
  const auto slash = units.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string measure(measure_of(units.substr(0, slash)));
  const std::string_view base = unit_of_x(measure + "/").base;
  return base == "seconds" || base == "bytes";
}

// The result of apply() before the rules between attributes are checked.
Result<Definition> merge(const Change& change, const Definition& before) {
  Definition after = before;
  if (auto taken = take_decimals(change, after); !taken) return taken.error();
  if (change.type) after.settings = change.type->value;
  auto* const list = std::get_if<ListSettings>(&after.settings);
  if (list && change.type) list->base = base_of_type(change, before);
  const std::string missing = merge(change, after.settings);
  if (change.type && !missing.empty()) {
    return Error{ErrorCode::kInvalid, "this type also needs:" + missing, change.type->at};
  }
  auto* const history = std::get_if<HistorySettings>(&after.settings);
  if (history && !has_its_attributes(*history)) {
    return Error{ErrorCode::kInvalid, "mode=quantiles also needs precision and quantiles",
                 blame(change, &Change::mode)};
  }
  auto taken = take_base_interval(change, after);
  if (taken) taken = take_bound(change.range_min, "range_min", after.decimals, after.range_min);
  if (taken) taken = take_bound(change.range_max, "range_max", after.decimals, after.range_max);
  if (!taken) return taken.error();
  if (change.units) after.units = change.units->value;
  if (becomes_open_log2(change, before, after) && is_time_or_size(after.units)) after.range_min = 0;
  return after;
}

std::uint8_t most_places(const Change& change) {
  unsigned most = 0;
  const auto look = [&](const auto& typed) {
    if (typed) most = std::max(most, typed->value.places);
  };
  look(change.range_min);
  look(change.range_max);
  look(change.base_interval);
  return static_cast<std::uint8_t>(most);
}

}  // namespace

Result<Definition> apply(const Change& change, const Definition& before) {
  auto after = merge(change, before);
  if (!after) return after;
  if (const auto checked = check(change, after.value()); !checked) return checked.error();
  return after;
}

Result<Attributes> check_alone(const Change& change) {
  Change known = change;
  // Without a type they may be for any.
  if (!change.type) {
    known = Change{.range_min = change.range_min,
                   .range_max = change.range_max,
                   .decimals = change.decimals,
                   .base_interval = change.base_interval};
  }
  // Without decimals= the numbers may be for any that are enough.
  Definition before;
  if (!change.decimals) before.decimals = most_places(known);
  const auto after = merge(known, before);
  if (!after) return after.error();
  // With the range of its statistic, which the change leaves, an array may be small enough.
  const bool is_array = std::holds_alternative<ArraySettings>(after.value().settings);
  const bool has_range = change.range_min && change.range_max;
  if (!is_array || has_range) {
    if (auto checked = check(known, after.value()); !checked) return checked.error();
  }
  return change.type ? attributes_of(after.value().settings) : Attributes().set();
}

}  // namespace tallyfs::statistics
