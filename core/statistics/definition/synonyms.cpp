#include "core/statistics/definition/synonyms.h"

#include <algorithm>
#include <array>
#include <span>

namespace tallyfs {
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

const char* refusal_of_type_synonym(std::string_view word) {
  return refusal_of(kTypeSynonyms, word);
}

const char* refusal_of_mode_synonym(std::string_view word) {
  return refusal_of(kModeSynonyms, word);
}

}  // namespace tallyfs
