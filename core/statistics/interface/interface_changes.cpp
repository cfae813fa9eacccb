// Applies lines of the definition file, defaults and rules to statistics.
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/labels.h"
#include "core/base/text.h"
#include "core/base/unit_factor.h"
#include "core/statistics/definition/unread_words.h"
#include "core/statistics/interface/interface.h"

namespace tallyfs::statistics {
namespace {

// An array whose narrow intervals are where no sample is, most likely.
bool is_open_log2(const Definition& definition) {
  const auto* const array = std::get_if<ArraySettings>(&definition.settings);
  return array && array->scale == Scale::kLog2 &&
         definition.range_min == std::numeric_limits<std::int64_t>::min();
}

std::optional<Error> open_log2(const Change& change, bool is_open) {
  if (!is_open || !change.scale || change.range_min) return std::nullopt;
  return invalid("without range_min the intervals double from -9223372036854775808 on: add "
                 "range_min=0",
                 change.scale->at);
}

// False: a total of Y alone.
bool shows_x(const Settings& settings) {
  if (const auto* value = std::get_if<ValueSettings>(&settings)) {
    return value->mode != Mode::kIncrements;
  }
  const auto* const history = std::get_if<HistorySettings>(&settings);
  return !history || history->mode != Mode::kIncrements;
}

// One word of units= is that of Y. With bytes of a range, a person means X, most likely.
std::optional<Error> units_of_counts(const Change& change, const Definition& definition) {
  if ((!change.units && !change.type) || !shows_x(definition.settings)) return std::nullopt;
  const std::string_view meant = measure_of(definition.units);
  if (meant.empty()) return std::nullopt;
  std::string reason("units=" + definition.units);
  reason.append(" names what is counted, and X has no unit; if X is in ").append(meant);
  reason.append(": units=").append(meant).append("/samples");
  return invalid(std::move(reason), change.units ? change.units->at : change.type->at);
}

// key=value of the first definition that the second one has otherwise: "type=range" alone where the
// types differ. "": none.
std::string differing_words(const Definition& is, const Definition& asked) {
  const bool has_other_type = is.settings.index() != asked.settings.index();
  std::string is_text;
  std::string asked_text;
  append_definition(is_text, is);
  append_definition(asked_text, asked);
  std::string words;
  Tokens tokens(is_text);
  while (const auto token = tokens.next()) {
    const std::string word(token->text);
    if ((" " + asked_text + " ").find(" " + word + " ") != std::string::npos) continue;
    words.append(words.empty() ? "" : " ").append(word);
    if (word.ends_with('=')) words.append(kClearWord);
    if (has_other_type) break;
  }
  if (is.decimals == 0 && asked.decimals != 0) {
    words.append(words.empty() ? "decimals=0" : " decimals=0");
  }
  return words;
}

}  // namespace

// In a strict line each word means something for the statistic.
Result<void> Interface::check_all_read(std::string_view line, const Change& change,
                                       const Statistic& named) {
  if (!change.is_strict) return {};
  const auto after = apply(change, named.definition());
  if (!after) return {};  // redefine() says why
  return statistics::check_all_read(line, attributes_of(after.value().settings));
}

Result<void> Interface::define(std::string_view line, Timestamp now, By by, Strictness strictness) {
  LineProgress progress;
  const auto done = define_step(line, now, {progress, never_late}, strictness, by);
  if (!done) return done.error();
  return {};
}

Result<bool> Interface::define_step(std::string_view line, Timestamp now, const LineStep& step,
                                    Strictness strictness, By by) {
  const auto parsed = parse_change(line, strictness);
  if (!parsed) return parsed.error();
  Change change = parsed.value();
  change.begins_log2_at_zero |= by == By::kRule;

  const MutexLock lock(mutex_);
  if (discarded_ && !step.progress.has_begun) discarded_->report = {};
  if (change.of && !change.undo) return define_view(line, change, now, by);
  Statistic* named = nullptr;
  if (change.name) {
    named = find_typed(change.name->value);
    if (!named) {
      const auto stored = stored_name(change.name->value);
      if (!stored) return invalid(stored.error().reason, change.name->at);
      return Error{ErrorCode::kNotFound, "no statistic of that name here", change.name->at};
    }
  }
  if (change.undo) return undo(change, named, now, step);
  if (named && named->source()) {
    if (auto same = check_decimals(change, *named->source()); !same) return same.error();
  }
  return redefine(line, change, named, now, by, step);
}

// Rules that cannot be applied were told when the statistic was made.
Result<void> Interface::define_default(std::string_view line, std::span<const std::string> rules,
                                       Timestamp now, Strictness strictness) {
  const auto parsed = parse_change(line, strictness);
  if (!parsed) return parsed.error();
  const auto& name = parsed.value().name;
  if (!name) return invalid("a default is for one statistic: name= is missing", 0);
  if (parsed.value().is_strict && (parsed.value().of || parsed.value().data_reset)) {
    return invalid("of= and data= are no defaults", 0);
  }
  if (parsed.value().undo) return invalid("undo= is no default", parsed.value().undo->at);

  const MutexLock lock(mutex_);
  Statistic* const named = find_typed(name->value);
  if (!named) return Error{ErrorCode::kNotFound, "no statistic of that name here", name->at};
  if (auto read = check_all_read(line, parsed.value(), *named); !read) return read;
  Change change = named->left_of(parsed.value());
  auto after = apply(change, named->definition());
  if (!after) return after.error();
  for (const std::string& rule : rules) {
    const auto more = parse_change(rule);
    if (!more || more.value().of) continue;
    Change left = named->left_of(more.value());
    left.begins_log2_at_zero = true;
    auto ruled = apply(left, after.value());
    const bool is_possible =
        ruled && (!named->sample_units() || ruled.value().decimals == after.value().decimals);
    if (!is_possible) continue;
    after = std::move(ruled);
    if (left.on) change.on = left.on;
    if (left.help) change.help = left.help;
  }
  if (auto done = become(*named, change, std::move(after.value()), now); !done) return done;
  for (const std::string& rule : rules) {
    auto more = parse_change(rule);
    if (!more || !more.value().of) continue;
    more.value().begins_log2_at_zero = true;
    follow(*named, more.value(), now);
  }
  return {};
}

Result<void> Interface::become(Statistic& statistic, const Change& change, Definition after,
                               Timestamp now) {
  const auto more = static_cast<std::int64_t>(statistic.growth_by(change, after));
  if (more > 0) {
    const auto grown = reservation_.grow({.bytes = static_cast<std::uint64_t>(more)});
    if (!grown) return grown.error();
  }
  CellBudget budget = CellBudget::for_command();
  if (carry_out(statistic, change, std::move(after), now, budget)) note_change(now);
  if (more < 0) reservation_.shrink({.bytes = static_cast<std::uint64_t>(-more)});
  sync_views(statistic, now);
  return {};
}

// It looks at the first of many, and further for one that reads each word.
std::optional<Error> Interface::remark(std::string_view line) const {
  const auto parsed = parse_change(line);
  if (!parsed) return std::nullopt;
  const Change& change = parsed.value();
  std::optional<Error> ignored;
  bool is_open = false;
  std::optional<Error> units;
  {
    const MutexLock lock(mutex_);
    const Statistic* const named = change.name ? find_typed(change.name->value) : nullptr;
    if (change.name && !named) return std::nullopt;
    if (auto discarded = remark_on_discarded(change)) return discarded;
    Attributes attributes;
    const auto look = [&](const Statistic& statistic) {
      attributes |= attributes_of(statistic.definition().settings);
      is_open |= is_open_log2(statistic.definition());
      if (!units) units = units_of_counts(change, statistic.definition());
    };
    if (named) look(*named);
    ignored = find_ignored_key(line, attributes);
    for (auto it = statistics_.begin(); !named && it != statistics_.end(); ++it) {
      if (it.place() >= kLineAtOnce && !ignored && (is_open || !change.scale)) break;
      const Attributes before = attributes;
      look(*it);
      if (attributes != before) ignored = find_ignored_key(line, attributes);
    }
  }
  if (ignored) return ignored;
  if (auto fractions = find_fractions(change)) return fractions;
  if (units) return units;
  return open_log2(change, is_open);
}

std::optional<Error> Interface::remark_on_new(std::string_view text, Strictness strictness) {
  const auto change = parse_new_statistic(text, strictness);
  if (!change) return std::nullopt;
  const auto definition = apply(change.value(), Definition{});
  if (!definition) return std::nullopt;
  if (auto ignored = find_ignored_key(text, attributes_of(definition.value().settings))) {
    return ignored;
  }
  if (auto fractions = find_fractions(change.value())) return fractions;
  if (auto units = units_of_counts(change.value(), definition.value())) return units;
  return open_log2(change.value(), is_open_log2(definition.value()));
}

Result<std::string> Interface::difference(std::string_view name, std::string_view text,
                                          Strictness strictness) const {
  auto parsed = parse_new_statistic(text, strictness);
  if (!parsed) return parsed.error();
  const MutexLock lock(mutex_);
  const Statistic* const named = find_typed(name);
  if (!named) return std::string();
  Change change =
      strictness == Strictness::kStrict ? parsed.value() : named->left_of(parsed.value());
  const Definition& is = named->definition();
  if (is_open_log2(is)) change.begins_log2_at_zero = false;
  // The attributes of a type that is asked for are all there, and its range is as it is.
  Definition before = is;
  if (change.type) before.settings = change.type->value;
  const auto asked = apply(change, before);
  if (!asked) return asked.error();
  if (strictness == Strictness::kStrict) {
    const auto read = statistics::check_all_read(text, attributes_of(asked.value().settings));
    if (!read) return read.error();
  }
  Definition asked_definition = asked.value();
  // A program of today may say in seconds with decimals what one of before said in microseconds.
  const XScale scale{is.units, is.decimals};
  const bool is_same_x = strictness == Strictness::kTolerant &&
                         is.decimals != asked_definition.decimals &&
                         have_one_scale(scale, {asked_definition.units, asked_definition.decimals});
  if (is_same_x) {
    asked_definition.units = is.units;
    asked_definition.decimals = is.decimals;
  }
  auto* const asked_list = std::get_if<ListSettings>(&asked_definition.settings);
  const auto* const list = std::get_if<ListSettings>(&is.settings);
  const bool has_other_base = asked_list && list && asked_list->base != list->base;
  if (has_other_base) asked_list->base = list->base;
  std::string words = differing_words(is, asked_definition);
  if (has_other_base && change.base) {
    words.append(words.empty() ? "base=" : " base=").append(std::to_string(int(list->base)));
  }
  if (change.help && change.help->value != named->help()) {
    words.append(words.empty() ? "help=" : " help=");
    words.append(named->help().empty() ? kClearWord : named->help());
  }
  if (change.on && change.on->value != named->is_on()) {
    words.append(words.empty() ? "" : " ").append(named->is_on() ? "on=1" : "on=0");
  }
  return words;
}

}  // namespace tallyfs::statistics
