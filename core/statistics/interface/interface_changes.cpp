// What lines of the definition file, defaults and rules do to statistics.
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/text.h"
#include "core/base/unit_factor.h"
#include "core/statistics/definition/unread_words.h"
#include "core/statistics/interface/interface.h"

namespace tallyfs {
namespace {

// An array whose narrow intervals are where no sample is, most likely.
bool is_open_log2(const Definition& definition) {
  const auto* const array = std::get_if<ArraySettings>(&definition.settings);
  return array && array->scale == Scale::kLog2 &&
         definition.range_min == std::numeric_limits<std::int64_t>::min();
}

std::optional<Error> open_log2(const Change& change, bool is_open) {
  if (!is_open || !change.scale || change.range_min) return std::nullopt;
  return invalid("without range_min the intervals double from -9223372036854775808 on",
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

// How many bytes more (as a difference that may wrap) it holds after the change.
std::uint64_t growth(const Statistic& statistic, const Change& change, const Definition& after) {
  return statistic.worst_case_bytes_after(change, after) - statistic.worst_case_bytes() +
         after.units.size() - statistic.definition().units.size() +
         statistic.text_bytes_after(change, after) - statistic.text_bytes();
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

template <typename Visit>
Result<void> Interface::each_of(Statistic* named, Visit visit) const {
  if (named) return visit(*named);
  for (Statistic& statistic : statistics_) {
    if (auto done = visit(statistic); !done) return done;
  }
  return {};
}

// Views have the decimals of their source, and its units until they are given others: they follow
// it.
template <typename Visit>
Result<void> Interface::each_change(const Change& change, Statistic* named, Visit visit) const {
  const std::string before = named ? named->definition().units : std::string();
  auto done = each_of(
      named, [&](Statistic& statistic) REQUIRES(mutex_) { return visit(statistic, change); });
  if (!done || !named || (!change.units && !change.decimals)) return done;
  for (Statistic* const view : named->views()) {
    Change its{.decimals = change.decimals};
    if (view->definition().units == before) its.units = change.units;
    if (!its.redefines()) continue;
    if (done = visit(*view, its); !done) return done;
  }
  return {};
}

// Checks that the line is possible for each statistic that it names, and reserves their growth in
// the ledger. Returns how many bytes are to be returned to the ledger afterwards. An error if the
// line is impossible for one of them.
Result<std::uint64_t> Interface::resize(const Change& change, Statistic* named) {
  std::uint64_t more = 0;  // below 0 it wraps, and back in the sum
  const auto plan = [&](const Statistic& statistic, const Change& its) -> Result<void> {
    const auto definition = apply(its, statistic.definition());
    if (!definition) {
      Error error = definition.error();
      if (!change.name) error.reason = statistic.name() + ": " + error.reason;
      return error;
    }
    more += growth(statistic, its, definition.value());
    return {};
  };
  const auto planned = each_change(change, named, plan);
  if (!planned) return planned.error();
  if (static_cast<std::int64_t>(more) <= 0) return 0 - more;
  if (auto grown = reservation_.grow({.bytes = more}); !grown) return grown.error();
  return 0;
}

// Each definition is reckoned a second time: to keep them from resize() on would take more memory,
// and more time, for an interface of many statistics.
void Interface::carry_out(const Change& change, Statistic* named, Moment now) {
  CellBudget budget = CellBudget::for_command();
  bool changed = false;
  const auto carry = [&](Statistic& statistic, const Change& its) REQUIRES(mutex_) -> Result<void> {
    if (its.redefines()) {
      Definition after = apply(its, statistic.definition()).value();
      changed |= carry_out(statistic, its, std::move(after), now, budget);
    } else {
      changed |= carry_out(statistic, its, now, budget);
    }
    return {};
  };
  (void)each_change(change, named, carry);
  if (changed) note_change(now);
}

// In a strict line each word means something for one of the statistics at least.
Result<void> Interface::check_all_read(std::string_view line, const Change& change,
                                       Statistic* named) const {
  if (!change.is_strict) return {};
  Attributes attributes;
  const auto possible = each_of(named, [&](const Statistic& statistic) -> Result<void> {
    const auto after = apply(change, statistic.definition());
    if (!after) return after.error();
    attributes |= attributes_of(after.value().settings);
    return {};
  });
  if (!possible) return {};  // redefine() says why
  return tallyfs::check_all_read(line, attributes);
}

Result<void> Interface::define(std::string_view line, Moment now, By by, Strictness strictness) {
  const auto parsed = parse_change(line, strictness);
  if (!parsed) return parsed.error();
  const Change& change = parsed.value();

  const MutexLock lock(mutex_);
  if (discarded_) discarded_->report = {};
  if (change.of && !change.undo) return define_view(line, change, now, by);
  Statistic* named = nullptr;
  if (change.name) {
    named = find_locked(change.name->value);
    if (!named) {
      return Error{ErrorCode::kNotFound,
                   "no statistic of that name here; tallyctl apply --create makes it",
                   change.name->at};
    }
  }
  if (change.undo) return undo(change, named, now);
  if (named && named->source()) {
    if (auto same = check_decimals(change, *named->source()); !same) return same;
  }
  if (auto kept = keep_sample_scale(change, named); !kept) return kept;
  if (auto read = check_all_read(line, change, named); !read) return read;
  return redefine(change, named, now, by);
}

// Rules that cannot be applied were told when the statistic was made.
Result<void> Interface::define_default(std::string_view line, std::span<const std::string> rules,
                                       Moment now, Strictness strictness) {
  const auto parsed = parse_change(line, strictness);
  if (!parsed) return parsed.error();
  const auto& name = parsed.value().name;
  if (!name) return invalid("a default is for one statistic: name= is missing", 0);
  if (parsed.value().is_strict && (parsed.value().of || parsed.value().data_reset)) {
    return invalid("of= and data= are no defaults", 0);
  }
  if (parsed.value().undo) return invalid("undo= is no default", parsed.value().undo->at);

  const MutexLock lock(mutex_);
  Statistic* const named = find_locked(name->value);
  if (!named) return Error{ErrorCode::kNotFound, "no statistic of that name here", name->at};
  if (auto read = check_all_read(line, parsed.value(), named); !read) return read;
  Change change = named->left_of(parsed.value());
  auto after = apply(change, named->definition());
  if (!after) return after.error();
  for (const std::string& rule : rules) {
    const auto more = parse_change(rule);
    if (!more || more.value().of) continue;
    const Change left = named->left_of(more.value());
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
    const auto more = parse_change(rule);
    if (more && more.value().of) follow(*named, more.value(), now);
  }
  return {};
}

Result<void> Interface::become(Statistic& statistic, const Change& change, Definition after,
                               Moment now) {
  const auto more = static_cast<std::int64_t>(growth(statistic, change, after));
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

Result<void> Interface::redefine(const Change& change, Statistic* named, Moment now, By by) {
  std::uint64_t freed = 0;
  if (change.redefines() || change.data_reset) {
    const auto resized = resize(change, named);
    if (!resized) return resized.error();
    freed = resized.value();
  }
  carry_out(change, named, now);
  if (by == By::kUser) {
    (void)each_of(named, [&](Statistic& statistic) -> Result<void> {
      statistic.note_asked(change);
      return {};
    });
  }
  if (freed != 0) reservation_.shrink({.bytes = freed});
  return {};
}

Result<void> Interface::undo(const Change& change, Statistic* named, Moment now) {
  if (change.redefines() || change.on || change.data_reset || change.of) {
    return Error{ErrorCode::kInvalid, "undo=1 goes with name= alone", change.undo->at};
  }
  forget_expired(now);
  CellBudget budget = CellBudget::for_command();
  std::uint64_t lost = 0;
  bool is_done = false;
  (void)each_of(named, [&](Statistic& statistic) REQUIRES(mutex_) -> Result<void> {
    const Discarded* const kept = discarded_ ? discarded_->find(statistic) : nullptr;
    const Statistic* const source = statistic.source();
    if (!kept || (source && kept->definition.decimals != source->definition().decimals)) return {};
    lost += restore(statistic, now, budget);
    is_done = true;
    return {};
  });
  if (!is_done) {
    return Error{
        ErrorCode::kInvalid,
        "nothing to undo: no data were discarded in the last 60 s, or what was is not kept",
        change.undo->at};
  }
  discarded_->report.lost_samples = lost;
  note_change(now);
  return {};
}

std::optional<Error> Interface::remark(std::string_view line) const {
  const auto parsed = parse_change(line);
  if (!parsed) return std::nullopt;
  const Change& change = parsed.value();
  Attributes attributes;
  bool is_open = false;
  std::optional<Error> units;
  {
    const MutexLock lock(mutex_);
    Statistic* const named = change.name ? find_locked(change.name->value) : nullptr;
    if (change.name && !named) return std::nullopt;
    if (auto discarded = remark_on_discarded(change)) return discarded;
    (void)each_of(named, [&](const Statistic& statistic) -> Result<void> {
      attributes |= attributes_of(statistic.definition().settings);
      is_open |= is_open_log2(statistic.definition());
      if (!units) units = units_of_counts(change, statistic.definition());
      return {};
    });
  }
  if (auto ignored = find_ignored_key(line, attributes)) return ignored;
  if (auto fractions = find_fractions(change)) return fractions;
  if (units) return units;
  return open_log2(change, is_open);
}

std::optional<Error> Interface::remark_on_new(std::string_view text) {
  const auto change = parse_new_statistic(text);
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
  const Statistic* const named = find_locked(name);
  if (!named) return std::string();
  const Change change =
      strictness == Strictness::kStrict ? parsed.value() : named->left_of(parsed.value());
  const Definition& is = named->definition();
  // The attributes of a type that is asked for are all there, and its range is as it is.
  Definition before = is;
  if (change.type) before.settings = change.type->value;
  const auto asked = apply(change, before);
  if (!asked) return asked.error();
  if (strictness == Strictness::kStrict) {
    const auto read = tallyfs::check_all_read(text, attributes_of(asked.value().settings));
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

}  // namespace tallyfs
