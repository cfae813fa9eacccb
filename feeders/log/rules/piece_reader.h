// Reads the parts of an action: pieces, names with pieces in them, numbers. Errors have the place
// in the text that was handed in. Confined to one thread; the rules and the pattern must outlive
// it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "feeders/log/rules/rules.h"
#include "feeders/text/definition_words.h"

namespace tallyfs::logs {

// The end of the word at `at`: the first blank, or one of `stops`, that is not within braces.
std::size_t word_end(std::string_view text, std::size_t at, std::string_view stops);

// The unit of a number whose last filter says it. With a factor the unit is unknown.
NumberUnit unit_of(const NumberExpression& x);

class PieceReader {
 public:
  // pattern: of the rule; nullptr for one without.
  PieceReader(Rules& rules, const Pattern* pattern, const RuleSettings& settings)
      : rules_(rules), pattern_(pattern), settings_(settings) {}

  // `{NAME|FILTER|...}`. Groups have their place among all named groups of the pattern.
  Result<Piece> read_piece(std::string_view text);
  // `INTERFACE/STATISTIC`, with labels in braces and pieces.
  Result<NameTemplate> read_name(std::string_view text);
  // A number, a piece, or a piece `*` a number.
  Result<NumberExpression> read_number(std::string_view text);

 private:
  Result<Piece> find(std::string_view name) const;
  Result<Piece> find_field(std::string_view name) const;
  Error unknown(std::string_view name) const;
  Result<Template> read_template(std::string_view text, bool is_label);
  Result<Template> read_labels(std::string_view text);

  Rules& rules_;
  const Pattern* const pattern_;
  const RuleSettings& settings_;
};

}  // namespace tallyfs::logs
