#include "exporters/web/changes.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "core/base/json.h"
#include "exporters/web/shown_names.h"
#include "exporters/web/span.h"
#include "tools/display/changed_reason.h"
#include "tools/past/ranked_pasts.h"

namespace tallyfs::web {
namespace {

using Series = past::StoredPasts::Series;
using view::SilentRow;

// A recorder writes each 10 s.
constexpr std::uint64_t kEndedUs = 30'000'000;

// The numbers that the row's channel compares: one for each block of span and baseline that has
// one.
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
      : span_(pasts.span()), left_out_(pasts.left_out()), lacking_(pasts.gaps()) {
    lacking_.insert(lacking_.end(), pasts.damaged().begin(), pasts.damaged().end());
    std::ranges::sort(lacking_, {}, [](const past::Fact& each) { return each.span.begin_us; });
    const bool has_ended = span_.end_us != 0 && span_.end_us + kEndedUs < now_us;
    if (!has_ended) ranked_.emplace(pasts, Changes::kRowsMax);
  }

  void write(JsonWriter& writer) const {
    ShownNames names;
    writer.key("state").string(state()).key("to_us").number(span_.end_us);
    const std::size_t spans = ranked_ ? ranked_->spans() : 0;
    writer.key("baseline_s").number(spans * past::StoredPasts::kSpanUs / 1'000'000);
    writer.key("ranked").number(ranked_ ? ranked_->ranked() : 0);
    writer.key("left_out").number(left_out_).key("rows").begin_array();
    const std::vector<const Series*> none;
    const std::vector<const Series*>& fresh = ranked_ ? ranked_->fresh() : none;
    if (ranked_) {
      for (const view::ChangedRow& each : ranked_->rows()) write_row(writer, each, names);
    }
    writer.end_array().key("new").begin_array();
    for (std::size_t i = 0; i < std::min(fresh.size(), Changes::kNewMax); ++i) {
      names.add(fresh[i]->name);
      writer.string(fresh[i]->interface + "/" + fresh[i]->name);
    }
    writer.end_array().key("new_all").number(fresh.size());
    write_silent(writer, names);
    // The newest of them.
    const std::size_t first = lacking_.size() - std::min(lacking_.size(), kFactsMax);
    writer.key("facts").begin_array();
    for (std::size_t i = first; i < lacking_.size(); ++i) write_fact(writer, lacking_[i]);
    writer.end_array().key("facts_more").number(first);
    names.write(writer);
  }

 private:
  const char* state() const {
    if (!ranked_) return "ended";
    if (ranked_->ranked() == 0) return "young";
    return ranked_->is_unusual() ? "unusual" : "usual";
  }

  void write_row(JsonWriter& writer, const view::ChangedRow& row, ShownNames& names) const {
    const Series& first = ranked_->first(row);
    const view::Look look{.charset = view::Charset::kUtf8};
    writer.begin_object().key("interface").string(first.interface).key("statistics").begin_array();
    for (const std::size_t each : row.members) {
      names.add(ranked_->member(each).name);
      writer.string(ranked_->member(each).name);
    }
    writer.end_array().key("channel").string(view::name_of(row.behaviour.channel));
    writer.key("score").decimals(row.behaviour.score, 1).key("unusual").boolean(row.is_unusual);
    writer.key("since_us").number(ranked_->since_us(row));
    writer.key("why").string(ranked_->reason(row, look));
    writer.key("line").begin_array();
    for (const auto& each : line_of(row, first.past())) {
      each ? writer.decimals(*each, 1) : writer.null();
    }
    writer.end_array().end_object();
  }

  void write_silent(JsonWriter& writer, ShownNames& names) const {
    const std::span rows = ranked_ ? std::span(ranked_->silent()) : std::span<const SilentRow>();
    writer.key("silent").begin_array();
    for (const SilentRow& each : rows.first(std::min(rows.size(), Changes::kSilentMax))) {
      writer.begin_object().key("interface").string(ranked_->first(each).interface);
      writer.key("statistics").begin_array();
      for (const std::size_t member : each.members) {
        names.add(ranked_->member(member).name);
        writer.string(ranked_->member(member).name);
      }
      writer.end_array().key("since_us").number(ranked_->since_us(each));
      writer.key("why").string(ranked_->reason(each)).end_object();
    }
    writer.end_array().key("silent_all").number(view::count_members(rows));
  }

  const past::Span span_;
  const std::size_t left_out_;
  std::vector<past::Fact> lacking_;  // what is not known of the time, oldest first
  std::optional<past::RankedPasts> ranked_;
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
