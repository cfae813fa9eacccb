// From snapshots to points and facts: resets, redefinitions, restarts, gaps, what is off.
#include "tools/past/increments.h"

#include <gtest/gtest.h>

#include "tests/unit/past/second.h"
#include "tests/unit/past/value_snapshot.h"
#include "tests/unit/temporary_directory.h"
#include "tools/past/span_source.h"
#include "tools/tree/statistics_json.h"

namespace tallyfs::past {
namespace {

struct Snapshot {
  std::uint64_t at = 0;  // seconds
  std::uint64_t total = 0;
  std::uint64_t samples = 0;
  std::uint64_t data_us = 0;
  std::string epoch = "1";
  std::string units = "hits";
  bool on = true;
  std::uint64_t wall = kWall;
  bool is_there = true;
};

class Recorder {
 public:
  Recorder() {
    writer_ =
        StoreWriter::open(directory_ / "store", {.tiers = parse_tiers("1s:1h").value()}).value();
    increments_ = std::make_unique<Increments>(*writer_);
  }

  void take(const Snapshot& now) {
    view::Tree tree{.epoch = now.epoch, .time_us = now.at * kSecondUs};
    tree.realtime_us = now.wall + now.at * kSecondUs;
    if (now.is_there) tree.interfaces.push_back({.name = "web", .serial = ++serial_});
    for (const std::string& each : increments_->begin(tree)) {
      EXPECT_EQ(each, "web");
      const ValueSnapshot value{now.total, now.samples, now.data_us, now.units, now.on};
      EXPECT_TRUE(increments_->take(json_of(value, tree)));
    }
  }
  // Nothing counted: the serial is the one before.
  void take_quiet(Snapshot now) {
    --serial_;
    take(now);
  }
  Increments& increments() { return *increments_; }

  // The total in the seconds, and for how long it was observed; nothing if it was not.
  struct Counted {
    Int128 total = 0;
    std::uint64_t seconds = 0;
    bool operator==(const Counted&) const = default;
  };
  std::optional<Counted> counted(std::uint64_t from, std::uint64_t to) {
    const auto source = open(from, to);
    const auto interface = read_interface(*source, "web");
    const view::Statistic* const found = interface ? interface.value().find("x") : nullptr;
    if (!found) return std::nullopt;
    return Counted{std::get<view::Value>(found->values).total,
                   (interface.value().time_us - found->data_us) / kSecondUs};
  }
  std::string reasons(std::uint64_t from, std::uint64_t to) {
    std::string made;
    for (const Fact& each : open(from, to)->facts().value()) {
      made.append(made.empty() ? "" : ", ").append(each.reason);
    }
    return made;
  }

 private:
  std::unique_ptr<SpanSource> open(std::uint64_t from, std::uint64_t to) {
    EXPECT_TRUE(writer_->flush());
    return SpanSource::open(StoreReader::open(directory_ / "store").value(),
                            {kWall + from * kSecondUs, kWall + to * kSecondUs})
        .value();
  }

  TemporaryDirectory directory_;
  std::unique_ptr<StoreWriter> writer_;
  std::unique_ptr<Increments> increments_;
  std::uint64_t serial_ = 0;
};

using Counted = Recorder::Counted;

TEST(IncrementsTest, WhatWasThereAtTheStartIsNoCount) {
  Recorder recorder;
  recorder.take({.at = 100, .total = 500, .samples = 50});
  // A flush does not forget one that has counted nothing yet.
  EXPECT_FALSE(recorder.counted(99, 101));
  recorder.take({.at = 101, .total = 507, .samples = 52});
  recorder.take_quiet({.at = 102});
  EXPECT_EQ(recorder.counted(99, 103), (Counted{7, 2}));
  EXPECT_EQ(recorder.counted(101, 102), (Counted{0, 1}));
  EXPECT_EQ(recorder.reasons(99, 103), "nothing was recorded yet");
}

TEST(IncrementsTest, AResetIsAFactAndCountsGoOnFromZero) {
  Recorder recorder;
  recorder.take({.at = 100, .total = 500, .samples = 50});
  recorder.take({.at = 101, .total = 3, .samples = 53, .data_us = 100 * kSecondUs + 5});
  EXPECT_EQ(recorder.counted(100, 101), (Counted{3, 1}));
  EXPECT_EQ(recorder.reasons(100, 102), "reset");
}

TEST(IncrementsTest, ARedefinitionIsAFactAndAnotherStatistic) {
  Recorder recorder;
  recorder.take({.at = 100, .total = 5, .samples = 5});
  recorder.take({.at = 101, .total = 6, .samples = 6});
  recorder.take({.at = 102, .total = 40, .samples = 8, .data_us = 101 * kSecondUs, .units = "us"});
  EXPECT_EQ(recorder.counted(100, 103), (Counted{40, 1}));
  EXPECT_EQ(recorder.reasons(100, 103), "redefined");
}

TEST(IncrementsTest, ARestartIsAFactAndCountsBeginAgain) {
  Recorder recorder;
  recorder.take({.at = 100, .total = 5, .samples = 5});
  recorder.take({.at = 101, .total = 6, .samples = 6});
  recorder.take({.at = 104, .total = 900, .samples = 900, .epoch = "2"});
  recorder.take({.at = 105, .total = 902, .samples = 902, .epoch = "2"});
  EXPECT_EQ(recorder.counted(100, 106), (Counted{3, 2}));
  EXPECT_EQ(recorder.reasons(100, 106), "the daemon has started again");
}

TEST(IncrementsTest, SecondsThatWereNotReadAreAGapAndTheirCountsAreKept) {
  Recorder recorder;
  recorder.take({.at = 100, .total = 5, .samples = 5});
  recorder.increments().lose("the daemon did not answer", kWall + 101 * kSecondUs);
  recorder.take({.at = 109, .total = 95, .samples = 95});
  EXPECT_EQ(recorder.counted(100, 110), (Counted{90, 1}));
  EXPECT_EQ(recorder.reasons(100, 110), "the daemon did not answer");
}

TEST(IncrementsTest, ADaemonThatDoesNotAnswerAtTheStartIsAGapOfItsOwn) {
  Recorder recorder;
  recorder.increments().lose("the daemon did not answer", kWall + 95 * kSecondUs);
  recorder.increments().lose("the daemon did not answer", kWall + 97 * kSecondUs);
  recorder.take({.at = 100, .total = 5, .samples = 5});
  recorder.take({.at = 101, .total = 7, .samples = 7});
  EXPECT_EQ(recorder.reasons(90, 101), "nothing was recorded yet, the daemon did not answer");
  EXPECT_EQ(recorder.reasons(96, 101), "the daemon did not answer");
}

TEST(IncrementsTest, WhatIsOffIsNotObserved) {
  Recorder recorder;
  recorder.take({.at = 100, .total = 5, .samples = 5});
  recorder.take({.at = 101, .total = 7, .samples = 7, .on = false});
  recorder.take({.at = 102, .total = 7, .samples = 7, .on = false});
  recorder.take_quiet({.at = 103});
  EXPECT_EQ(recorder.counted(100, 104), (Counted{2, 1}));
}

// The store forgets it while it is off.
TEST(IncrementsTest, AStatisticThatWasOffForLongerThanTheStoreKeepsIsRecordedOnceItIsOn) {
  Recorder recorder;
  recorder.take({.at = 100, .total = 5, .samples = 5});
  recorder.take({.at = 101, .total = 7, .samples = 7});
  EXPECT_EQ(recorder.counted(100, 102), (Counted{2, 1}));
  std::uint64_t at = 101;
  for (int half_hour = 0; half_hour < 8; ++half_hour) {
    at += 1800;
    recorder.take({.at = at, .total = 7, .samples = 7, .on = false});
    EXPECT_FALSE(recorder.counted(at - 1, at + 1));
  }
  recorder.take({.at = at + 1, .total = 7, .samples = 7});
  recorder.take({.at = at + 2, .total = 10, .samples = 10});
  EXPECT_EQ(recorder.counted(at + 1, at + 3), (Counted{3, 1}));
}

TEST(IncrementsTest, AStatisticThatIsNewHasAllThatItCounted) {
  Recorder recorder;
  recorder.take({.at = 100, .is_there = false});
  recorder.take({.at = 101, .total = 5, .samples = 5, .data_us = 100 * kSecondUs + 3});
  EXPECT_EQ(recorder.counted(100, 102), (Counted{5, 1}));
  Recorder other;
  other.take({.at = 100, .is_there = false});
  // It was there before, below a name that it has lost: what it counted when is not known.
  other.take({.at = 101, .total = 5, .samples = 5, .data_us = 50 * kSecondUs});
  EXPECT_FALSE(other.counted(100, 102));
}

TEST(IncrementsTest, AClockThatWasSetIsAFact) {
  Recorder recorder;
  recorder.take({.at = 100, .total = 5, .samples = 5});
  recorder.take({.at = 101, .total = 7, .samples = 7, .wall = kWall + 60 * kSecondUs});
  EXPECT_EQ(recorder.reasons(100, 200), "the clock was set");
  EXPECT_EQ(recorder.counted(100, 200), (Counted{2, 1}));
}

}  // namespace
}  // namespace tallyfs::past
