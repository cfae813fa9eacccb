#include "feeders/log/rules/rules.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/nearest.h"
#include "core/base/shown_text.h"
#include "core/base/text.h"
#include "feeders/log/rules/piece_reader.h"
#include "feeders/text/definition_words.h"

namespace tallyfs::logs {
namespace {

bool is_identifier(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !text.empty() && text.size() <= 64 && is_letter(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

Error no_word(std::string_view word, const std::vector<std::string>& known, std::size_t at) {
  std::string reason = "there is no word '";
  append_escaped(reason, word, 64, 0);
  reason.push_back('\'');
  if (const auto meant = nearest(word, known)) {
    reason.append("; did you mean ").append(*meant);
  } else {
    for (std::size_t i = 0; i < known.size(); ++i)
      reason.append(i == 0 ? "; there are " : ", ").append(known[i]);
  }
  return invalid(std::move(reason), at);
}

// Reads line by line; what is read so far is in rules_.
class Reader {
 public:
  explicit Reader(const RuleSettings& settings) : settings_(settings), scales_(settings.scales) {
    rules_.form = settings.form;
    rules_.time_format = settings.time_format;
  }

  Result<Rules> read(std::string_view text) {
    for (std::size_t number = 1; !text.empty(); ++number) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      if (line.ends_with('\r')) line.remove_suffix(1);
      text.remove_prefix(std::min(end + 1, text.size()));
      number_ = number;
      if (auto done = read_line(line); !done) return located(done.error(), line);
      line_ = line;
    }
    if (auto done = end_rule(); !done) return located(done.error(), line_);
    if (rules_.rules.empty() && !rules_.otherwise)
      return invalid("there is no rule: match PATTERN");
    if (auto done = check_memory(); !done) return done.error();
    return std::move(rules_);
  }

 private:
  Error located(Error error, std::string_view line) const {
    error.location = "line " + std::to_string(number_);
    error.text = line;
    if (error.token_at == Error::kNoToken) error.token_at = 0;
    // An error about a word that is missing at the end points to the end.
    error.token_at = std::min(error.token_at, line.size());
    return error;
  }

  // Each pattern was compiled as if it were alone.
  Result<void> check_memory() const {
    for (const Rule& rule : rules_.rules) {
      const auto done = check_pattern_memory(rule.text, rules_.rules.size());
      if (done) continue;
      const std::string word = rule.is_last ? "match! " : "match ";
      Error error = error_at(done.error(), word.size());
      error.location = "line " + std::to_string(rule.line);
      error.text = word + rule.text;
      return error;
    }
    return {};
  }

  Result<void> read_line(std::string_view line) {
    const std::string_view words = trimmed(line);
    if (words.empty() || words.front() == '#') return {};
    const auto at = static_cast<std::size_t>(words.data() - line.data());
    if (at != 0) {
      if (!rule_) return invalid("an action needs a line with match above it", at);
      auto done = read_action(words);
      return done ? done : Result<void>(error_at(done.error(), at));
    }
    if (words.starts_with("match") || words.starts_with("else")) {
      if (auto done = end_rule(); !done) return done;
    }
    return read_head(line);
  }

  Result<void> read_head(std::string_view line) {
    const std::string_view word = line.substr(0, line.find(' '));
    const std::string_view rest = line.substr(std::min(word.size() + 1, line.size()));
    if (word == "match" || word == "match!") {
      auto done = begin_rule(rest, word == "match!");
      return done ? done : Result<void>(error_at(done.error(), word.size() + 1));
    }
    if (trimmed(line) == "else") return begin_otherwise();
    if (word == "lines" || word == "time") return read_setting(word, trimmed(rest));
    if (word == "sample" || word == "count" || word == "event") {
      return invalid("an action is indented, below the match that it is for", 0);
    }
    return no_word(trimmed(line.substr(0, word_end(line, 0, ""))),
                   {"match", "match!", "else", "lines", "time"}, 0);
  }

  Result<void> read_setting(std::string_view word, std::string_view value) {
    const std::size_t at = word.size() + 1;
    if (rule_ || !rules_.rules.empty()) {
      return invalid(std::string(word) + " comes before the first match", 0);
    }
    if (word == "time") {
      if (value.empty()) return invalid("a format is needed, as %Y-%m-%dT%H:%M:%S%z", at);
      if (rules_.time_format.empty()) rules_.time_format = value;
      return {};
    }
    constexpr std::array<std::pair<std::string_view, LineForm>, 3> kForms{
        {{"text", LineForm::kText}, {"json", LineForm::kJson}, {"logfmt", LineForm::kLogfmt}}};
    for (const auto& [name, form] : kForms) {
      if (value != name) continue;
      rules_.form = form;
      return {};
    }
    return no_word(value, {"text", "json", "logfmt"}, at);
  }

  Result<void> begin_rule(std::string_view pattern, bool is_last) {
    if (rules_.otherwise) return invalid("else is the last rule", 0);
    if (rules_.rules.size() == kRulesMax) return invalid("there are at most 1000 rules", 0);
    auto parsed = Pattern::parse(pattern);
    if (!parsed) return parsed.error();
    pattern_ = std::move(parsed.value());
    rule_ = Rule{.line = number_, .text = std::string(pattern), .is_last = is_last};
    is_otherwise_ = false;
    return {};
  }
  Result<void> begin_otherwise() {
    if (rules_.otherwise) return invalid("a second else", 0);
    pattern_.reset();
    rule_ = Rule{.line = number_};
    is_otherwise_ = true;
    return {};
  }

  // Its pieces count groups as the pattern has them; the expression captures those that are used.
  Result<void> end_rule() {
    if (!rule_) return {};
    if (rule_->actions.empty()) return invalid("the rule above has no action", 0);
    if (pattern_) capture_groups();
    if (is_otherwise_) {
      rules_.otherwise = std::move(*rule_);
    } else {
      rules_.rules.push_back(std::move(*rule_));
    }
    rule_.reset();
    return {};
  }

  void capture_groups() {
    const std::vector<std::string> all = pattern_->group_names();
    std::vector<std::string> used;
    each_piece([&](Piece& piece) {
      if (piece.source == Piece::Source::kGroup) used.push_back(all[piece.index]);
    });
    const bool has_time = !rules_.time_format.empty() && pattern_->has_group("time");
    if (has_time) used.emplace_back("time");
    const std::vector<std::string> groups = pattern_->groups(used);
    const auto place = [&](const std::string& name) {
      return static_cast<std::size_t>(std::ranges::find(groups, name) - groups.begin());
    };
    each_piece([&](Piece& piece) {
      if (piece.source == Piece::Source::kGroup) piece.index = place(all[piece.index]);
    });
    if (has_time) rule_->time_group = place("time");
    rule_->groups = groups.size();
    rule_->expression = pattern_->expression(used);
  }

  template <typename Visit>
  void each_piece(Visit visit) {
    const auto of_template = [&](Template& parts) {
      for (TemplatePart& part : parts) {
        if (part.piece) visit(*part.piece);
      }
    };
    for (Action& action : rule_->actions) {
      if (auto* const sample = std::get_if<SampleAction>(&action)) {
        of_template(sample->name.interface);
        of_template(sample->name.base);
        of_template(sample->name.labels);
        if (sample->x.piece) visit(*sample->x.piece);
      } else {
        for (NumberExpression& value : std::get<EventAction>(action).values) {
          if (value.piece) visit(*value.piece);
        }
      }
    }
  }

  Result<void> read_action(std::string_view text) {
    if (++actions_ > kActionsMax) return invalid("there are at most 4096 actions", 0);
    const std::size_t end = word_end(text, 0, "");
    const std::string_view word = text.substr(0, end);
    const std::string_view rest = text.substr(end);
    const auto skipped =
        static_cast<std::size_t>(std::ranges::find_if_not(rest, is_blank) - rest.begin());
    const auto placed = [&](Result<void> done) {
      return done ? done : Result<void>(error_at(done.error(), end + skipped));
    };
    if (word == "sample") return placed(read_sample(rest.substr(skipped)));
    if (word == "count") return placed(read_count(rest.substr(skipped)));
    if (word == "event") return placed(read_event(rest.substr(skipped)));
    return no_word(word, {"sample", "count", "event"}, 0);
  }

  PieceReader pieces() { return {rules_, pattern_ ? &*pattern_ : nullptr, settings_}; }

  // NAME [blanks] = [blanks] NUMBER [blanks KEY=VALUE ...]
  Result<void> read_sample(std::string_view text) {
    const std::size_t name_end = word_end(text, 0, "=");
    SampleAction action;
    auto name = pieces().read_name(text.substr(0, name_end));
    if (!name) return name.error();
    action.name = std::move(name.value());
    std::size_t at = after_blanks(text, name_end);
    if (at == text.size() || text[at] != '=') {
      return invalid("= and a number are needed, as in web/latency = {seconds}", at);
    }
    at = after_blanks(text, at + 1);
    const std::size_t end = word_end(text, at, "");
    auto x = pieces().read_number(text.substr(at, end - at));
    if (!x) return error_at(x.error(), at);
    action.x = std::move(x.value());
    return add(std::move(action), text, end, tally::MinMax{});
  }

  Result<void> read_count(std::string_view text) {
    const std::size_t end = word_end(text, 0, "=");
    auto name = pieces().read_name(text.substr(0, end));
    if (!name) return name.error();
    if (const std::size_t at = after_blanks(text, end); at < text.size() && text[at] == '=') {
      return invalid("count adds 1 for each line; sample has a number", at);
    }
    return add({.name = std::move(name.value())}, text, end, tally::Value{});
  }

  Result<void> add(SampleAction action, std::string_view text, std::size_t at,
                   const tally::Type& fallback) {
    auto words = parse_definition_words(text.substr(at), unit_of(action.x));
    if (!words) return error_at(words.error(), at);
    DefinitionWords& said = words.value();
    const SampleScale scale{said.decimals, said.units};
    if (auto done = note_scale(action.name.text, scale); !done) return done;
    action.definition = {.units = std::move(said.units),
                         .type = said.type ? std::move(*said.type) : fallback,
                         .begin = said.begin,
                         .decimals = said.decimals};
    action.number_scale = said.number_scale;
    rule_->actions.emplace_back(std::move(action));
    return {};
  }

  Result<void> note_scale(const std::string& name, const SampleScale& scale) {
    const SampleScale& first = scales_.try_emplace(name, scale).first->second;
    const std::string known = difference(first, scale);
    if (known.empty()) return {};
    return invalid("samples of this name have " + known + " already; take another name", 0);
  }

  static std::size_t after_blanks(std::string_view text, std::size_t at) {
    while (at < text.size() && is_blank(text[at])) ++at;
    return at;
  }

  Result<void> read_event(std::string_view text) {
    const std::size_t end = word_end(text, 0, "");
    const std::string_view name = text.substr(0, end);
    const std::size_t slash = std::min(name.find('/'), name.size());
    EventDefinition event{std::string(name.substr(0, slash)),
                          std::string(name.substr(std::min(slash + 1, name.size()))),
                          {}};
    if (!is_identifier(event.system) || !is_identifier(event.name)) {
      return invalid("an event is SYSTEM/NAME, of letters, digits and _", 0);
    }
    EventAction action;
    for (std::size_t at = after_blanks(text, end); at < text.size();) {
      const std::size_t word = word_end(text, at, "");
      auto done = read_field(text.substr(at, word - at), event, action);
      if (!done) return error_at(done.error(), at);
      at = after_blanks(text, word);
    }
    if (event.fields.empty()) return invalid("an event has fields, as path={path}", end);
    return add(event, std::move(action));
  }

  // A number becomes an s64, and any other piece a text.
  Result<void> read_field(std::string_view text, EventDefinition& event, EventAction& action) {
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string name(text.substr(0, equals));
    if (equals == text.size() || !is_identifier(name)) {
      return invalid("a field is NAME={piece}, as us={seconds}*1000000", 0);
    }
    if (std::ranges::find(event.fields, name, &EventDefinition::Field::name) !=
        event.fields.end()) {
      return invalid("a second field of the name " + name, 0);
    }
    if (event.fields.size() == kEventFieldsMax) return invalid("an event has at most 64 fields", 0);
    auto value = pieces().read_number(text.substr(equals + 1));
    if (!value) return error_at(value.error(), equals + 1);
    const auto& piece = value.value().piece;
    const bool is_number = value.value().has_factor || !piece ||
                           (!piece->filters.empty() && piece->filters.back().is_numeric());
    event.fields.push_back({name, is_number});
    action.values.push_back(std::move(value.value()));
    return {};
  }

  Result<void> add(const EventDefinition& event, EventAction action) {
    const auto is_same = [&](const EventDefinition& other) {
      return other.system == event.system && other.name == event.name;
    };
    const auto found = std::ranges::find_if(rules_.events, is_same);
    if (found != rules_.events.end() && found->fields != event.fields) {
      return invalid("this event has other fields further above", 0);
    }
    action.event = static_cast<std::size_t>(found - rules_.events.begin());
    if (found == rules_.events.end()) rules_.events.push_back(event);
    rule_->actions.emplace_back(std::move(action));
    return {};
  }

  const RuleSettings settings_;
  NameScales scales_;
  Rules rules_;
  std::optional<Rule> rule_;  // that is being read
  std::optional<Pattern> pattern_;
  bool is_otherwise_ = false;
  std::size_t number_ = 0;
  std::size_t actions_ = 0;
  std::string_view line_;
};

}  // namespace

Result<Rules> parse_rules(std::string_view text, const RuleSettings& settings) {
  if (text.size() > kRulesBytesMax) return invalid("the rules have more than 1 MiB");
  auto rules = Reader(settings).read(text);
  if (!rules) return rules;
  Rules& read = rules.value();
  if (read.time_format.empty()) return rules;
  if (read.form != LineForm::kText) {
    const auto field = std::ranges::find(read.fields, "time");
    read.time_field = static_cast<std::size_t>(field - read.fields.begin());
    if (field == read.fields.end()) read.fields.emplace_back("time");
  }
  const bool has_time = read.time_field || std::ranges::any_of(read.rules, [](const Rule& rule) {
                          return rule.time_group.has_value();
                        });
  if (!has_time) return invalid("a time format needs a group (?<time>...) in a pattern");
  return rules;
}

std::size_t append_rule(std::string& out, std::string_view text, std::size_t at) {
  constexpr std::size_t kLineShownMax = 200;
  return append_shown(out, text, kLineShownMax, at);
}

std::string to_text(const Error& error) {
  if (error.location.empty()) return error.reason;
  std::string text = error.location + ": " + error.reason + "\n  ";
  const std::size_t column = append_rule(text, error.text, error.token_at);
  return text.append("\n  ").append(column, ' ').append("^");
}

}  // namespace tallyfs::logs
