#include "core/wire/line.h"

#include <array>
#include <optional>
#include <string>

namespace tally::wire {
namespace {

struct Spelling {
  std::string_view word;
  Verb verb;
};
constexpr std::array kVerbs = {Spelling{"create", Verb::kCreate}, Spelling{"define", Verb::kDefine},
                               Spelling{"remove", Verb::kRemove},
                               Spelling{"attach", Verb::kAttach}};

Error invalid(const char* reason, std::size_t at) { return {ErrorCode::kInvalid, reason, at}; }

Result<Line> parse_command(const Token& word, Tokens& tokens, std::size_t line_end) {
  for (const Spelling& spelling : kVerbs) {
    if (spelling.word != word.text) continue;
    const auto target = tokens.next();
    if (!target) return invalid("the command needs an INTERFACE or INTERFACE/STATISTIC", line_end);
    return Line(CommandLine{spelling.verb, *target, tokens.rest()});
  }
  if (word.text == "switches") {
    if (const auto more = tokens.next()) return invalid("switches stands alone", more->at);
    return Line(SwitchesLine{});
  }
  return invalid("neither INTERFACE/STATISTIC nor a command (create, define, remove, attach)",
                 word.at);
}

Result<Line> parse_sample(const Token& path, Tokens& tokens, std::size_t line_end) {
  const auto x = tokens.next();
  if (!x) return invalid("a sample needs a number after its name", line_end);
  SampleLine sample{.path = path.text};
  const auto x_value = parse_signed(x->text);
  if (!x_value) return invalid("X is not a signed 64-bit number", x->at);
  sample.x = *x_value;
  if (const auto y = tokens.next()) {
    const auto y_value = parse_unsigned(y->text);
    if (!y_value) return invalid("Y is not an unsigned 64-bit number", y->at);
    sample.y = *y_value;
  }
  if (const auto more = tokens.next()) return invalid("a sample has only X and Y", more->at);
  return Line(sample);
}

}  // namespace

Result<Line> parse_line(std::string_view line) {
  if (const auto bar = line.find('|'); bar != std::string_view::npos) {
    return invalid("lines with a '|' are reserved for DogStatsD, which is not spoken yet", bar);
  }
  Tokens tokens(line);
  const auto first = tokens.next();
  if (!first) return Line(BlankLine{});
  return first->text.find('/') == std::string_view::npos
             ? parse_command(*first, tokens, line.size())
             : parse_sample(*first, tokens, line.size());
}

Path split_path(std::string_view path) {
  const auto slash = path.find('/');
  if (slash == std::string_view::npos) return {.interface = path};
  return {path.substr(0, slash), path.substr(slash + 1), true};
}

}  // namespace tally::wire
