#include "tools/past/increments.h"

#include <algorithm>
#include <utility>

#include "tools/past/derived_point.h"
#include "tools/tree/statistics_json.h"

namespace tallyfs::past {
namespace {

// The wall clock is set, not slewed, if it moves by more between two moments.
constexpr std::uint64_t kClockStepUs = 500'000;

std::uint64_t distance(std::uint64_t a, std::uint64_t b) { return a < b ? b - a : a - b; }

// But for `on`, which says nothing of how samples are counted.
bool is_alike(const view::Statistic& a, const view::Statistic& b) {
  const auto differs = [](const view::Key& x, const view::Key& y) {
    return x.name != y.name || (x.name != "on" && x.value != y.value);
  };
  if (a.definition.size() != b.definition.size()) return false;
  for (std::size_t i = 0; i < a.definition.size(); ++i) {
    if (differs(a.definition[i], b.definition[i])) return false;
  }
  return true;
}

std::string text_of(const Json& json) {
  std::string text;
  JsonWriter writer(text);
  write_json(writer, json);
  return text;
}

}  // namespace

std::vector<std::string> Increments::begin(const view::Tree& tree) {
  note_pause(tree);
  if (tree.epoch != epoch_) kept_.clear();
  epoch_ = tree.epoch;
  // Samples between two moments belong to the middle.
  const std::uint64_t length = tree.realtime_us - std::min(tree.realtime_us, realtime_us_);
  const std::uint64_t step_us = writer_.step_us();
  const std::uint64_t back = before_us_ == 0 ? step_us / 2 : std::min(length, step_us) / 2;
  time_us_ = tree.time_us;
  realtime_us_ = tree.realtime_us;
  writer_.go_to(realtime_us_ - std::min(realtime_us_, back));
  serials_.clear();
  std::vector<std::string> wanted;
  for (const view::InterfaceSummary& each : tree.interfaces) {
    serials_[each.name] = each.serial;
    const auto found = kept_.find(each.name);
    if (found == kept_.end() || found->second.serial != each.serial)
      wanted.push_back(each.name);
    else
      observe(found->second);
  }
  std::erase_if(kept_, [&](const auto& each) { return !serials_.contains(each.first); });
  return wanted;
}

void Increments::lose(const std::string& reason, std::uint64_t realtime_us) {
  if (lost_.empty()) lost_us_ = realtime_us;
  lost_ = reason;
}

// The time before the first moment.
void Increments::note_begin(std::uint64_t until_us) {
  const std::uint64_t written_us = writer_.written_until_us();
  if (written_us >= until_us - std::min(until_us, writer_.step_us())) return;
  const bool is_first = written_us == 0;
  writer_.note({.span = {written_us, until_us},
                .reason = is_first ? "nothing was recorded yet" : "the recorder did not run"});
}

void Increments::note_pause(const view::Tree& tree) {
  const Span span{realtime_us_, tree.realtime_us};
  const std::string lost = std::exchange(lost_, {});
  before_us_ = std::exchange(time_us_, 0);
  if (before_us_ == 0) {
    const std::uint64_t begin_us = lost.empty() ? tree.realtime_us : lost_us_;
    note_begin(begin_us);
    if (!lost.empty()) writer_.note({.span = {begin_us, tree.realtime_us}, .reason = lost});
    return;
  }
  if (tree.epoch != epoch_) {
    before_us_ = std::min(before_us_, tree.time_us);
    return writer_.note({.span = span, .reason = "the daemon has started again"});
  }
  const std::uint64_t length = tree.time_us - std::min(tree.time_us, before_us_);
  const std::uint64_t clock = tree.realtime_us - std::min(tree.realtime_us, realtime_us_);
  if (distance(length, clock) > kClockStepUs) {
    writer_.note({.span = {std::min(span.begin_us, span.end_us), tree.realtime_us},
                  .reason = "the clock was set"});
  } else if (length > 2 * writer_.step_us()) {
    writer_.note({.span = span, .reason = lost.empty() ? kReadLate : lost});
  }
}

void Increments::observe(const Kept& kept) {
  for (std::size_t i = 0; i < kept.stored.size(); ++i) {
    const view::Statistic& statistic = kept.newest.statistics[i];
    const auto& [series, adding] = kept.stored[i];
    if (series != 0 && statistic.on) writer_.add(series, quiet_point(statistic), adding);
  }
}

Result<void> Increments::take(const Json& json) {
  auto interface = to_interface(json);
  if (!interface) return interface.error();
  const Json* const statistics = json.find("statistics");
  view::Interface& now = interface.value();
  // The daemon has started again since statistics.json was read: the next moment tells.
  if (now.epoch != epoch_) return {};
  const auto found = kept_.find(now.name);
  Kept made{.serial = serials_[now.name], .stored = {}};
  made.stored.resize(now.statistics.size());
  for (std::size_t i = 0; i < now.statistics.size(); ++i) {
    if (!is_stored(now.statistics[i])) continue;
    take(now, i, statistics->items[i], found == kept_.end() ? nullptr : &found->second,
         made.stored);
  }
  // It may have counted on since the tree was read: then it is read again.
  made.newest = std::move(now);
  kept_.insert_or_assign(made.newest.name, std::move(made));
  return {};
}

// A view follows its source, whose definition may be another one than at the moment before.
void Increments::derive(Adding& adding, const view::Interface& now, const view::Statistic& of_view,
                        const std::vector<Stored>& all) {
  adding.source = 0;
  adding.how = Derivation::kNone;
  const view::Statistic* const source = now.find(of_view.key("of"));
  if (!source || !source->key("of").empty()) return;
  const std::uint64_t series =
      all[static_cast<std::size_t>(source - now.statistics.data())].series;
  if (series == 0) return;
  adding.source = series;
  adding.how = derivation_of(*source, of_view);
}

// All that it has was counted since the moment before.
bool Increments::is_new(const view::Statistic& statistic) const {
  return before_us_ != 0 && statistic.data_us >= before_us_;
}

void Increments::take(const view::Interface& now, std::size_t number, const Json& json,
                      const Kept* kept, std::vector<Stored>& all) {
  const view::Statistic& statistic = now.statistics[number];
  Stored& stored = all[number];
  const view::Statistic* before = kept ? kept->newest.find(statistic.name) : nullptr;
  const bool is_same = before && is_alike(*before, statistic);
  if (is_same) {
    stored = kept->stored[static_cast<std::size_t>(before - kept->newest.statistics.data())];
  }
  if (!is_same || (stored.series != 0 && !writer_.knows(stored.series))) {
    stored.series = writer_.series(now.name, statistic.name, text_of(shape_of(json)));
    stored.adding = adding_of(statistic);
  }
  if (!statistic.key("of").empty()) derive(stored.adding, now, statistic, all);
  const bool goes_on = is_same && before->data_us == statistic.data_us;
  if (before && !goes_on) {
    writer_.note({.span = {realtime_us_, realtime_us_},
                  .interface = now.name,
                  .statistic = statistic.name,
                  .reason = is_same ? kReset : "redefined"});
  }
  if (!goes_on && !is_new(statistic)) return;
  auto point = point_between(goes_on ? before : nullptr, statistic);
  if (!point) return;
  if (before && !goes_on) {
    point->samples = statistic.samples - std::min(before->samples, statistic.samples);
  }
  if (!statistic.on && !point->has_samples()) return;
  writer_.add(stored.series, *point, stored.adding);
}

}  // namespace tallyfs::past
