// How views are made, redefined and removed.
#include <utility>

#include "core/base/labels.h"
#include "core/base/text.h"
#include "core/statistics/definition/unread_words.h"
#include "core/statistics/interface/interface.h"

namespace tallyfs::statistics {
namespace {

Error at_source(ErrorCode code, std::string reason, const Change& change) {
  return {code, std::move(reason), change.of->at};
}

}  // namespace

bool Interface::is_view(std::string_view name) const {
  const MutexLock lock(mutex_);
  const Statistic* const named = find_locked(name);
  return named && named->source();
}

bool Interface::is_of_a_view(std::string_view text) {
  const auto change = parse_new_statistic(text);
  return change && change.value().of;
}

Result<Statistic*> Interface::find_source(const Change& change, std::string_view view) const {
  if (change.of->value.empty()) {
    return at_source(ErrorCode::kInvalid, "of= needs the name of a statistic", change);
  }
  if (change.of->value == view) {
    return at_source(ErrorCode::kInvalid, "a statistic is no view of itself", change);
  }
  Statistic* const source = find_typed(change.of->value);
  if (!source) return at_source(ErrorCode::kNotFound, "no statistic of that name here", change);
  if (source->source()) {
    return at_source(ErrorCode::kInvalid, "this is a view itself, and has none", change);
  }
  return source;
}

// Whether of= may stand in a line for a statistic that is there.
Result<void> Interface::check_view(const Change& change, const Statistic& named) const {
  if (!named.source()) {
    return at_source(ErrorCode::kInvalid, named.name() + " is no view", change);
  }
  if (named.source() == find_typed(change.of->value)) return {};
  return at_source(ErrorCode::kInvalid,
                   named.name() + " is a view of " + named.source()->name() + " already", change);
}

Result<bool> Interface::create_view(std::string_view name, std::string_view text, Timestamp now,
                                    Strictness strictness) {
  if (!is_name(name)) return Error{ErrorCode::kInvalid, "not a statistic's name"};
  const auto parsed = parse_new_statistic(text, strictness);
  if (!parsed) return parsed.error();
  const Change& change = parsed.value();

  const MutexLock lock(mutex_);
  if (const Statistic* const named = find_locked(name)) {
    const auto checked = check_view(change, *named);
    if (checked) return false;
    return at_source(ErrorCode::kExists, checked.error().reason, change);
  }
  const auto source = find_source(change, name);
  if (!source) return source.error();
  if (auto made = append_view(name, *source.value(), text, change, now, By::kUser); !made) {
    return made.error();
  }
  return true;
}

// A view is given the samples of its source, as they are kept.
Result<void> Interface::check_decimals(const Change& change, const Statistic& source) {
  const unsigned decimals = source.definition().decimals;
  if (!change.decimals || change.decimals->value == decimals) return {};
  return invalid("a view has the decimals of its source: decimals=" + std::to_string(decimals) +
                     ", and decimals= of " + source.name() + " changes both",
                 change.decimals->at);
}

Result<Definition> Interface::view_definition(const Change& change, const Statistic& source) {
  if (auto checked = check_decimals(change, source); !checked) return checked.error();
  const Definition& its = source.definition();
  return apply(change,
               change.type ? Definition{.decimals = its.decimals, .units = its.units} : its);
}

// A view that does not go with the decimals, or has no room, becomes a value.
void Interface::sync_views(Statistic& source, Timestamp now) {
  const std::uint8_t decimals = source.definition().decimals;
  for (Statistic* const view : source.views()) {
    if (view->definition().decimals == decimals) continue;
    const Change change{.decimals = {{decimals, 0}}};
    auto after = apply(change, view->definition());
    if (after && become(*view, change, std::move(after.value()), now)) continue;
    Definition plain{.decimals = decimals, .units = view->definition().units};
    (void)become(*view, change, std::move(plain), now);
  }
}

// A rule without type= means the definition of the source, which has changed.
void Interface::follow(const Statistic& source, const Change& change, Timestamp now) {
  Statistic* const view = find_locked(change.name->value);
  if (!view || view->source() != &source || !view->is_as_ruled()) return;
  auto after = view_definition(change, source);
  if (after) (void)become(*view, Change{}, std::move(after.value()), now);
}

Result<void> Interface::append_view(std::string_view name, Statistic& source, std::string_view line,
                                    const Change& change, Timestamp now, By by) {
  if (source.views().size() >= kViewsBound) {
    return at_source(ErrorCode::kNoSpace,
                     "a statistic has at most " + std::to_string(kViewsBound) + " views", change);
  }
  Change begin = change;
  if (!begin.on) begin.on = {true, 0};
  begin.data_reset = false;
  begin.sample_units.reset();  // no feeder has samples for it
  auto definition = view_definition(change, source);
  if (!definition) return definition.error();
  if (change.is_strict) {
    if (change.data_reset) return invalid("a new view has no data yet: data= says nothing");
    auto read = statistics::check_all_read(line, attributes_of(definition.value().settings));
    if (!read) return read;
  }
  const std::size_t texts = Statistic::new_text_bytes(begin, definition.value());
  auto grown = reservation_.grow(
      holdings_of(name, definition.value(), worst_case_bytes(definition.value()) + texts));
  if (!grown) return grown.error();
  auto view = std::make_unique<Statistic>(name, definition.value(), now);
  CellBudget none;  // views have no cells
  view->carry_out(begin, std::move(definition.value()), now, none);
  if (by == By::kRule) view->note_rule();
  source.attach_view(*append(std::move(view)));
  note_change(now);
  return {};
}

Result<bool> Interface::define_view(std::string_view line, const Change& change, Timestamp now,
                                    By by) {
  if (!change.name) return at_source(ErrorCode::kInvalid, "of= needs name=", change);
  Statistic* const named = find_typed(change.name->value);
  if (!named) {
    if (change.of->value.empty()) {
      return Error{ErrorCode::kNotFound, "no statistic of that name here", change.name->at};
    }
    auto name = stored_name(change.name->value);
    if (!name && by == By::kUser) return error_at(name.error(), change.name->at);
    if (!name) name = std::string(change.name->value);
    const auto source = find_source(change, name.value());
    if (!source) return source.error();
    auto made = append_view(name.value(), *source.value(), line, change, now, by);
    if (!made) return made.error();
    return true;
  }
  if (change.of->value.empty() && named->source()) {
    if (change.is_strict && (change.redefines() || change.on || change.data_reset)) {
      return at_source(ErrorCode::kInvalid, "of= removes the view: no other key goes with it",
                       change);
    }
    remove(*named);
    note_change(now);
    return true;
  }
  if (auto checked = check_view(change, *named); !checked) return checked.error();
  if (named->source()) {
    if (auto same = check_decimals(change, *named->source()); !same) return same.error();
  }
  LineProgress whole;
  return redefine(line, change, named, now, by, {whole, never_late});
}

}  // namespace tallyfs::statistics
