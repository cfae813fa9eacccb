// A night of eight hours, played: kills of the recorder, restarts of the daemon and times without
// an answer. No number of it is wrong, and each gap has its reason.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/unit/past/second.h"
#include "tests/unit/past/value_snapshot.h"
#include "tests/unit/random.h"
#include "tests/unit/temporary_directory.h"
#include "tools/past/increments.h"
#include "tools/past/span_source.h"
#include "tools/tree/statistics_json.h"

namespace tallyfs::past {
namespace {

constexpr std::uint64_t kStepUs = 10 * kSecondUs;
constexpr std::uint64_t kSteps = 8 * 3600 / 10;

class Night {
 public:
  Night() { begin_recorder(); }

  void play() {
    while (grown_.size() < kSteps) {
      pass();
      take();
      switch (random_.below(400)) {
        case 0:
          kill_recorder();
          break;
        case 1:
          restart_daemon();
          break;
        case 2:
          answer_nothing("the daemon did not answer");
          break;
        case 3:
        case 4:
          counter_ = 0;
          data_us_ = now_us();
          break;
        default:
          break;
      }
    }
    pass();
    take();
    EXPECT_TRUE(writer_->end());
  }

  void check(std::uint64_t from, std::uint64_t to) {
    const auto source = open({kWall + from * kStepUs, kWall + to * kStepUs});
    const auto interface = read_interface(*source, "web");
    const view::Statistic* const found = interface ? interface.value().find("x") : nullptr;
    const Span span = source->span();
    const Int128 shown = found ? std::get<view::Value>(found->values).total : 0;
    std::vector<Fact> gaps = source->facts().value();
    std::erase_if(gaps, [](const Fact& fact) { return fact.reason == kReset; });
    if (gaps.empty()) {
      ASSERT_TRUE(found) << random_.seed();
      EXPECT_EQ(interface.value().time_us - found->data_us, span.end_us - span.begin_us);
      EXPECT_EQ(shown, grown(span)) << random_.seed();
      return;
    }
    // What was counted in a gap may stand in the first point behind it.
    Span with_gaps = span;
    for (const Fact& gap : gaps) {
      with_gaps.begin_us = std::min(with_gaps.begin_us, std::max(gap.span.begin_us, kWall));
    }
    EXPECT_LE(shown, grown(with_gaps)) << random_.seed();
    ++with_gap_;
  }

  void check_all() {
    const auto source = open({kWall, kWall + grown_.size() * kStepUs});
    const Int128 all = grown({kWall, kWall + grown_.size() * kStepUs});
    const auto interface = read_interface(*source, "web");
    ASSERT_TRUE(interface);
    const view::Statistic* const found = interface.value().find("x");
    ASSERT_TRUE(found);
    const Int128 shown = std::get<view::Value>(found->values).total;
    EXPECT_LE(shown, all) << random_.seed();
    EXPECT_GE(shown + lost_max_, all) << random_.seed();
  }
  // Spans that were checked, in which something is not known.
  int with_gap() const { return with_gap_; }
  std::uint64_t steps() const { return grown_.size(); }
  Random& random() { return random_; }

 private:
  std::uint64_t now_us() const { return grown_.size() * kStepUs; }

  // A step of time, in which something is counted.
  void pass() {
    grown_.push_back(random_.below(50));
    counter_ += grown_.back();
  }
  void take() {
    const bool is_first = std::exchange(is_first_, false);
    if (is_first) lost_max_ += static_cast<Int128>(grown_.back());
    view::Tree tree{.epoch = std::to_string(epoch_), .time_us = now_us()};
    tree.realtime_us = kWall + now_us();
    tree.interfaces.push_back({.name = "web", .serial = ++serial_});
    for (const std::string& each : increments_->begin(tree)) {
      EXPECT_EQ(each, "web");
      EXPECT_TRUE(increments_->take(json_of({counter_, counter_, data_us_}, tree)));
    }
    if (!writer_->is_due()) return;
    EXPECT_TRUE(writer_->flush());
    flushed_ = grown_.size();
  }

  void begin_recorder() {
    writer_ = StoreWriter::open(directory_ / "store", {.tiers = parse_tiers("10s:1d").value()})
                  .value();
    increments_ = std::make_unique<Increments>(*writer_);
    is_first_ = true;
  }
  // What it has in memory goes; so does what is counted until the next one has begun.
  void kill_recorder() {
    increments_.reset();
    writer_.reset();
    for (std::uint64_t i = 2 + random_.below(30); i > 0; --i) pass();
    for (std::size_t i = flushed_; i < grown_.size(); ++i) {
      lost_max_ += static_cast<Int128>(grown_[i]);
    }
    begin_recorder();
  }
  void restart_daemon() {
    answer_nothing("no mount");
    for (std::size_t i = answered_; i < grown_.size(); ++i) {
      lost_max_ += static_cast<Int128>(grown_[i]);
    }
    counter_ = 0;
    data_us_ = now_us();
    ++epoch_;
    is_first_ = true;
  }
  void answer_nothing(const char* reason) {
    answered_ = grown_.size();
    for (std::uint64_t i = 2 + random_.below(30); i > 0; --i) {
      pass();
      increments_->lose(reason, kWall + now_us());
    }
  }

  Int128 grown(const Span& span) const {
    Int128 sum = 0;
    for (std::uint64_t at = span.begin_us; at < span.end_us; at += kStepUs) {
      const std::uint64_t step = (at - kWall) / kStepUs;
      if (at >= kWall && step < grown_.size()) sum += static_cast<Int128>(grown_[step]);
    }
    return sum;
  }
  std::unique_ptr<SpanSource> open(const Span& span) const {
    return SpanSource::open(StoreReader::open(directory_ / "store").value(), span).value();
  }

  TemporaryDirectory directory_;
  Random random_;
  std::unique_ptr<StoreWriter> writer_;
  std::unique_ptr<Increments> increments_;
  bool is_first_ = true;  // the next moment is the first of its recorder, or of its daemon
  std::vector<std::uint64_t> grown_;  // in each step
  std::uint64_t counter_ = 0;
  std::uint64_t data_us_ = 0;
  std::uint64_t epoch_ = 1;
  std::uint64_t serial_ = 0;
  std::size_t flushed_ = 0;   // the steps that were on the disk last
  std::size_t answered_ = 0;  // the steps before the last time without an answer
  Int128 lost_max_ = 0;
  int with_gap_ = 0;
};

TEST(NightTest, NoNumberOfItIsWrongAndEachGapHasAReason) {
  Night night;
  night.play();
  constexpr int kSpans = 400;
  for (int i = 0; i < kSpans; ++i) {
    const std::uint64_t from = night.random().below(night.steps());
    const std::uint64_t length = 1 + night.random().below(i % 2 == 0 ? 12 : night.steps());
    night.check(from, std::min(from + length, night.steps()));
  }
  // There are of both.
  EXPECT_GT(night.with_gap(), 10) << night.random().seed();
  EXPECT_LT(night.with_gap(), kSpans - 10) << night.random().seed();
  night.check_all();
}

}  // namespace
}  // namespace tallyfs::past
