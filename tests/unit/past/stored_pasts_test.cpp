#include "tools/past/stored_pasts.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "tests/unit/past/store_model.h"
#include "tests/unit/temporary_directory.h"

namespace tallyfs::past {
namespace {

constexpr auto kSoon = StoredPasts::Clock::time_point::max();

// Seconds of two statistics, `us` and `errors`; what is written can be read.
class StoredPastsTest : public testing::Test {
 protected:
  StoredPastsTest()
      : writer_(write_to(store_)),
        us_(writer_->series("web", "us", kShape)),
        errors_(writer_->series("web", "errors", R"({"name":"errors","type":"value"})")) {}

  void write(std::uint64_t seconds, std::uint64_t count, std::uint64_t bin = 2) {
    for (std::uint64_t i = 0; i < seconds; ++i, now_ += kSecondUs) {
      writer_->go_to(now_ + kSecondUs / 2);
      writer_->add(us_, second_of(bin, count));
      writer_->add(errors_, {.known = 1, .samples = 1, .number = 1, .total = 7});
    }
  }
  // Seconds of those statistics alone.
  void write_of(std::initializer_list<std::uint64_t> statistics, std::uint64_t seconds) {
    for (std::uint64_t i = 0; i < seconds; ++i, now_ += kSecondUs) {
      writer_->go_to(now_ + kSecondUs / 2);
      for (const std::uint64_t each : statistics) writer_->add(each, {.known = 1});
    }
  }
  const StoredPasts::Series* find(const StoredPasts& pasts, const std::string& name) {
    for (const auto* each : pasts.series()) {
      if (each->name == name) return each;
    }
    return nullptr;
  }
  bool read(StoredPasts& pasts) {
    EXPECT_TRUE(writer_->flush());
    const auto done = pasts.read(kSoon);
    EXPECT_TRUE(done) << (done ? "" : done.error().reason);
    return done && done.value();
  }

  TemporaryDirectory directory_;
  const std::string store_ = directory_ / "store";
  const std::unique_ptr<StoreWriter> writer_;
  const std::uint64_t us_;
  const std::uint64_t errors_;
  std::uint64_t now_ = kBeginUs;
};

TEST_F(StoredPastsTest, EachReadGoesOnWhereTheOneBeforeEnded) {
  StoredPasts pasts(store_);
  write(38, 3);
  ASSERT_TRUE(read(pasts));
  write(38, 3);
  ASSERT_TRUE(read(pasts));
  // The newest second may still be counted.
  EXPECT_EQ(pasts.span(), (Span{kBeginUs, kBeginUs + 75 * kSecondUs}));
  const auto* const us = find(pasts, "us");
  ASSERT_TRUE(us);
  ASSERT_EQ(us->past().blocks().size(), 15u);
  for (const auto& each : us->past().blocks()) EXPECT_EQ(each.count, 15);
  EXPECT_EQ(us->past().buckets(0).size(), 1u);
  EXPECT_EQ(pasts.realtime_us(*us, 5), kBeginUs + 70 * kSecondUs);
  const auto* const errors = find(pasts, "errors");
  ASSERT_TRUE(errors);
  EXPECT_EQ(errors->past().blocks()[3].count, 35);
}

TEST_F(StoredPastsTest, WhatWasReadLateIsSpread) {
  StoredPasts pasts(store_);
  write(20, 10);
  now_ += 3 * kSecondUs;
  write(1, 40);
  write(17, 10);
  ASSERT_TRUE(read(pasts));
  const auto* const us = find(pasts, "us");
  ASSERT_TRUE(us);
  for (const auto& each : us->past().blocks()) EXPECT_FLOAT_EQ(each.count, 50);
  EXPECT_EQ(us->past().blocks().size(), 8u);
}

// Two minutes of three samples a second, ten of nine, and one of seven.
TEST_F(StoredPastsTest, ABaselineOfAnotherTimeIsPutDirectlyBeforeTheSpan) {
  write(120, 3);
  write(600, 9);
  write(61, 7);
  ASSERT_TRUE(writer_->flush());
  const std::uint64_t span_us = kBeginUs + 720 * kSecondUs;
  StoredPasts pasts(store_, {.span = {span_us - 120 * kSecondUs, span_us + 60 * kSecondUs},
                             .seam_us = span_us,
                             .moved_us = 600 * kSecondUs});
  ASSERT_TRUE(read(pasts));
  const auto* const us = find(pasts, "us");
  ASSERT_TRUE(us);
  const auto blocks = us->past().blocks();
  ASSERT_EQ(blocks.size(), 36u);
  for (std::size_t i = 0; i < blocks.size(); ++i) EXPECT_EQ(blocks[i].count, i < 24 ? 15 : 35) << i;
  EXPECT_FALSE(pasts.is_new(*us));
}

TEST_F(StoredPastsTest, APastBeginsAgainAfterARestartOrALongGap) {
  for (const bool is_long : {false, true}) {
    StoredPasts pasts(store_);
    write(20, 10);
    const std::uint64_t gap = is_long ? 30 : 3;
    if (!is_long) {
      writer_->note({.span = {now_, now_ + gap * kSecondUs},
                     .reason = "the daemon has started again"});
    }
    now_ += gap * kSecondUs;
    const std::uint64_t begin = now_;
    write(11, 10);
    ASSERT_TRUE(read(pasts));
    const auto* const us = find(pasts, "us");
    ASSERT_TRUE(us);
    EXPECT_EQ(us->begin_us, begin);
    EXPECT_EQ(us->past().blocks().size(), 2u);
    EXPECT_FALSE(pasts.is_new(*us));
  }
}

TEST_F(StoredPastsTest, ALaterNameIsNewAnotherDefinitionIsNot) {
  StoredPasts pasts(store_);
  write(10, 1);
  const std::uint64_t other = writer_->series("web", "us", R"({"name":"us","type":"value"})");
  const std::uint64_t late = writer_->series("web", "late", R"({"name":"late","type":"value"})");
  for (int i = 0; i < 12; ++i, now_ += kSecondUs) {
    writer_->go_to(now_ + kSecondUs / 2);
    writer_->add(other, {.known = 1});
    writer_->add(late, {.known = 1});
  }
  ASSERT_TRUE(read(pasts));
  EXPECT_EQ(pasts.series().size(), 2u);
  EXPECT_FALSE(pasts.is_new(*find(pasts, "us")));
  EXPECT_TRUE(pasts.is_new(*find(pasts, "late")));
  EXPECT_FALSE(find(pasts, "errors"));
}

TEST_F(StoredPastsTest, ANameIsNewForTheTimeThatIsRead) {
  StoredPasts pasts(store_);
  write(10, 1);
  const std::uint64_t late = writer_->series("web", "late", R"({"name":"late","type":"value"})");
  constexpr std::uint64_t kRead = StoredPasts::kReadUs / kSecondUs;
  write_of({us_, late}, kRead - 10);
  ASSERT_TRUE(read(pasts));
  EXPECT_TRUE(pasts.is_new(*find(pasts, "late")));
  write_of({us_, late}, 20);
  ASSERT_TRUE(read(pasts));
  EXPECT_FALSE(pasts.is_new(*find(pasts, "late")));
}

TEST_F(StoredPastsTest, WhatHasGoneIsForgottenWithItsName) {
  StoredPasts pasts(store_);
  write(10, 1);
  ASSERT_TRUE(read(pasts));
  // Not all at once: of what is older than the time that is read all is forgotten.
  for (int i = 0; i < 2; ++i) {
    write_of({us_}, StoredPasts::kReadUs / kSecondUs / 2 + 10);
    ASSERT_TRUE(read(pasts));
  }
  write(10, 1);
  ASSERT_TRUE(read(pasts));
  ASSERT_TRUE(find(pasts, "errors"));
  EXPECT_TRUE(pasts.is_new(*find(pasts, "errors")));
  EXPECT_FALSE(pasts.is_new(*find(pasts, "us")));
}

TEST_F(StoredPastsTest, StatisticsBeyondTheBoundAreCountedUntilOthersHaveGone) {
  StoredPasts pasts(store_, 1);
  write_of({us_}, 10);
  const std::uint64_t late = writer_->series("web", "late", R"({"name":"late","type":"value"})");
  ASSERT_TRUE(read(pasts));
  EXPECT_EQ(pasts.left_out(), 0u);
  write_of({us_, errors_, late}, 10);
  ASSERT_TRUE(read(pasts));
  EXPECT_EQ(pasts.series().size(), 1u);
  EXPECT_TRUE(find(pasts, "us"));
  EXPECT_EQ(pasts.left_out(), 2u);
  for (int i = 0; i < 2; ++i) {
    write_of({late}, 30);
    ASSERT_TRUE(read(pasts));
  }
  EXPECT_TRUE(find(pasts, "late"));
  EXPECT_EQ(pasts.left_out(), 0u);
}

TEST_F(StoredPastsTest, OnlyWhatHasPointsIsLookedAt) {
  StoredPasts pasts(store_);
  write(10, 1);
  writer_->series("web", "dead", "{");
  write(10, 1);
  ASSERT_TRUE(writer_->flush());
  auto store = StoreReader::open(store_);
  ASSERT_TRUE(store);
  ASSERT_EQ(store.value().series().value().size(), 3u);
  ASSERT_TRUE(read(pasts));
  EXPECT_EQ(pasts.series().size(), 2u);
}

TEST_F(StoredPastsTest, ADamagedDefinitionIsSaidEachTime) {
  StoredPasts pasts(store_);
  const std::uint64_t damaged = writer_->series("web", "damaged", "{");
  write_of({us_, damaged, errors_}, 10);
  ASSERT_TRUE(writer_->flush());
  for (int i = 0; i < 2; ++i) {
    const auto done = pasts.read(kSoon);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().reason, "the store is damaged: the definition of damaged");
  }
}

TEST_F(StoredPastsTest, AStoreOfLongAgoIsForgotten) {
  StoredPasts pasts(store_);
  write(30, 1);
  ASSERT_TRUE(read(pasts));
  now_ += 2 * StoredPasts::kReadUs;
  const std::uint64_t begin = now_;
  write(30, 1);
  ASSERT_TRUE(read(pasts));
  EXPECT_EQ(pasts.span().begin_us, begin);
}

// A span of 12 s and two before it: a point is five units of 200 ms.
TEST_F(StoredPastsTest, APartIsReadFromItsBeginToItsEndAlone) {
  write(100, 10);
  ASSERT_TRUE(writer_->flush());
  const Span span{kBeginUs + 20 * kSecondUs, kBeginUs + 56 * kSecondUs};
  StoredPasts pasts(store_, {span, kSecondUs / 5, 0});
  ASSERT_TRUE(read(pasts));
  EXPECT_EQ(pasts.span(), span);
  const auto* const us = find(pasts, "us");
  ASSERT_TRUE(us);
  ASSERT_EQ(us->past().blocks().size(), 36u);
  for (const auto& each : us->past().blocks()) EXPECT_FLOAT_EQ(each.count, 10);
  EXPECT_EQ(pasts.realtime_us(*us), span.end_us);
  EXPECT_EQ(pasts.realtime_us(*us, 5), span.end_us - kSecondUs);
  EXPECT_FALSE(pasts.is_new(*us));
}

// A unit of 2 s has two points.
TEST_F(StoredPastsTest, UnitsThatAreLongerThanPointsAddThemUp) {
  write(100, 10);
  ASSERT_TRUE(writer_->flush());
  StoredPasts pasts(store_, {{kBeginUs, kBeginUs + 90 * kSecondUs}, 2 * kSecondUs, 0});
  ASSERT_TRUE(read(pasts));
  const auto* const us = find(pasts, "us");
  ASSERT_TRUE(us);
  ASSERT_EQ(us->past().blocks().size(), 9u);
  for (const auto& each : us->past().blocks()) EXPECT_FLOAT_EQ(each.count, 100);
}

TEST_F(StoredPastsTest, TheNewestPointIsLeftOutOfAPartThatEndsWithIt) {
  write(60, 10);
  ASSERT_TRUE(writer_->flush());
  const std::uint64_t end_us = kBeginUs + 60 * kSecondUs;
  StoredPasts pasts(store_, {{end_us - 36 * kSecondUs, end_us}, kSecondUs / 5, 0});
  ASSERT_TRUE(read(pasts));
  EXPECT_EQ(pasts.span(), (Span{end_us - 37 * kSecondUs, end_us - kSecondUs}));
  EXPECT_EQ(find(pasts, "us")->past().blocks().size(), 36u);
}

// Of a point of 10 s less than nine tenths were observed: what it lacks is not known.
TEST_F(StoredPastsTest, InACoarserTierAPastBeginsAgainAfterAGap) {
  write(100, 10);
  now_ += 3 * kSecondUs;
  write(197, 10);
  ASSERT_TRUE(writer_->flush());
  StoredPasts pasts(store_, {{kBeginUs, kBeginUs + 280 * kSecondUs}, 2 * kSecondUs, 1});
  ASSERT_TRUE(read(pasts));
  const auto* const us = find(pasts, "us");
  ASSERT_TRUE(us);
  EXPECT_EQ(us->begin_us, kBeginUs + 110 * kSecondUs);
  ASSERT_EQ(us->past().blocks().size(), 17u);
  for (const auto& each : us->past().blocks()) EXPECT_FLOAT_EQ(each.count, 100);
}

}  // namespace
}  // namespace tallyfs::past
