#include "core/statistics/definition/unread_words.h"

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/base/nearest.h"
#include "core/base/text.h"

namespace tallyfs::statistics {
namespace {

constexpr std::array kAttributeKeys = {attribute::EntriesMax::kKey,   attribute::BaseNumber::kKey,
                                       attribute::BaseInterval::kKey, attribute::ScaleWord::kKey,
                                       attribute::ModeWord::kKey,     attribute::Period::kKey,
                                       attribute::Precision::kKey,    attribute::Quantiles::kKey};
static_assert(kAttributeKeys.size() == Attributes().size());

// The place of the key in key=value among the attributes; their number: it is not one of them.
std::size_t place_of_attribute(std::string_view key) {
  const auto found = std::ranges::find(kAttributeKeys, key);
  return static_cast<std::size_t>(found - kAttributeKeys.begin());
}

// Whether the key is for definitions that have other attributes.
bool is_for_others(std::string_view key, Attributes attributes) {
  const std::size_t place = place_of_attribute(key);
  return place != kAttributeKeys.size() && !attributes.test(place);
}

// "type=list, history or raw": those that have the attribute. Its type can have it, if its mode is
// the one that needs it.
std::string types_with(std::size_t place) {
  std::vector<std::string> words;
  each_type([&]<typename S>() {
    S settings{};
    if (attributes_of(settings).test(place)) {
      words.emplace_back(S::kType);
    } else if constexpr (std::is_same_v<S, HistorySettings>) {
      settings.mode = Mode::kQuantiles;
      if (attributes_of(settings).test(place)) words.emplace_back("history with mode=quantiles");
    }
  });
  return "type=" + listed(words);
}

std::string percentages_text(const QuantileList& fractions) {
  std::string text;
  for (std::size_t i = 0; i < fractions.size(); ++i) {
    const std::uint32_t hundredths = fractions.millionths(i);
    std::string decimals = std::to_string(100 + hundredths % 100).replace(0, 1, ".");
    decimals.erase(decimals.find_last_not_of('0') + 1);
    text.append(i == 0 ? "" : ",").append(std::to_string(hundredths / 100));
    if (decimals.size() > 1) text.append(decimals);
  }
  return text;
}

}  // namespace

Attributes attributes_of(const Settings& settings) {
  Attributes attributes;
  std::visit(
      [&](const auto& alternative) {
        alternative.each_attribute(alternative, [&](auto attribute, const auto&) {
          attributes.set(place_of_attribute(attribute.kKey));
        });
      },
      settings);
  return attributes;
}

std::optional<Error> find_ignored_key(std::string_view line, Attributes attributes) {
  Tokens tokens(line);
  while (const auto token = tokens.next()) {
    const auto equals = token->text.find('=');
    if (is_strict_mark(token->text)) continue;
    if (equals == std::string_view::npos) {
      return invalid("this is no key=value, and it was ignored", token->at);
    }
    const std::string_view word = token->text.substr(0, equals);
    if (!is_known_key(word)) return invalid("there is no such key, and it was ignored", token->at);
    if (!is_for_others(word, attributes)) continue;
    return invalid(std::string(word) + " is for other types, and it was ignored", token->at);
  }
  return std::nullopt;
}

Result<void> check_all_read(std::string_view line, Attributes attributes) {
  Tokens tokens(line);
  while (const auto token = tokens.next()) {
    const std::string_view key = token->text.substr(0, token->text.find('='));
    if (!is_for_others(key, attributes)) continue;
    return invalid(std::string(key) + " is for " + types_with(place_of_attribute(key)), token->at);
  }
  return {};
}

std::optional<Error> find_fractions(const Change& change) {
  constexpr std::uint32_t kOnePercent = 10'000;
  if (!change.quantiles) return std::nullopt;
  const QuantileList& quantiles = change.quantiles->value;
  if (quantiles.millionths(quantiles.size() - 1) >= kOnePercent) return std::nullopt;
  return invalid("quantiles are percentages: " + percentages_text(quantiles), change.quantiles->at);
}

}  // namespace tallyfs::statistics
