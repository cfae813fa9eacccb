#include "exporters/web/changes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/past/store_model.h"
#include "tests/unit/temporary_directory.h"
#include "tools/tree/json.h"

namespace tallyfs::web {
namespace {

using past::kBeginUs;
using past::kSecondUs;

// A store with the statistic `us`, and a clock that a test moves on.
class ChangesTest : public testing::Test {
 protected:
  void write(std::uint64_t seconds, std::uint64_t count) {
    for (std::uint64_t i = 0; i < seconds; ++i, now_us_ += kSecondUs) {
      writer_->go_to(now_us_ + kSecondUs / 2);
      writer_->add(us_, past::second_of(2, count));
      if (late_ != 0) writer_->add(late_, {.known = 1});
    }
    ASSERT_TRUE(writer_->flush());
  }
  void begin_late() { late_ = writer_->series("web", "late", R"({"name":"late","type":"value"})"); }
  // The answer to a look, later than all before, when it is that time.
  Json look(std::uint64_t now_us) {
    now_ += Changes::kEach;
    auto made = parse_json(changes_.json(now_us));
    EXPECT_TRUE(made);
    return made ? std::move(made).value() : Json{};
  }
  Json look() { return look(now_us_); }

  TemporaryDirectory directory_;
  const std::string store_ = directory_ / "store";
  const std::unique_ptr<past::StoreWriter> writer_ = past::write_to(store_);
  const std::uint64_t us_ = writer_->series("web", "us", past::kShape);
  std::uint64_t late_ = 0;
  std::uint64_t now_us_ = kBeginUs;
  Changes::Clock::time_point now_ = Changes::Clock::now();
  Changes changes_{store_, [this] { return now_; }};
};

TEST_F(ChangesTest, AnEmptyStoreIsYoung) {
  ASSERT_TRUE(writer_->flush());
  const Json empty = look();
  EXPECT_EQ(empty.text_of("state"), "young");
  EXPECT_EQ(empty.number_of("ranked"), 0u);
  write(60, 1);
  EXPECT_EQ(look().text_of("state"), "young");
}

TEST_F(ChangesTest, AStoreThatStaysAsItIsIsUsual) {
  write(300, 4);
  const Json made = look();
  EXPECT_EQ(made.text_of("state"), "usual");
  EXPECT_EQ(made.number_of("ranked"), 1u);
  EXPECT_EQ(made.number_of("left_out"), 0u);
  EXPECT_EQ(made.number_of("to_us"), now_us_ - kSecondUs);
}

TEST_F(ChangesTest, AStatisticThatFallsSilentIsUnusual) {
  write(600, 40);
  write(30, 0);
  const Json made = look();
  EXPECT_EQ(made.text_of("state"), "unusual");
  ASSERT_EQ(made.find("rows")->items.size(), 1u);
  EXPECT_EQ(made.find("rows")->items[0].text_of("interface"), "web");
}

TEST_F(ChangesTest, WhatHasBeenSilentForLongerIsListedApart) {
  write(600, 40);
  EXPECT_EQ(look().number_of("silent_all"), 0u);
  write(240, 0);
  const Json made = look();
  EXPECT_EQ(made.text_of("state"), "usual");
  EXPECT_TRUE(made.find("rows")->items.empty());
  ASSERT_EQ(made.number_of("silent_all"), 1u);
  const Json& silent = made.find("silent")->items[0];
  EXPECT_EQ(silent.text_of("interface"), "web");
  EXPECT_EQ(silent.find("statistics")->items[0].text, "us");
  EXPECT_EQ(silent.number_of("since_us"), now_us_ - 240 * kSecondUs);
  EXPECT_EQ(silent.text_of("why"), "silent, before 40/s");
}

TEST_F(ChangesTest, OfAStoreThatHasEndedNothingIsRanked) {
  write(600, 40);
  write(30, 0);
  const Json made = look(now_us_ + 60 * kSecondUs);
  EXPECT_EQ(made.text_of("state"), "ended");
  EXPECT_EQ(made.number_of("to_us"), now_us_ - kSecondUs);
  EXPECT_EQ(made.number_of("ranked"), 0u);
  EXPECT_TRUE(made.find("rows")->items.empty());
  write(600, 40);
  EXPECT_EQ(look().number_of("ranked"), 1u);
}

TEST_F(ChangesTest, ANewNameIsListedForTenMinutes) {
  write(30, 1);
  begin_late();
  write(30, 1);
  EXPECT_EQ(look().number_of("new_all"), 1u);
  write(540, 1);
  EXPECT_EQ(look().number_of("new_all"), 1u);
  write(60, 1);
  EXPECT_EQ(look().number_of("new_all"), 0u);
}

TEST_F(ChangesTest, WhatTheStoreLacksOfTheTimeIsNamedAsLongAsItIsCompared) {
  write(300, 4);
  const past::Span gap{now_us_, now_us_ + 20 * kSecondUs};
  writer_->note({.span = gap, .reason = "the recorder did not run"});
  now_us_ = gap.end_us;
  write(160, 4);
  const past::Span block{kBeginUs + 60 * kSecondUs, kBeginUs + 120 * kSecondUs};
  auto database = past::Database::open_to_write(past::file_of(store_));
  ASSERT_TRUE(database);
  ASSERT_TRUE(database.value().run(
      "UPDATE block SET data=substr(data,1,length(data)-3) WHERE tier=0 AND begin_us=" +
      std::to_string(block.begin_us)));
  const Json made = look();
  std::vector<past::Span> named;
  for (const Json& each : made.find("facts")->items) {
    named.push_back({each.number_of("begin_us"), each.number_of("end_us")});
  }
  EXPECT_EQ(named, (std::vector{block, gap}));
  // It stays where the store is read on.
  write(30, 4);
  EXPECT_EQ(look().find("facts")->items.size(), 2u);
  write(700, 4);
  const Json later = look();
  EXPECT_TRUE(later.find("facts")->items.empty());
  EXPECT_EQ(later.number_of("facts_more"), 0u);
}

TEST_F(ChangesTest, ALookWithinFiveSecondsIsTheOneBefore) {
  write(30, 1);
  const std::string before = changes_.json(now_us_);
  write(30, 1);
  EXPECT_EQ(changes_.json(now_us_), before);
  now_ += Changes::kEach;
  EXPECT_NE(changes_.json(now_us_), before);
}

// The clock is asked while the store is read, so that a look comes in between.
TEST_F(ChangesTest, ConcurrentLooksDoNotWaitForTheStore) {
  write(30, 1);
  std::string between;
  int asked = 0;
  Changes* looked_at = nullptr;
  Changes changes(store_, [&] {
    if (++asked == 2) between = looked_at->json(now_us_);
    return now_;
  });
  looked_at = &changes;
  const std::string first = changes.json(now_us_);
  EXPECT_EQ(parse_json(between).value().text_of("state"), "reading");
  write(30, 1);
  now_ += Changes::kEach;
  asked = 0;
  EXPECT_NE(changes.json(now_us_), first);
  EXPECT_EQ(between, first);
}

}  // namespace
}  // namespace tallyfs::web
