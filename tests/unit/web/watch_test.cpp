#include "exporters/web/watch.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <utility>

#include "tools/tree/json.h"

namespace tallyfs::web {
namespace {

constexpr const char* kEpoch = "9f3c2a10b77d4e01";

// What a test says of an interface with one array, `us`.
struct FakeInterface {
  std::uint64_t samples = 0;
  std::uint64_t serial = 1;
  std::uint64_t data_us = 1;
  int statistics = 1;
  int counters = 0;  // before them
};

// A mount whose clock and counts a test sets.
class FakeSource : public Source {
 public:
  Result<Json> tree() override {
    std::string text = begin();
    text.append(",\"pid\":1,\"socket\":\"/s\",\"queue_length\":1,\"tracefs\":\"off\"");
    text.append(",\"quotas\":[]");
    text.append(",\"interfaces\":[");
    for (const auto& [name, each] : interfaces) {
      text.append(text.ends_with('[') ? "" : ",");
      text.append("{\"interface\":\"").append(name).append("\",\"statistics\":");
      text.append(std::to_string(each.statistics)).append(",\"on\":1,\"samples\":");
      text.append(std::to_string(each.samples)).append(",\"serial\":");
      text.append(std::to_string(each.serial)).append("}");
    }
    return parse_json(text.append("]}"));
  }

  Result<Json> interface(const std::string& name) override {
    ++reads[name];
    if (failures.contains(name)) return failures.at(name);
    const auto found = interfaces.find(name);
    if (found == interfaces.end()) return Error{ErrorCode::kNotFound, name + ": no such file"};
    std::string text = begin();
    text.append(",\"interface\":\"").append(name).append("\",\"serial\":");
    text.append(std::to_string(found->second.serial)).append(",\"statistics\":[");
    for (int i = 0; i < found->second.counters; ++i) {
      text.append(R"({"name":"n)" + std::to_string(i) + R"(","on":1,"type":"value","data_us":1,)");
      text.append(R"("samples":1,"values":{"total":1}},)");
    }
    text.append(statistic("us", found->second));
    for (int i = 1; i < found->second.statistics; ++i) {
      text.append(",").append(statistic("us" + std::to_string(i), found->second));
    }
    return parse_json(text.append("]}"));
  }

  Result<Next> next(std::chrono::microseconds) override { return Next::kMoment; }
  std::chrono::microseconds period() const override { return {}; }
  const std::string& mount() const override { return mount_; }

  void feed(const std::string& name, std::uint64_t samples) {
    interfaces[name].samples += samples;
    ++interfaces[name].serial;
  }

  std::map<std::string, FakeInterface> interfaces;
  std::map<std::string, Error> failures;
  std::map<std::string, int> reads;
  std::string epoch = kEpoch;
  std::uint64_t millis = 100'000;

 private:
  std::string begin() const {
    return "{\"tallyfs\":\"0.1.0\",\"format\":1,\"epoch\":\"" + epoch +
           "\",\"time_us\":" + std::to_string(millis * 1'000) +
           ",\"realtime_us\":" + std::to_string((millis + 1'000'000'000) * 1'000);
  }
  static std::string statistic(const std::string& name, const FakeInterface& of) {
    std::string text = "{\"name\":\"" + name + "\",\"on\":1,\"type\":\"array\",\"range_min\":0,";
    text.append("\"range_max\":2,\"base_interval\":1,\"scale\":\"lin\",\"hits_out_of_range\":0,");
    text.append("\"data_us\":").append(std::to_string(of.data_us));
    text.append(",\"started_us\":1,\"stopped_us\":1,\"units\":\"/x\",\"samples\":");
    text.append(std::to_string(of.samples)).append(",\"values\":{\"bounds\":[0,1,2],");
    return text.append("\"counts\":[0,").append(std::to_string(of.samples)).append(",0,0]}}");
  }

  const std::string mount_ = "/nowhere";
};

// A watch, and the mount that it reads.
class WatchTest : public testing::Test {
 protected:
  WatchTest() : WatchTest(std::make_unique<FakeSource>()) {}

  // The next reading, so many seconds after the one before.
  void read(std::uint64_t seconds = 1) { read_after(std::chrono::seconds(seconds)); }
  void read_after(std::chrono::milliseconds time) {
    source_.millis += static_cast<std::uint64_t>(time.count());
    watch_.forget_reading();
    ASSERT_TRUE(watch_.refresh());
  }
  const std::deque<PastColumn>& columns(const std::string& name, const std::string& of = "us") {
    const auto followed = watch_.look_at(name, of);
    static const std::deque<PastColumn> kNone;
    if (!followed || !followed.value()->pasts.contains(of)) return kNone;
    return followed.value()->pasts.at(of).columns();
  }

 private:
  explicit WatchTest(std::unique_ptr<FakeSource> source)
      : source_(*source), watch_(std::move(source), std::chrono::seconds(60)) {
    source_.feed("tallyfs", 1);
  }

 protected:
  FakeSource& source_;
  Watch watch_;
};

TEST_F(WatchTest, ThereIsAttentionFromTheFirstQuestionOn) {
  watch_.tick();
  EXPECT_FALSE(watch_.has_attention());
  ASSERT_TRUE(watch_.check());
  EXPECT_FALSE(watch_.has_attention());
  ASSERT_TRUE(watch_.refresh());
  EXPECT_TRUE(watch_.has_attention());
}

TEST_F(WatchTest, TheTotalIsOfAllButTheDaemonsOwnSamples) {
  source_.feed("web", 10);
  read();
  EXPECT_FALSE(watch_.rate());
  source_.feed("web", 60);
  source_.feed("tallyfs", 5000);
  read(2);
  EXPECT_EQ(watch_.rate(), 30.0);
  EXPECT_EQ(watch_.rates().at("tallyfs").recent.last(), 2500.0);
}

// Interfaces come and go before others, which have other places in the tree then.
TEST_F(WatchTest, RatesAreThoseOfTheirNamesWhateverTheirPlaces) {
  source_.feed("m", 1);
  source_.feed("web", 1);
  read();
  source_.feed("a", 1);
  source_.feed("web", 60);
  read();
  EXPECT_FALSE(watch_.rates().at("a").recent.last());
  EXPECT_EQ(watch_.rates().at("web").recent.last(), 60.0);
  source_.interfaces.erase("m");
  source_.feed("a", 7);
  read();
  EXPECT_FALSE(watch_.rates().contains("m"));
  EXPECT_EQ(watch_.rates().size(), 3u);
  EXPECT_EQ(watch_.rates().at("a").recent.last(), 7.0);
  EXPECT_EQ(watch_.rates().at("web").recent.last(), 0.0);
  for (const auto& [name, rate] : watch_.rates()) EXPECT_EQ(rate.summary->name, name);
  source_.epoch = "another";
  read();
  EXPECT_FALSE(watch_.rates().at("web").recent.last());
  EXPECT_EQ(watch_.rates().at("web").summary->samples, 61u);
}

TEST_F(WatchTest, NothingIsReadBeforeAQuestion) {
  source_.feed("web", 10);
  watch_.tick();
  EXPECT_TRUE(source_.reads.empty());
  EXPECT_TRUE(watch_.rates().empty());
}

TEST_F(WatchTest, WhatIsQuietIsNotReadAndWhatMovesIsFollowed) {
  source_.feed("web", 10);
  source_.feed("still", 10);
  read();
  source_.feed("web", 10);
  read();
  source_.feed("web", 10);
  read();
  EXPECT_EQ(source_.reads["web"], 2);
  EXPECT_EQ(source_.reads["still"], 0);
  read();
  EXPECT_EQ(source_.reads["web"], 2);
  const auto& past = columns("web");
  ASSERT_EQ(past.size(), 2u);
  EXPECT_EQ(past[0].hits.at(0).count, 10u);
  EXPECT_TRUE(past[1].hits.empty());
}

TEST_F(WatchTest, WhatHasNeverMovedHasEmptyColumns) {
  source_.feed("still", 10);
  read();
  ASSERT_TRUE(watch_.look_at("still", "us"));
  read();
  read(3);
  EXPECT_EQ(source_.reads["still"], 1);
  const auto& past = columns("still");
  ASSERT_EQ(past.size(), 2u);
  EXPECT_TRUE(past[0].hits.empty());
  EXPECT_EQ(past[1].interval.seconds, 3u);
  EXPECT_EQ(past[1].state, PastColumn::State::kCounted);
  source_.feed("still", 7);
  read();
  ASSERT_EQ(past.size(), 3u);
  EXPECT_EQ(past[2].hits.at(0).count, 7u);
}

TEST_F(WatchTest, MissedReadingsAreAColumnOfTheirSeconds) {
  source_.feed("web", 10);
  read();
  ASSERT_TRUE(watch_.look_at("web", "us"));
  source_.feed("web", 8);
  read(4);
  read(3);
  const auto& past = columns("web");
  ASSERT_EQ(past.size(), 2u);
  EXPECT_EQ(past[0].state, PastColumn::State::kGap);
  EXPECT_EQ(past[0].interval.seconds, 4u);
  EXPECT_EQ(past[0].hits.at(0).count, 8u);
  EXPECT_EQ(past[1].state, PastColumn::State::kCounted);
  EXPECT_EQ(past[1].interval.seconds, 3u);
}

TEST_F(WatchTest, AReadingAfterAChangeIsShownAndEndsNoInterval) {
  using std::chrono::milliseconds;
  source_.feed("web", 10);
  read();
  ASSERT_TRUE(watch_.look_at("web", "us"));
  source_.feed("web", 60);
  read();
  EXPECT_EQ(watch_.rate(), 60.0);
  source_.feed("web", 3);
  read_after(milliseconds(30));
  EXPECT_EQ(watch_.rate(), 60.0);
  const Followed& web = *watch_.look_at("web", "us").value();
  EXPECT_EQ(web.now.statistics[0].samples, 73u);
  EXPECT_EQ(view::change_between(*web.before, web.now, "us").micros, 1'030'000u);
  EXPECT_EQ(columns("web").size(), 1u);
  read_after(milliseconds(469));
  EXPECT_EQ(columns("web").size(), 1u);
  source_.feed("web", 57);
  read_after(milliseconds(501));
  EXPECT_EQ(watch_.rate(), 60.0);
  ASSERT_EQ(columns("web").size(), 2u);
  EXPECT_EQ(columns("web")[1].hits.at(0).count, 60u);
  EXPECT_EQ(columns("web")[1].interval.seconds, 1u);
}

TEST_F(WatchTest, WhatAReadingTooSoonHasSeenIsInTheNextColumnThoughNothingFollows) {
  source_.feed("web", 10);
  read();
  ASSERT_TRUE(watch_.look_at("web", "us"));
  source_.feed("web", 5);
  read();
  source_.feed("web", 3);
  read_after(std::chrono::milliseconds(30));
  read_after(std::chrono::milliseconds(970));
  EXPECT_EQ(source_.reads["web"], 3);
  ASSERT_EQ(columns("web").size(), 2u);
  ASSERT_EQ(columns("web")[1].hits.size(), 1u);
  EXPECT_EQ(columns("web")[1].hits[0].count, 3u);
}

TEST_F(WatchTest, WhenTheDaemonBeganToCount) {
  EXPECT_EQ(watch_.counts_since_us(), 0u);
  source_.interfaces["tallyfs"].data_us = 99'000'000;
  read();
  EXPECT_EQ(watch_.counts_since_us(), 1'000'099'000'000u);
}

TEST_F(WatchTest, AResetIsNotKnown) {
  source_.feed("web", 10);
  read();
  ASSERT_TRUE(watch_.look_at("web", "us"));
  source_.feed("web", 10);
  source_.interfaces["web"].data_us = 7;
  read();
  ASSERT_EQ(columns("web").size(), 1u);
  EXPECT_EQ(columns("web")[0].state, PastColumn::State::kUnknown);
}

TEST_F(WatchTest, AnotherEpochAndALongSleepForgetThePast) {
  source_.feed("web", 10);
  read();
  ASSERT_TRUE(watch_.look_at("web", "us"));
  source_.feed("web", 10);
  read();
  EXPECT_EQ(columns("web").size(), 1u);
  source_.epoch = "0000000000000002";
  read();
  EXPECT_FALSE(watch_.rate());
  EXPECT_TRUE(columns("web").empty());
  source_.feed("web", 10);
  read();
  EXPECT_EQ(columns("web").size(), 1u);
  read(61);
  EXPECT_TRUE(columns("web").empty());
}

TEST_F(WatchTest, FailuresKeepTheirKind) {
  source_.failures = {{"closed", {ErrorCode::kNoAccess, "closed: Permission denied"}},
                      {"busy", {ErrorCode::kInvalid, "busy: Resource temporarily unavailable"}}};
  read();
  EXPECT_EQ(watch_.look_at("nothing", "").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(watch_.look_at("closed", "").error().code, ErrorCode::kNoAccess);
  const auto busy = watch_.look_at("busy", "");
  EXPECT_EQ(busy.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(busy.error().reason, "busy: Resource temporarily unavailable");
}

TEST_F(WatchTest, AReadingThatTakesTooLongIsTheAnswerToAll) {
  source_.feed("slow", 10);
  read();
  ASSERT_TRUE(watch_.look_at("slow", "us"));
  source_.failures = {{"slow", {ErrorCode::kTimedOut, "no answer"}}};
  source_.feed("slow", 10);
  watch_.forget_reading();
  source_.millis += 1000;
  EXPECT_EQ(watch_.refresh().error().code, ErrorCode::kTimedOut);
  EXPECT_EQ(watch_.check().error().code, ErrorCode::kTimedOut);
}

TEST_F(WatchTest, TheOneLookedAtLongestAgoGivesWay) {
  for (std::size_t i = 0; i <= Watch::kFollowedMax + 1; ++i) {
    source_.feed("i" + std::to_string(100 + i), 1);
  }
  read();
  ASSERT_TRUE(watch_.look_at("i100", "us"));
  read();
  for (std::size_t i = 1; i <= Watch::kFollowedMax; ++i) {
    ASSERT_TRUE(watch_.look_at("i" + std::to_string(100 + i), "us"));
  }
  EXPECT_EQ(source_.reads["i100"], 1);
  ASSERT_TRUE(watch_.look_at("i100", "us"));
  EXPECT_EQ(source_.reads["i100"], 2);
}

TEST_F(WatchTest, ThoseThatMoveMostAreKeptWhileOthersAreLookedAt) {
  const auto name_of = [](const char* kind, std::size_t i) { return kind + std::to_string(i); };
  constexpr std::size_t kBusy = Watch::kMovingMax - 1;  // and the daemon's own
  for (std::size_t i = 0; i < 50; ++i) source_.feed(name_of("a-idle", i), 1);
  for (std::size_t i = 0; i < 50; ++i) source_.feed(name_of("b-slow", i), 1);
  for (std::size_t i = 0; i < kBusy; ++i) source_.feed(name_of("c-busy", i), 100);
  const auto move = [&] {
    for (std::size_t i = 0; i < 50; ++i) source_.feed(name_of("b-slow", i), 1);
    for (std::size_t i = 0; i < kBusy; ++i) source_.feed(name_of("c-busy", i), 100);
    read();
  };
  for (int i = 0; i < 4; ++i) move();
  for (std::size_t i = 0; i < 50; ++i) {
    ASSERT_TRUE(watch_.look_at(name_of("a-idle", i), "us"));
    if (i % 10 == 9) move();
  }
  for (std::size_t i = 0; i < kBusy; ++i) {
    EXPECT_TRUE(watch_.slowest(name_of("c-busy", i))) << i;
  }
  // What is not followed is not known to have none.
  EXPECT_FALSE(watch_.slowest("b-slow7"));
  EXPECT_FALSE(watch_.knows_slowest("b-slow7"));
  EXPECT_TRUE(watch_.knows_slowest("c-busy7"));
  EXPECT_FALSE(watch_.knows_slowest("a-idle0"));
  for (int i = 0; i < 60; ++i) read();
  EXPECT_TRUE(watch_.knows_slowest("a-idle0"));
}

TEST_F(WatchTest, WhatBeginsToMoveMoreIsFollowedInsteadOfWhatMovesLess) {
  for (std::size_t i = 0; i < 60; ++i) source_.feed("i" + std::to_string(100 + i), 1);
  const auto feed_first = [&] {
    for (std::size_t i = 0; i < 45; ++i) source_.feed("i" + std::to_string(100 + i), 10);
  };
  feed_first();
  read();
  feed_first();
  read();
  EXPECT_FALSE(watch_.knows_slowest("i159"));
  feed_first();
  source_.feed("i159", 1000);
  read();
  feed_first();
  source_.feed("i159", 1000);
  read();
  EXPECT_TRUE(watch_.slowest("i159"));
}

TEST_F(WatchTest, OfALargeInterfaceTheStatisticThatMattersIsKept) {
  source_.feed("large", 1);
  source_.interfaces["large"].statistics = static_cast<int>(Watch::kPastsMax) + 10;
  read();
  ASSERT_TRUE(watch_.look_at("large", "us70"));
  source_.feed("large", 1);
  read();
  EXPECT_EQ(columns("large", "us70").size(), 1u);
  EXPECT_EQ(columns("large", "us5").size(), 1u);
  EXPECT_TRUE(columns("large", "us69").empty());
}

TEST_F(WatchTest, CountersTakeNoPlaceOfHistograms) {
  source_.feed("mixed", 1);
  source_.interfaces["mixed"].counters = static_cast<int>(Watch::kPastsMax) + 10;
  read();
  ASSERT_TRUE(watch_.look_at("mixed", "n70"));
  source_.feed("mixed", 1);
  read();
  ASSERT_TRUE(watch_.look_at("mixed", "n70"));
  EXPECT_TRUE(watch_.slowest("mixed"));
}

}  // namespace
}  // namespace tallyfs::web
