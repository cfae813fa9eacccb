#include "tools/display/type_lines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "core/base/statistic_types.h"
#include "core/base/text.h"
#include "tools/display/look.h"
#include "tools/display/quantity.h"
#include "tools/display/summary.h"

namespace tallyfs::view {
namespace {

constexpr std::string_view kLeast = "-9223372036854775808";
constexpr std::string_view kMost = "9223372036854775807";
// Keys that a definition line may have (docs/statistics.md).
constexpr std::array<std::string_view, 18> kKeys = {
    "name",          "of",        "on",        "type",        "mode",  "scale",
    "base_interval", "range_min", "range_max", "entries_max", "base",  "precision",
    "quantiles",     "period",    "data",      "decimals",    "units", "help"};
constexpr int kBinsWanted = 64;  // of an array with a linear scale

// The least and the greatest X that there were, as far as the values tell.
struct Extremes {
  std::optional<double> min;
  std::optional<double> max;

  void take(double x) {
    min = std::min(min.value_or(x), x);
    max = std::max(max.value_or(x), x);
  }
  template <typename X>
  void take(const std::optional<X>& x) {
    if (x) take(static_cast<double>(*x));
  }
};

struct FindExtremes {
  Extremes found{};

  void operator()(const Value&) {}
  void operator()(const Range& range) {
    found.take(range.min);
    found.take(range.max);
  }
  void operator()(const List& list) {
    for (const std::int64_t x : list.x) found.take(static_cast<double>(x));
  }
  void operator()(const Array& array) {
    for (std::size_t i = 0; i < std::min(array.counts.size(), array.bounds.size() + 1); ++i) {
      if (array.counts[i] == 0 || array.bounds.empty()) continue;
      // How far X is beyond the last bound is unknown.
      const bool is_beyond = i == array.bounds.size();
      found.take(static_cast<double>(array.bounds[is_beyond ? i - 1 : i]) * (is_beyond ? 4 : 1));
    }
  }
  void operator()(const Raw& raw) {
    for (const std::int64_t x : raw.x) found.take(static_cast<double>(x));
  }
  void operator()(const Quantiles& quantiles) { operator()(quantiles.all); }
  void operator()(const Last& last) {
    if (last.time_us) found.take(static_cast<double>(last.x));
  }
  void operator()(const History& history) {
    for (const auto& x : history.min) found.take(x);
    for (const auto& x : history.max) found.take(x);
  }
};

Extremes extremes_of(const Statistic& statistic) {
  FindExtremes find;
  std::visit(find, statistic.values);
  return find.found;
}

// The first power of two from 16 on that is not below x; at most 2^62.
std::int64_t octave_above(double x) {
  int exponent = 4;
  while (exponent < 62 && std::ldexp(1.0, exponent) < x) ++exponent;
  return std::int64_t{1} << exponent;
}

// Where nothing was counted: a minute, a GiB, or a million.
double greatest_of(const Statistic& statistic) {
  const Quantity quantity = quantity_of_x(statistic);
  if (quantity.kind == Quantity::Kind::kTime) return 60e9 / quantity.factor;
  if (quantity.kind == Quantity::Kind::kBytes) return std::ldexp(1.0, 30) / quantity.factor;
  return 1e6 * static_cast<double>(kPowersOfTen[statistic.decimals()]);
}

class Proposal {
 public:
  Proposal(const Statistic* statistic, std::string_view type)
      : statistic_(statistic), type_(type) {}

  // In the order of the definition file.
  std::vector<std::string_view> needed(std::string_view mode) const {
    if (type_ == "value") return {"mode"};
    if (type_ == "list" || type_ == "raw") return {"entries_max"};
    if (type_ == "array") return {"base_interval", "scale"};
    if (type_ == "quantiles") return {"precision", "quantiles"};
    if (type_ != "history") return {};
    std::vector<std::string_view> keys = {"entries_max", "mode", "period"};
    if (mode == "quantiles") keys.insert(keys.end(), {"precision", "quantiles"});
    return keys;
  }

  std::string mode() const {
    const std::string_view old = old_key("mode");
    if (old == "increments" || old == "products") return std::string(old);
    if (type_ == "value") return "increments";
    const std::string_view from = statistic_ ? std::string_view(statistic_->type) : "";
    return from == "array" || from == "quantiles" ? "quantiles" : "range";
  }

  std::string value_of(std::string_view key) const {
    if (key == "mode") return mode();
    if (key == "base_interval") return text_of(base_interval());
    if (key == "scale") return is_linear() ? "lin" : "log2";
    if (const auto old = old_key(key); !old.empty()) return std::string(old);
    if (key == "entries_max") return type_ == "history" ? "300" : "100";
    if (key == "period") return "1000000";
    if (key == "precision") return "5";
    return "50,90,99,99.9";
  }

  std::string range_min() const {
    if (const auto asked = asked_end("range_min")) return *asked;
    if (!is_linear()) return "0";
    return text_of(-octave_above(2 * std::abs(*extremes().min)));
  }
  std::string range_max() const {
    if (const auto asked = asked_end("range_max")) return *asked;
    const double seen = extremes().max.value_or(0);
    return text_of(
        octave_above(seen > 0 ? 4 * seen : greatest_of(statistic_ ? *statistic_ : Statistic{})));
  }

 private:
  std::string_view old_key(std::string_view key) const {
    return statistic_ ? statistic_->key(key) : std::string_view();
  }
  unsigned decimals() const { return statistic_ ? statistic_->decimals() : 0; }
  std::string text_of(std::int64_t x) const {
    std::string text;
    append_fixed(text, x, decimals());
    return text;
  }
  Extremes extremes() const { return statistic_ ? extremes_of(*statistic_) : Extremes{}; }
  // An octave below zero would be wider than all that was seen.
  bool is_linear() const { return extremes().min.value_or(0) < 0; }

  // An end that the statistic has beside its type: only samples within were wanted.
  std::optional<std::string> asked_end(std::string_view key) const {
    const std::string_view old = old_key(key);
    if (old.empty() || is_open_end(key, old) || statistic_->type == "array") return std::nullopt;
    return std::string(old);
  }

  std::int64_t base_interval() const {
    if (!is_linear()) return 1;
    const auto low = parse_fixed(range_min(), decimals()).value_or(Fixed{}).value;
    const auto high = parse_fixed(range_max(), decimals()).value_or(Fixed{}).value;
    const double width = (static_cast<double>(high) - static_cast<double>(low)) / kBinsWanted;
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(width)));
  }

  const Statistic* statistic_;
  std::string_view type_;
};

void append_key(std::string& line, std::string_view key, std::string_view value) {
  line.append(" ").append(key).append("=").append(value);
}

std::string without_unknown_keys(std::string_view line) {
  std::string known;
  Tokens tokens(line);
  while (const auto token = tokens.next()) {
    const std::string_view key = token->text.substr(0, token->text.find('='));
    if (std::ranges::find(kKeys, key) == kKeys.end()) continue;
    known.append(known.empty() ? "" : " ").append(token->text);
  }
  return known;
}

std::string_view key_in(std::string_view line, std::string_view key) {
  Tokens tokens(line);
  std::string_view found;
  while (const auto token = tokens.next()) {
    const auto equals = token->text.find('=');
    if (equals != token->text.npos && token->text.substr(0, equals) == key) {
      found = token->text.substr(equals + 1);
    }
  }
  return found;
}

}  // namespace

bool is_open_end(std::string_view key, std::string_view value) {
  std::string digits(value);
  std::erase(digits, '.');  // of decimals=
  return (key == "range_min" && digits == kLeast) || (key == "range_max" && digits == kMost);
}

std::string definition_line(const Statistic& statistic) {
  std::string text = "name=" + statistic.name;
  for (const Key& key : statistic.definition) {
    if (key.name == "name" || is_open_end(key.name, key.value)) continue;
    append_key(text, key.name, key.value);
  }
  return text;
}

std::string line_as(const Statistic& statistic, std::string_view type) {
  if (statistic.type == type) return definition_line(statistic);
  const Proposal proposal(&statistic, type);
  std::string line = "name=" + statistic.name;
  for (const char* key : {"of", "on"}) {
    if (const auto value = statistic.key(key); !value.empty()) append_key(line, key, value);
  }
  append_key(line, "type", type);
  for (const std::string_view key : proposal.needed(proposal.mode())) {
    append_key(line, key, proposal.value_of(key));
  }
  if (type == "array") {
    append_key(line, "range_min", proposal.range_min());
    append_key(line, "range_max", proposal.range_max());
    return line;
  }
  // An array's range is its scale; what is outside would be dropped by other types.
  const bool was_array = statistic.type == "array";
  for (const auto& [key, open] : {std::pair("range_min", kLeast), std::pair("range_max", kMost)}) {
    const std::string_view end = statistic.key(key);
    if (end.empty() || is_open_end(key, end)) continue;
    append_key(line, key, was_array ? open : end);
  }
  return line;
}

std::optional<std::string> completed_line(std::string_view asked_line, const Statistic* statistic) {
  const std::string line = without_unknown_keys(asked_line);
  const std::string_view type = key_in(line, "type");
  if (std::ranges::find(kStatisticTypes, type) == std::end(kStatisticTypes)) return std::nullopt;
  const Proposal proposal(statistic, type);
  const std::string_view asked = key_in(line, "mode");
  std::string made(line);
  for (const std::string_view key :
       proposal.needed(asked.empty() ? std::string_view(proposal.mode()) : asked)) {
    if (key_in(line, key).empty()) append_key(made, key, proposal.value_of(key));
  }
  if (made == line) return std::nullopt;
  if (type == "array" && key_in(line, "range_min").empty() && key_in(line, "range_max").empty()) {
    append_key(made, "range_min", proposal.range_min());
    append_key(made, "range_max", proposal.range_max());
  }
  return made;
}

std::string held_text(const Statistic& statistic) {
  if (const auto count = count_of(statistic)) {
    return *count == 0 ? "" : samples_text(*count, statistic.units);
  }
  if (const auto* value = std::get_if<Value>(&statistic.values)) {
    return value->total == 0 ? "" : "a total of " + values_text(statistic, Look{});
  }
  const auto* list = std::get_if<List>(&statistic.values);
  const auto* raw = std::get_if<Raw>(&statistic.values);
  const auto* history = std::get_if<History>(&statistic.values);
  if (list && list->x.empty()) return {};
  if (raw && raw->x.empty()) return {};
  if (history) return history->end_us.empty() ? "" : "its periods";
  if (const auto* last = std::get_if<Last>(&statistic.values)) {
    return last->time_us ? "the newest sample" : "";
  }
  return values_text(statistic, Look{});
}

}  // namespace tallyfs::view
