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

// What the channel of a row compares: a number for each block of span and baseline.
std::vector<double> line_of(const view::ChangedRow& row, const view::Past& past) {
  const auto channel = row.behaviour.channel;
  const auto blocks = past.blocks();
  const std::size_t wanted = view::Past::kBaselineBlocks + view::Past::kSpanBlocks;
  std::vector<double> made;
  for (const auto& each : blocks.last(std::min(blocks.size(), wanted))) {
    if (channel == view::Channel::kRate)
      made.push_back(each.count);
    else if (channel == view::Channel::kValue)
      made.push_back(each.value);
    else
      made.push_back(each.levels > 0 ? std::exp2(each.level_sum / each.levels) : 0);
  }
  return made;
}

// The newest minute of what was read.
class Table {
 public:
  explicit Table(const past::StoredPasts& pasts) : span_(pasts.span()) {
    for (const Series* const each : pasts.series()) {
      if (each->is_new) new_.push_back(view::shown_name(each->interface, each->name));
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

  void write(JsonWriter& writer, std::uint64_t now_us) const {
    const bool has_ended = span_.end_us + kEndedUs < now_us;
    writer.key("state").string(has_ended          ? "ended"
                               : watched_.empty() ? "young"
                               : is_unusual_      ? "unusual"
                                                  : "usual");
    writer.key("to_us").number(span_.end_us);
    writer.key("baseline_s").number(spans_ * past::StoredPasts::kSpanUs / 1'000'000);
    writer.key("ranked").number(ranked_.size());
    writer.key("rows").begin_array();
    if (!has_ended) {
      for (const view::ChangedRow& each : rows_) write_row(writer, each);
    }
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
    for (const double each : line_of(row, first.past)) writer.decimals(each, 1);
    writer.end_array().end_object();
  }

  const past::Span span_;
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
  const MutexLock lock(mutex_);
  asked_ = Clock::now();
  if (!made_ || *asked_ - *made_ >= kEach) make(now_us);
  return text_;
}

void Changes::make(std::uint64_t now_us) {
  if (!pasts_) pasts_.emplace(store_);
  const auto done = pasts_->read(Clock::now() + kReadTime);
  const std::uint64_t end_us = done && done.value() ? pasts_->span().end_us : 0;
  made_ = Clock::now();
  const bool is_same = end_us != 0 && end_us == shown_us_ && end_us + kEndedUs >= now_us;
  if (is_same) return;
  shown_us_ = end_us;
  text_.clear();
  JsonWriter writer(text_);
  writer.begin_object();
  if (!done) {
    writer.key("state").string("none").key("reason").string(done.error().reason);
  } else if (!done.value()) {
    made_.reset();
    writer.key("state").string("reading").key("part").decimals(pasts_->part_read(), 2);
  } else {
    Table(*pasts_).write(writer, now_us);
  }
  writer.end_object();
}

void Changes::tick() {
  const MutexLock lock(mutex_);
  if (!asked_ || Clock::now() - *asked_ < kKeep) return;
  pasts_.reset();
  asked_.reset();
  made_.reset();
  shown_us_ = 0;
}

}  // namespace tallyfs::web
