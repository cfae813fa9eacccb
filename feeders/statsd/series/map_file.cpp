#include "feeders/statsd/series/map_file.h"

#include <fnmatch.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/base/text.h"
#include "feeders/text/definition_words.h"

namespace tallyfs::statsd {
namespace {

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
  } else if (key == "scale" || key == "decimals") {
    const auto scale = parse_unsigned(value);
    if (!scale || *scale > 9) return invalid(std::string(key) + "= must be 0 to 9");
    rule.scale = static_cast<unsigned>(*scale);
  } else if (key == "units") {
    if (!is_units(value)) return invalid("units= must be printable, without '='");
    rule.units = value;
  } else {
    return invalid(std::string("unknown key '").append(key).append("'"));
  }
  return {};
}

// Its bounds are in the decimals that were said before it, or that it says.
Result<void> read_definition(MapRule& rule, std::string_view text) {
  std::string line;
  if (rule.scale) line = "decimals=" + std::to_string(*rule.scale) + " ";
  auto words = parse_definition_words(line.append(text));
  if (!words) return words.error();
  DefinitionWords& said = words.value();
  rule.type = std::move(said.type);
  if (!said.units.empty()) rule.units = std::move(said.units);
  if (said.decimals != 0) rule.scale = said.decimals;
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
      if (auto done = read_definition(rule, rest.text); !done) return done.error();
      break;
    }
    if (auto done = apply_setting(rule, key, token->text.substr(equals + 1)); !done) {
      return done.error();
    }
  }
  if (rule.interface.empty()) return invalid("interface= is missing");
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
