// The rules of tally-feed-log, as they are written:
//
//   lines json                                      what a line is: text (without it), json, logfmt
//   time %d/%b/%Y:%H:%M:%S %z                       the group `time` of a match is its time
//   match PATTERN                                   all rules that match act
//   match! PATTERN                                  the same, and no later rule is tried
//     sample INTERFACE/STATISTIC = NUMBER [KEY=VALUE ...]
//     count  INTERFACE/STATISTIC [KEY=VALUE ...]
//     event  SYSTEM/NAME FIELD=PIECE ...
//   else                                            what no rule took
//     count  ...
//
// A piece is `{NAME|FILTER|...}`: a group of the pattern, `{.path.to.it}` of JSON or logfmt, or a
// field of the journal. A number is a piece, `*` and a factor, or a number. Lines that begin with #
// and empty ones are comments. Values, without threads.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "feeders/log/rules/filter.h"
#include "feeders/log/rules/pattern.h"
#include "feeders/log/rules/sample_scale.h"
#include "feeders/text/number.h"
#include "tally/statistic.hpp"

namespace tallyfs::logs {

inline constexpr std::size_t kRulesMax = 1'000;
inline constexpr std::size_t kActionsMax = 4'096;  // of all rules
inline constexpr std::size_t kFieldsMax = 256;     // of lines
inline constexpr std::size_t kEventFieldsMax = 64;

struct Piece {
  enum class Source : std::uint8_t { kGroup, kField };
  Source source = Source::kGroup;
  std::size_t index = 0;  // of the groups that the rule captures, or in Rules::fields
  std::vector<Filter> filters{};
};

// A text with pieces in between.
struct TemplatePart {
  std::string literal;  // if there is no piece
  std::optional<Piece> piece{};
};
using Template = std::vector<TemplatePart>;

struct NameTemplate {
  std::string text;  // as it was written, without labels
  Template interface;
  Template base;    // of the statistic's name, without labels
  Template labels;  // `{...}`, or nothing
};

struct NumberExpression {
  std::optional<Piece> piece{};  // nothing: the factor is the number
  Number factor{.digits = 1};
  bool has_factor = false;
};

// A count is a sample of 1.
struct SampleAction {
  NameTemplate name;
  NumberExpression x{};
  tally::Definition definition{};
  unsigned number_scale = 0;  // the integer that is sent is the number * 10^number_scale
};

struct EventDefinition {
  std::string system;
  std::string name;
  struct Field {
    std::string name;
    bool is_number = false;  // an s64, else a char[64]
    auto operator<=>(const Field&) const = default;
  };
  std::vector<Field> fields;
  auto operator<=>(const EventDefinition&) const = default;
};
struct EventAction {
  std::size_t event = 0;                 // in Rules::events
  std::vector<NumberExpression> values;  // by the fields; of a text, the piece alone counts
};
using Action = std::variant<SampleAction, EventAction>;

struct Rule {
  std::size_t line = 0;                     // of the rules' text
  std::string text;                         // its pattern as it was written; empty: every line
  std::string expression;                   // for RE2
  std::size_t groups = 0;                   // that it captures
  std::optional<std::size_t> time_group{};  // the group `time`
  bool is_last = false;                     // match!
  std::vector<Action> actions{};
};

enum class LineForm : std::uint8_t { kText, kJson, kLogfmt };

struct Rules {
  LineForm form = LineForm::kText;
  std::string time_format{};          // empty: samples have the time at which they are read
  std::vector<std::string> fields{};  // of JSON or logfmt: `request.seconds`; or of the journal
  std::optional<std::size_t> time_field{};
  std::vector<Rule> rules{};
  std::optional<Rule> otherwise{};  // else
  std::vector<EventDefinition> events{};
};

// Settings of the command line in addition to the rules' text, and the scales of samples so far.
struct RuleSettings {
  LineForm form = LineForm::kText;
  std::string time_format{};
  bool has_journal_fields = false;
  NameScales scales{};
};

// A longer text is refused.
inline constexpr std::size_t kRulesBytesMax = 1 << 20;
// kInvalid: `location` of the error is "line N", its text that line, token_at the place in it.
Result<Rules> parse_rules(std::string_view text, const RuleSettings& settings);

// Appends at most 200 bytes of a rule's text as append_shown() does, with backslashes as they are,
// of which patterns are full. Returns the column of the byte `at`.
std::size_t append_rule(std::string& out, std::string_view text, std::size_t at);
// The error as lines for a terminal or a log: the reason, the line, and a caret.
std::string to_text(const Error& error);

}  // namespace tallyfs::logs
