// data.json: each type empty and full, digit by digit, and what counts on over resets.
#include <limits>

#include "core/base/json_head.h"
#include "tests/unit/allocated.h"
#include "tests/unit/statistics_interface/each_type.h"
#include "tests/unit/statistics_interface/fixture.h"

namespace tallyfs::statistics {
namespace {

constexpr auto kLeastX = std::numeric_limits<std::int64_t>::min();
constexpr auto kMostX = std::numeric_limits<std::int64_t>::max();
constexpr auto kMostY = std::numeric_limits<std::uint64_t>::max();

struct JsonFixture : Fixture {
  using Fixture::Fixture;

  std::string json() {
    return interface->render_json("web", 0x0123456789abcdef, clock.now(), kAnyLength).value();
  }
  // Of the last statistic.
  std::string values() {
    const std::string text = json();
    const auto at = text.rfind("\"values\":{") + 9;
    return text.substr(at, text.size() - at - 4);
  }
  void pass_us(std::int64_t us) { clock.advance(std::chrono::microseconds(us)); }
};

TEST(JsonTest, HasTheKeysOfADefinitionLineInItsOrder) {
  JsonFixture fixture("on=1 type=list entries_max=1 units=microseconds/\"requests\"");
  const std::string created = std::to_string(fixture.clock.now().realtime.count() / 1000);
  fixture.pass_us(1'500'000);
  fixture.add(17);
  fixture.add(18);
  EXPECT_EQ(fixture.json(),
            "{\"interface\":\"web\",\"format\":1,\"epoch\":\"0123456789abcdef\",\"serial\":3,"
            "\"time_us\":1500000,\"realtime_us\":" +
                std::to_string(fixture.clock.now().realtime.count() / 1000) +
                ",\"uid\":1000,\"feed\":\"any\",\"statistics\":[{\"name\":\"s\",\"on\":1,"
                "\"type\":\"list\","
                "\"range_min\":-9223372036854775808,\"range_max\":9223372036854775807,"
                "\"entries_max\":1,\"hits_missed\":1,\"hits_out_of_range\":0,\"data_us\":0,"
                "\"started_us\":0,\"stopped_us\":0,\"units\":\"microseconds/\\\"requests\\\"\","
                "\"data_realtime_us\":" +
                created + ",\"samples\":2,\"values\":{\"x\":[17],\"totals\":[1]}}]}\n");
}

TEST(JsonTest, TheWallClockOfTheDataIsThatOfTheLastReset) {
  JsonFixture fixture("on=1");
  fixture.pass_us(2'500'000);
  ASSERT_EQ(fixture.define("name=s data=reset"), "");
  const std::string reset = std::to_string(fixture.clock.now().realtime.count() / 1000);
  fixture.pass_us(1);
  EXPECT_NE(fixture.json().find("\"data_realtime_us\":" + reset + ","), std::string::npos);
}

TEST(JsonTest, ViewsNameTheirSourceBehindTheirName) {
  JsonFixture fixture("on=1");
  ASSERT_EQ(fixture.define("name=v of=s type=range"), "");
  EXPECT_NE(fixture.json().find("{\"name\":\"v\",\"of\":\"s\",\"on\":1,"), std::string::npos);
}

TEST(JsonTest, WithoutStatisticsTheArrayIsEmpty) {
  JsonFixture fixture;
  EXPECT_TRUE(fixture.json().ends_with("\"statistics\":[]}\n"));
}

TEST(JsonTest, ValuesOfTypeValue) {
  JsonFixture counts("on=1");
  EXPECT_EQ(counts.values(), R"({"total":0})");
  counts.add(1, kMostY);
  EXPECT_EQ(counts.values(), R"({"total":18446744073709551615})");
  JsonFixture products("on=1 mode=products");
  EXPECT_EQ(products.values(), R"({"total":0})");
  products.add(kLeastX, kMostY);
  EXPECT_EQ(products.values(), R"({"total":-170141183460469231722463931679029329920})");
  products.add(kLeastX, 2);
  EXPECT_EQ(products.values(), R"({"total":-170141183460469231731687303715884105728})");
}

TEST(JsonTest, ValuesOfTypeRange) {
  JsonFixture fixture("on=1 type=range");
  EXPECT_EQ(fixture.values(), R"({"number":0,"min":null,"avg":null,"max":null,"sum":0})");
  fixture.add(kLeastX);
  EXPECT_EQ(fixture.values(),
            R"({"number":1,"min":-9223372036854775808,"avg":-9223372036854775808.000,)"
            R"("max":-9223372036854775808,"sum":-9223372036854775808})");
  fixture.add(0, 2);
  EXPECT_EQ(fixture.values(),
            R"({"number":3,"min":-9223372036854775808,"avg":-3074457345618258602.667,)"
            R"("max":0,"sum":-9223372036854775808})");
}

TEST(JsonTest, TheLargestSumHasAllItsDigits) {
  JsonFixture fixture("on=1 mode=products");
  for (int i = 0; i < 3; ++i) fixture.add(kMostX, kMostY);
  EXPECT_EQ(fixture.values(), R"({"total":170141183460469231731687303715884105727})");
}

TEST(JsonTest, ValuesOfTypeList) {
  JsonFixture fixture("on=1 type=list entries_max=9");
  EXPECT_EQ(fixture.values(), R"({"x":[],"totals":[]})");
  fixture.add(-1);
  fixture.add(kLeastX, 7);
  fixture.add(5);
  EXPECT_EQ(fixture.values(), R"({"x":[-9223372036854775808,-1,5],"totals":[7,1,1]})");
}

TEST(JsonTest, ValuesOfTypeArray) {
  JsonFixture fixture("on=1 type=array base_interval=1 scale=log2 range_min=0 range_max=4");
  EXPECT_EQ(fixture.values(), R"({"bounds":[0,1,2,4],"counts":[0,0,0,0,0]})");
  fixture.add(3, 271);
  fixture.add(kMostX, kMostY);
  EXPECT_EQ(fixture.values(), R"({"bounds":[0,1,2,4],"counts":[0,0,0,271,18446744073709551615]})");
}

TEST(JsonTest, ABoundMayLieBeyond64Bits) {
  JsonFixture fixture(
      "on=1 type=array base_interval=6000000000000000000 scale=log2 range_min=1 "
      "range_max=9223372036854775807");
  EXPECT_EQ(fixture.values(), R"({"bounds":[1,6000000000000000001,12000000000000000001],)"
                              R"("counts":[0,0,0,0]})");
}

TEST(JsonTest, ValuesOfTypeRaw) {
  JsonFixture fixture("on=1 type=raw entries_max=2");
  EXPECT_EQ(fixture.values(), R"({"time_us":[],"serial":[],"x":[],"y":[]})");
  for (int i = 0; i < 3; ++i) {
    fixture.pass_us(1);
    fixture.add(-i, 7);
  }
  EXPECT_EQ(fixture.values(), R"({"time_us":[2,3],"serial":[1,2],"x":[-1,-2],"y":[7,7]})");
}

TEST(JsonTest, ValuesOfTypeLast) {
  JsonFixture fixture("on=1 type=last");
  EXPECT_EQ(fixture.values(), R"({"time_us":null,"x":null})");
  fixture.pass_us(12);
  fixture.add(kLeastX);
  EXPECT_EQ(fixture.values(), R"({"time_us":12,"x":-9223372036854775808})");
}

TEST(JsonTest, ValuesOfTypeQuantiles) {
  JsonFixture fixture("on=1 type=quantiles precision=0 quantiles=5,50.50,99.9");
  const std::string empty =
      R"({"count":0,"min":null,"avg":null,"max":null,"sum":0,"quantiles":[)"
      R"({"q":5,"value":null},{"q":50.5,"value":null},{"q":99.9,"value":null}],)"
      R"("buckets":{"zero":0,"positive":{"indexes":[],"counts":[]},)"
      R"("negative":{"indexes":[],"counts":[]}}})";
  EXPECT_EQ(fixture.values(), empty);
  fixture.add(100, 0);  // no weight
  EXPECT_EQ(fixture.values(), empty);
  fixture.add(-3);
  fixture.add(0, 2);
  fixture.add(5);
  fixture.add(8);
  EXPECT_EQ(fixture.values(), R"({"count":5,"min":-3,"avg":2.000,"max":100,"sum":10,"quantiles":[)"
                              R"({"q":5,"value":-3},{"q":50.5,"value":0},{"q":99.9,"value":8}],)"
                              R"("buckets":{"zero":2,"positive":{"indexes":[3],"counts":[2]},)"
                              R"("negative":{"indexes":[2],"counts":[1]}}})");
}

TEST(JsonTest, IndexesOfBucketsAreThoseOfTheBaseUnit) {
  JsonFixture fixture("on=1 type=quantiles precision=0 quantiles=50 units=microseconds/requests");
  fixture.add(1'000'000);  // one second: (2^-1, 2^0]
  fixture.add(1'000'001);
  EXPECT_NE(fixture.values().find(R"("positive":{"indexes":[0,1],"counts":[1,1]})"),
            std::string::npos);
}

TEST(JsonTest, ValuesOfHistories) {
  const std::string head = "on=1 type=history entries_max=3 period=1000 mode=";
  JsonFixture counts(head + "increments");
  EXPECT_EQ(counts.values(), R"({"end_us":[],"totals":[]})");
  JsonFixture sums(head + "products");
  JsonFixture ranges(head + "range");
  JsonFixture quantiles(head + "quantiles precision=0 quantiles=50,99");
  for (JsonFixture* const fixture : {&counts, &sums, &ranges, &quantiles}) {
    fixture->add(-7, 3);
    fixture->pass_us(2'000);
    fixture->add(1);  // in the open period
  }
  EXPECT_EQ(counts.values(), R"({"end_us":[1000,2000],"totals":[3,0]})");
  EXPECT_EQ(sums.values(), R"({"end_us":[1000,2000],"totals":[-21,0]})");
  EXPECT_EQ(ranges.values(), R"({"end_us":[1000,2000],"number":[3,0],"min":[-7,null],)"
                             R"("avg":[-7.000,null],"max":[-7,null],"sum":[-21,0]})");
  EXPECT_EQ(quantiles.values(), R"({"end_us":[1000,2000],"count":[3,0],"min":[-7,null],)"
                                R"("avg":[-7.000,null],"max":[-7,null],"quantiles":[)"
                                R"({"q":50,"values":[-7,null]},{"q":99,"values":[-7,null]}]})");
  quantiles.pass_us(5'000);
  EXPECT_EQ(quantiles.values(), R"({"end_us":[5000,6000,7000],"count":[0,0,0],)"
                                R"("min":[null,null,null],"avg":[null,null,null],)"
                                R"("max":[null,null,null],"quantiles":[)"
                                R"({"q":50,"values":[null,null,null]},)"
                                R"({"q":99,"values":[null,null,null]}]})");
}

TEST(JsonTest, SamplesCountOnOverResetsAndRedefinitions) {
  JsonFixture fixture("on=1 type=range range_max=9");
  fixture.add(5);
  fixture.add(50);  // out of range
  EXPECT_EQ(fixture.overview().samples, 2u);
  ASSERT_EQ(fixture.define("data=reset"), "");
  ASSERT_EQ(fixture.define("type=list entries_max=1"), "");
  fixture.add(1);
  ASSERT_EQ(fixture.define("on=0"), "");
  fixture.add(1);
  EXPECT_NE(fixture.json().find("\"samples\":3,"), std::string::npos);
  EXPECT_EQ(fixture.overview().samples, 3u);
}

TEST(JsonTest, AnInterfaceCountsASampleForViewsOnce) {
  JsonFixture fixture("on=1");
  ASSERT_EQ(fixture.define("name=v of=s type=range"), "");
  fixture.add(1);
  ASSERT_EQ(fixture.define("name=s on=0"), "");
  fixture.add(2);
  const auto shown = fixture.overview();
  EXPECT_EQ(shown.samples, 2u);
  EXPECT_EQ(shown.statistics, 2u);
  EXPECT_EQ(shown.on, 1u);
  fixture.interface->remove_statistic("s", fixture.clock.now());
  EXPECT_EQ(fixture.overview().samples, 2u);
}

TEST(JsonTest, WhatIsOnIsCountedAnewAfterEachChange) {
  JsonFixture fixture("on=1");
  const auto on = [&] { return fixture.overview().on; };
  EXPECT_EQ(on(), 1u);
  fixture.create("t", "on=1");
  EXPECT_EQ(on(), 2u);
  ASSERT_EQ(fixture.define("name=v of=t type=range"), "");
  EXPECT_EQ(on(), 3u);
  fixture.add(1);
  EXPECT_EQ(on(), 3u);
  ASSERT_EQ(fixture.define("on=0"), "");
  EXPECT_EQ(on(), 0u);
  ASSERT_EQ(fixture.define("name=t on=1"), "");
  EXPECT_EQ(on(), 1u);
  fixture.interface->drop(*fixture.interface->find("t"), fixture.clock.now());
  EXPECT_EQ(on(), 0u);
  ASSERT_EQ(fixture.define("name=s on=1"), "");
  EXPECT_EQ(on(), 1u);
  fixture.interface->remove_statistic("s", fixture.clock.now());
  EXPECT_EQ(on(), 0u);
}

TEST(JsonTest, AHistoryMovesOnceItIsDefinedAndOn) {
  JsonFixture fixture("on=1");
  const auto moves = [&] {
    const auto before = fixture.overview().version;
    fixture.pass_us(1'000'000);
    return fixture.overview().version != before;
  };
  EXPECT_FALSE(moves());
  ASSERT_EQ(fixture.define("type=history entries_max=3 mode=increments period=1000000"), "");
  EXPECT_TRUE(moves());
  ASSERT_EQ(fixture.define("on=0"), "");
  EXPECT_FALSE(moves());
  ASSERT_EQ(fixture.define("on=1"), "");
  EXPECT_TRUE(moves());
  ASSERT_EQ(fixture.define("type=value mode=increments"), "");
  EXPECT_FALSE(moves());
  ASSERT_EQ(fixture.define("undo=1"), "");
  EXPECT_TRUE(moves());
}

TEST(JsonTest, TheSerialGrowsWithEachChangeAndNotWithTime) {
  JsonFixture fixture("on=1 type=history entries_max=3 mode=increments period=1000000");
  const auto serial = [&] { return fixture.overview().version; };
  const auto first = serial();
  fixture.pass_us(999'999);
  (void)fixture.json();
  EXPECT_EQ(serial(), first);
  fixture.pass_us(1);  // the period ends
  EXPECT_EQ(serial(), first + 1);
  fixture.add(1);
  EXPECT_EQ(serial(), first + 2);
  ASSERT_EQ(fixture.define("range_max=5"), "");
  EXPECT_EQ(serial(), first + 3);
}

TEST(JsonTest, SamplesAreSaved) {
  JsonFixture fixture("on=1");
  fixture.add(1);
  const std::string before = fixture.json();
  const std::string bytes = fixture.saved();
  ByteReader in(bytes);
  fixture.interface = Interface::load(in, fixture.ledger).value();
  EXPECT_EQ(fixture.overview().samples, 1u);
  EXPECT_NE(fixture.json().find("\"samples\":1,"), std::string::npos);
}

TEST(JsonTest, TheRoomIsMetExactlyByEachType) {
  JsonFixture fixture;
  std::size_t count = 0;
  for (const char* text : kEachType) {
    Statistic* const statistic = fixture.create(numbered(count++), text);
    fixture.add(statistic, {{.x = 0}, {.x = kLeastX}, {.x = kMostX, .y = 9}});
  }
  const auto render = [&](std::size_t bytes_max) {
    return fixture.interface->render_json("web", 1, fixture.clock.now(), bytes_max);
  };
  const std::string text = render(kAnyLength).value();
  EXPECT_EQ(render(text.size()).value(), text);
  for (std::size_t less = 1; less < text.size(); less += 97) {
    const auto refused = render(text.size() - less);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kNoSpace);
  }
}

TEST(JsonTest, WhatCertainlyIsTooLongIsNotCopied) {
  JsonFixture fixture("on=1 type=array base_interval=1 scale=lin range_min=1 range_max=65535");
  const std::size_t before = allocated_bytes();
  EXPECT_FALSE(fixture.interface->render_json("web", 1, fixture.clock.now(), 100'000));
  EXPECT_LT(allocated_bytes() - before, 2'000u);
}

TEST(JsonTest, RenderingStopsWhereTheRoomEnds) {
  JsonFixture fixture(
      "on=1 type=array base_interval=1 scale=lin range_min=4611686018427387904 "
      "range_max=4611686018427453437");
  const std::size_t room = 600'000;
  const std::size_t before = allocated_bytes();
  EXPECT_FALSE(fixture.interface->render_json("web", 1, fixture.clock.now(), room));
  // The room, its doublings before, and the copy of the data.
  EXPECT_LT(allocated_bytes() - before, 4 * room + 65'536 * sizeof(std::uint64_t));
}

TEST(JsonTest, AnEpochHas16Digits) {
  EXPECT_EQ(epoch_text(0x1f), "000000000000001f");
  EXPECT_EQ(epoch_text(kMostY), "ffffffffffffffff");
}

}  // namespace
}  // namespace tallyfs::statistics
