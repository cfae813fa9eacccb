#include "exporters/web/changes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "tools/display/changed_reason.h"
#include "tools/display/most_changed.h"
#include "tools/display/summary.h"

namespace tallyfs::web {
namespace {

using Series = past::StoredPasts::Series;

// A recorder writes each 10 s.
constexpr std::uint64_t kEndedUs = 30'000'000;
constexpr std::size_t kBaselineMin = 2;  // spans

// What the channel of a row compares: a number for each block of span and baseline that has one.
std::vector<std::optional<double>> line_of(const view::ChangedRow& row, const view::Past& past) {
  const auto channel = row.behaviour.channel;
  const auto blocks = past.blocks();
  const std::size_t wanted = view::Past::kBaselineBlocks + view::Past::kSpanBlocks;
  std::vector<std::optional<double>> made;
  for (const auto& each : blocks.last(std::min(blocks.size(), wanted))) {
    if (channel == view::Channel::kRate)
      made.push_back(each.count);
    else if (channel == view::Channel::kValue)
      made.push_back(each.value);
    else if (each.levels > 0)
      made.push_back(std::exp2(each.level_sum / each.levels));
    else
      made.push_back(std::nullopt);
  }
  return made;
}

// The newest minute of what was read; nothing of a store that has ended.
class Table {
 public:
  Table(const past::StoredPasts& pasts, std::uint64_t now_us)
      : span_(pasts.span()),
        left_out_(pasts.left_out()),
        has_ended_(span_.end_us != 0 && span_.end_us + kEndedUs < now_us) {
    if (has_ended_) return;
    for (const Series* const each : pasts.series()) {
      if (pasts.is_new(*each)) new_.push_back(view::shown_name(each->interface, each->name));
      const std::size_t spans = view::baseline_spans(each->past);
      spans_ = std::max(spans_, spans);
      if (spans < kBaselineMin) continue;
      ranked_.push_back(each);
      watched_.push_back({each->interface, &each->past});
      ++in_interface_[each->interface];
    }
    rows_ = view::most_changed(watched_, {.rows_max = Changes::kRowsMax});
    is_unusual_ = !rows_.empty() && rows_.front().is_unusual;
    if (!is_unusual_) rows_.resize(std::min(rows_.size(), Changes::kRowsOfQuiet));
  }

  void write(JsonWriter& writer) const {
    writer.key("state").string(has_ended_         ? "ended"
                               : watched_.empty() ? "young"
                               : is_unusual_      ? "unusual"
                                                  : "usual");
    writer.key("to_us").number(span_.end_us);
    writer.key("baseline_s").number(spans_ * past::StoredPasts::kSpanUs / 1'000'000);
    writer.key("ranked").number(ranked_.size()).key("left_out").number(left_out_);
    writer.key("rows").begin_array();
    for (const view::ChangedRow& each : rows_) write_row(writer, each);
    writer.end_array().key("new").begin_array();
    for (std::size_t i = 0; i < std::min(new_.size(), Changes::kNewMax); ++i) {
      writer.string(new_[i]);
    }
    writer.end_array().key("new_all").number(new_.size());
  }

 private:
  void write_row(JsonWriter& writer, const view::ChangedRow& row) const {
    const Series& first = *ranked_[row.members.front()];
    view::Look look{.charset = view::Charset::kUtf8};
    writer.begin_object().key("interface").string(first.interface).key("statistics").begin_array();
    for (const std::size_t each : row.members) writer.string(ranked_[each]->name);
    writer.end_array().key("channel").string(view::name_of(row.behaviour.channel));
    writer.key("score").decimals(row.behaviour.score, 1).key("unusual").boolean(row.is_unusual);
    writer.key("since_us").number(first.realtime_us(row.onset.begin));
    const view::Statistic& statistic = first.portions.statistic();
    writer.key("why").string(view::reason_of({.row = &row,
                                              .past = &first.past,
                                              .in_interface = in_interface_.at(first.interface),
                                              .units = statistic.units,
                                              .decimals = statistic.decimals()},
                                             look));
    writer.key("line").begin_array();
    for (const auto& each : line_of(row, first.past)) {
      each ? writer.decimals(*each, 1) : writer.null();
    }
    writer.end_array().end_object();
  }

  const past::Span span_;
  const std::size_t left_out_;
  const bool has_ended_;
  std::vector<const Series*> ranked_;
  std::vector<view::Watched> watched_;  // the same
  std::map<std::string_view, std::size_t> in_interface_;
  std::vector<std::string> new_;
  std::vector<view::ChangedRow> rows_;
  std::size_t spans_ = 0;  // of the longest baseline
  bool is_unusual_ = false;
};

}  // namespace

std::string Changes::json(std::uint64_t now_us) {
  const Clock::time_point now = clock_();
  {
    const MutexLock lock(mutex_);
    asked_ = now;
    if (is_reading_) return text_.empty() ? R"({"state":"reading","part":0})" : text_;
    if (made_ && now - *made_ < kEach) return text_;
    is_reading_ = true;
  }
  auto made = make(now_us);
  const Clock::time_point ended = clock_();
  const MutexLock lock(mutex_);
  is_reading_ = false;
  made_ = ended;
  if (!made) return text_;
  if (!made->is_whole) made_.reset();
  text_ = std::move(made->text);
  return text_;
}

std::optional<Changes::Made> Changes::make(std::uint64_t now_us) {
  if (!pasts_) pasts_.emplace(store_);
  const auto done = pasts_->read(clock_() + kReadTime);
  const std::uint64_t end_us = done && done.value() ? pasts_->span().end_us : 0;
  const bool is_same = end_us != 0 && end_us == shown_us_ && end_us + kEndedUs >= now_us;
  if (is_same) return std::nullopt;
  shown_us_ = end_us;
  Made made{.is_whole = !done || done.value()};
  JsonWriter writer(made.text);
  writer.begin_object();
  if (!done) {
    writer.key("state").string("none").key("reason").string(done.error().reason);
  } else if (!done.value()) {
    writer.key("state").string("reading").key("part").decimals(pasts_->part_read(), 2);
  } else {
    Table(*pasts_, now_us).write(writer);
  }
  writer.end_object();
  return made;
}

void Changes::tick() {
  const Clock::time_point now = clock_();
  const MutexLock lock(mutex_);
  if (is_reading_ || !asked_ || now - *asked_ < kKeep) return;
  pasts_.reset();
  shown_us_ = 0;
  asked_.reset();
  made_.reset();
  text_.clear();
}

}  // namespace tallyfs::web
