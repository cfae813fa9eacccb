// How a line takes effect on those that it is for: whole where they are few, in steps where it is
// for all of a large interface.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/statistics/definition/unread_words.h"
#include "core/statistics/interface/interface.h"

namespace tallyfs::statistics {
namespace {

// A line for all says of which it is not possible.
Error of_one(const Change& line, const Statistic& statistic, Error error) {
  if (!line.name) error.reason = statistic.name() + ": " + error.reason;
  return error;
}

// 0 for a difference that has wrapped.
std::uint64_t above_zero(std::uint64_t difference) {
  return static_cast<std::int64_t>(difference) > 0 ? difference : 0;
}

}  // namespace

// Views have the decimals of their source, and its units until they are given others: they follow
// it.
template <typename Visit>
Result<bool> Interface::each_change(const Change& change, Statistic* named, const LineStep& step,
                                    Visit visit) {
  if (!named) {
    StatisticRow::Left left(statistics_, step, kLineAtOnce);
    while (Statistic* const next = left.next()) {
      if (auto done = visit(*next, change); !done) return done.error();
    }
    return !left.is_cut();
  }
  const std::string before = named->definition().units;
  if (auto done = visit(*named, change); !done) return done.error();
  if (!change.units && !change.decimals) return true;
  for (Statistic* const view : named->views()) {
    Change its{.decimals = change.decimals};
    if (view->definition().units == before) its.units = change.units;
    if (!its.redefines()) continue;
    if (auto done = visit(*view, its); !done) return done.error();
  }
  return true;
}

// The definition after the change, if that is possible.
Result<Definition> Interface::definition_after(const Change& line, const Statistic& statistic,
                                               const Change& change) {
  if (auto kept = keep_sample_scale(change, statistic); !kept) {
    return of_one(line, statistic, kept.error());
  }
  auto after = apply(change, statistic.definition());
  if (!after) return of_one(line, statistic, after.error());
  return after;
}

// Whether the line is possible for each that it is for, and what they grow by; where steps come
// between them, none has what others do not need any more.
Result<bool> Interface::plan(std::string_view line, const Change& change, Statistic* named,
                             bool is_whole, const LineStep& step) {
  LineProgress& at = step.progress;
  Attributes attributes(at.attributes);
  const auto add = [&](std::uint64_t more) { at.sum += is_whole ? more : above_zero(more); };
  const auto look = [&](const Statistic& statistic, const Change& its) -> Result<void> {
    if (!its.redefines()) {
      add(statistic.growth_by(its, statistic.definition()));
      return {};
    }
    const auto after = definition_after(change, statistic, its);
    if (!after) return after.error();
    if (&its == &change) attributes |= attributes_of(after.value().settings);
    add(statistic.growth_by(its, after.value()));
    return {};
  };
  const auto done = each_change(change, named, step, look);
  at.attributes = static_cast<std::uint8_t>(attributes.to_ulong());
  if (!done || !done.value()) return done;
  if (change.is_strict) {
    if (auto read = statistics::check_all_read(line, attributes); !read) return read.error();
  }
  return true;
}

// One that cannot be changed any more, since another line has changed it or the quota has filled
// between two steps, ends the line.
struct Interface::Effect {
  const Change& line;
  Timestamp now;
  By by = By::kUser;
  bool is_whole = false;   // no step came or comes before its end
  std::uint64_t room = 0;  // reserved for what grows; what shrinks comes to it
  bool has_changed = false;
  CellBudget budget = CellBudget::for_command();
};

// more: below 0 it wraps, and is room for what follows. Of a whole line all is reserved, and in the
// end room is not below 0.
Result<void> Interface::make_room(std::uint64_t more, Effect& effect) {
  const std::uint64_t needed = effect.is_whole ? 0 : above_zero(more);
  if (needed > effect.room) {
    auto grown = reservation_.grow({.bytes = needed - effect.room});
    if (!grown) return grown;
    effect.room = needed;
  }
  effect.room -= more;
  return {};
}

Result<void> Interface::change_one(Statistic& statistic, const Change& change, Effect& effect) {
  if (!change.redefines()) {
    if (change.data_reset) {
      const std::uint64_t more = statistic.growth_by(change, statistic.definition());
      if (auto room = make_room(more, effect); !room) return room;
    }
    effect.has_changed |= carry_out(statistic, change, effect.now, effect.budget);
  } else {
    auto after = definition_after(effect.line, statistic, change);
    if (!after) return after.error();
    auto room = make_room(statistic.growth_by(change, after.value()), effect);
    if (!room) return room;
    effect.has_changed |=
        carry_out(statistic, change, std::move(after.value()), effect.now, effect.budget);
  }
  // Their turn may come a step later.
  if (!effect.is_whole && change.decimals) sync_views(statistic, effect.now);
  if (effect.by == By::kUser && &change == &effect.line) statistic.note_asked(change);
  return {};
}

// Each definition is reckoned a second time: to keep them from plan() on would take more memory,
// and more time, for an interface of many statistics.
Result<bool> Interface::redefine(std::string_view line, const Change& change, Statistic* named,
                                 Timestamp now, By by, const LineStep& step) {
  LineProgress& at = step.progress;
  if (at.has_begun && at.closings != statistics_.closings()) at = {.has_changed = at.has_changed};
  const bool is_few = named || statistics_.size() <= kLineAtOnce;
  Effect effect{.line = change, .now = now, .by = by, .is_whole = is_few && !at.has_begun};
  if (!at.is_planned && (change.redefines() || change.data_reset)) {
    const auto planned = plan(line, change, named, effect.is_whole, step);
    if (!planned || !planned.value()) return planned;
    const std::uint64_t more = above_zero(at.sum);
    if (auto room = reservation_.grow({.bytes = more}); !room) return room.error();
    effect.room = more;
    at.is_planned = true;
    at.next = 0;
  }
  const auto visit = [&](Statistic& statistic, const Change& its) REQUIRES(mutex_) {
    return change_one(statistic, its, effect);
  };
  const auto done = each_change(change, named, step, visit);
  if (effect.room != 0) reservation_.shrink({.bytes = effect.room});
  if (effect.has_changed) note_change(now);
  at.has_changed |= effect.has_changed;
  if (done || !at.has_changed) return done;
  Error error = done.error();
  error.reason += "; statistics before it are changed";
  return error;
}

Result<bool> Interface::undo(const Change& change, Statistic* named, Timestamp now,
                             const LineStep& step) {
  if (change.redefines() || change.on || change.data_reset || change.of) {
    return Error{ErrorCode::kInvalid, "undo=1 goes with name= alone", change.undo->at};
  }
  LineProgress& at = step.progress;
  if (!at.has_begun) forget_expired(now);
  CellBudget budget = CellBudget::for_command();
  bool has_changed = false;
  const auto restore_one = [&](Statistic& statistic) REQUIRES(mutex_) {
    const Discarded* const kept = discarded_ ? discarded_->find(statistic) : nullptr;
    const Statistic* const source = statistic.source();
    if (!kept || (source && kept->definition.decimals != source->definition().decimals)) return;
    at.sum += restore(statistic, now, budget);
    has_changed = true;
  };
  bool is_cut = false;
  if (named) {
    restore_one(*named);
  } else {
    StatisticRow::Left left(statistics_, step, kLineAtOnce);
    while (Statistic* const next = left.next()) restore_one(*next);
    is_cut = left.is_cut();
  }
  at.has_changed |= has_changed;
  if (has_changed) note_change(now);
  if (is_cut) return false;
  if (!at.has_changed) {
    return Error{
        ErrorCode::kInvalid,
        "nothing to undo: no data were discarded in the last 60 s, or what was is not kept",
        change.undo->at};
  }
  if (discarded_) discarded_->report.lost_samples = at.sum;
  return true;
}

}  // namespace tallyfs::statistics
