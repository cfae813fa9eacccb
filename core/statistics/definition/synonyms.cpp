#include "core/statistics/definition/synonyms.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "core/base/nearest.h"
#include "core/statistics/definition/definition.h"
#include "core/statistics/definition/strict_words.h"

namespace tallyfs::statistics {
namespace {

struct Synonym {
  std::string_view word;
  const char* refusal;
};
constexpr std::array kModeSynonyms = {
    Synonym{"sum", "a sum of X is mode=products, a sum of Y is mode=increments"},
    Synonym{"total", "a sum of X is mode=products, a sum of Y is mode=increments"},
    Synonym{"count", "a count is mode=increments"},
    Synonym{"average", "an average is in type=range, or in mode=range of type=history"},
    Synonym{"avg", "an average is in type=range, or in mode=range of type=history"},
    Synonym{"max", "a largest X is in type=range, or in mode=range of type=history"}};
constexpr std::array kTypeSynonyms = {
    Synonym{"counter", "a counter is type=value here"},
    Synonym{"gauge", "a gauge is type=last here"},
    Synonym{"histogram", "a histogram is type=array or type=quantiles here"},
    Synonym{"summary", "a summary is type=quantiles here"},
    Synonym{"percentiles", "percentiles are type=quantiles here"}};

const char* refusal_of(std::span<const Synonym> synonyms, std::string_view word) {
  const auto meant = std::ranges::find(synonyms, word, &Synonym::word);
  return meant == synonyms.end() ? nullptr : meant->refusal;
}

}  // namespace

std::string refusal_of_type(std::string_view word) {
  if (const char* const refusal = refusal_of(kTypeSynonyms, word)) return refusal;
  std::vector<std::string> types;
  each_type([&]<typename S>() { types.emplace_back(S::kType); });
  return "type must be " + listed(types) + did_you_mean(word, types);
}

const char* refusal_of_mode_synonym(std::string_view word) {
  return refusal_of(kModeSynonyms, word);
}

}  // namespace tallyfs::statistics
