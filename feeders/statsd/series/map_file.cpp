#include "feeders/statsd/series/map_file.h"

#include <fnmatch.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/base/text.h"
#include "core/definition/change.h"

namespace tallyfs::statsd {
namespace {

template <typename S>
tally::Type to_public(const S& settings, tally::Range range) {
  if constexpr (std::is_same_v<S, ValueSettings>) {
    return tally::Value{range, settings.mode == Mode::kProducts ? tally::Mode::kProducts
                                                                : tally::Mode::kIncrements};
  } else if constexpr (std::is_same_v<S, RangeSettings>) {
    return tally::MinMax{range};
  } else if constexpr (std::is_same_v<S, ListSettings>) {
    return tally::List{range, settings.entries_max};
  } else if constexpr (std::is_same_v<S, ArraySettings>) {
    return tally::Array{range, settings.base_interval,
                        settings.scale == Scale::kLog2 ? tally::Scale::kLog2 : tally::Scale::kLin};
  } else if constexpr (std::is_same_v<S, RawSettings>) {
    return tally::Raw{range, settings.entries_max};
  } else if constexpr (std::is_same_v<S, QuantilesSettings>) {
    return tally::Quantiles{range, settings.precision, std::string(settings.quantiles.text())};
  } else if constexpr (std::is_same_v<S, LastSettings>) {
    return tally::Last{range};
  } else {
    static_assert(std::is_same_v<S, HistorySettings>);
    if (settings.mode == Mode::kQuantiles) {
      return tally::QuantileHistory{range, settings.entries_max, settings.period,
                                    settings.precision, std::string(settings.quantiles.text())};
    }
    const auto mode = settings.mode == Mode::kRange      ? tally::Mode::kRange
                      : settings.mode == Mode::kProducts ? tally::Mode::kProducts
                                                         : tally::Mode::kIncrements;
    return tally::History{range, settings.entries_max, settings.period, mode};
  }
}

Result<tally::Type> parse_type(std::string_view text) {
  const auto change = parse_new_statistic(text);
  if (!change) return change.error();
  const auto definition = apply(change.value(), Definition{});
  if (!definition) return definition.error();
  const tally::Range range{definition.value().range_min, definition.value().range_max};
  return std::visit([&](const auto& settings) { return to_public(settings, range); },
                    definition.value().settings);
}

std::vector<std::string> keys_of(std::string_view list) {
  std::vector<std::string_view> keys;
  split_tags(list, keys);
  return {keys.begin(), keys.end()};
}

// The setting of a token key=value; "type" and what is behind it are no setting.
Result<void> apply_setting(MapRule& rule, std::string_view key, std::string_view value) {
  if (key == "interface") {
    if (!is_name(value)) return invalid("interface= must be the name of an interface");
    rule.interface = value;
  } else if (key == "keep-tags") {
    rule.tags.keeps_all = false;
    rule.tags.keep = keys_of(value);
  } else if (key == "drop-tags") {
    rule.tags.drop = keys_of(value);
  } else if (key == "scale") {
    const auto scale = parse_unsigned(value);
    if (!scale || *scale > 9) return invalid("scale= must be 0 to 9");
    rule.scale = static_cast<unsigned>(*scale);
  } else if (key == "units") {
    if (!is_units(value)) return invalid("units= must be printable, without '='");
    rule.units = value;
  } else {
    return invalid(std::string("unknown key '").append(key).append("'"));
  }
  return {};
}

Result<MapRule> parse_rule(std::string_view line) {
  MapRule rule;
  Tokens tokens(line);
  rule.pattern = tokens.next()->text;
  for (Token rest = tokens.rest();; rest = tokens.rest()) {
    const auto token = tokens.next();
    if (!token) break;
    const std::size_t equals = token->text.find('=');
    if (equals == std::string_view::npos) {
      return invalid(std::string("'").append(token->text).append("' is no key=value"));
    }
    const std::string_view key = token->text.substr(0, equals);
    if (key == "type") {
      auto type = parse_type(rest.text);
      if (!type) return type.error();
      rule.type = std::move(type.value());
      break;
    }
    if (auto done = apply_setting(rule, key, token->text.substr(equals + 1)); !done) {
      return done.error();
    }
  }
  if (rule.interface.empty()) return invalid("interface= is missing");
  const unsigned scale = rule.scale.value_or(0);
  // Programs that read the tree show thousandths and millionths, or milliseconds, as numbers.
  if (scale != 0 && scale != 3 && scale != 6 && !rule.units) {
    return invalid("scale= of other than 0, 3 and 6 needs units=");
  }
  return rule;
}

}  // namespace

Result<std::vector<MapRule>> parse_map(std::string_view text) {
  std::vector<MapRule> rules;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    auto rule = parse_rule(line);
    if (rule && rules.size() == kMapRulesMax) rule = invalid("there are more than 1024 rules");
    if (!rule) return invalid("line " + std::to_string(number) + ": " + rule.error().reason);
    rules.push_back(std::move(rule.value()));
  }
  return rules;
}

const MapRule* find_rule(const std::vector<MapRule>& rules, const std::string& name) {
  for (const MapRule& rule : rules) {
    if (::fnmatch(rule.pattern.c_str(), name.c_str(), 0) == 0) return &rule;
  }
  return nullptr;
}

}  // namespace tallyfs::statsd
