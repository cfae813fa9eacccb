// What undo=1 brings back.
#include "tests/unit/statistics_interface/cells_fixture.h"
#include "tests/unit/statistics_interface/each_type.h"
#include "tests/unit/statistics_interface/fixture.h"

namespace tallyfs::statistics {
namespace {

using std::chrono::seconds;

// A statistic with two samples, which is old enough for a reset to be kept.
struct UndoFixture : Fixture {
  explicit UndoFixture(std::string_view text) : Fixture(text) {
    add(5);
    add(7, 2);
    clock.advance(seconds(2));
  }
  std::string remark(std::string_view line) {
    const auto found = interface->remark(line);
    return found ? found->reason : "";
  }
  std::string undo_us() { return member("undo_us"); }
  std::string member(const std::string& name) {
    const std::string key = "\"" + name + "\":";
    const std::string json = interface->render_json("web", 1, clock.now(), kAnyLength).value();
    const auto at = json.find(key);
    if (at == std::string::npos) return "";
    return json.substr(at + key.size(), json.find(',', at) - at - key.size());
  }
};

TEST(UndoTest, AResetComesBackWithWhatWasCountedSince) {
  const std::pair<const char*, const char*> kCases[] = {
      {"on=1", "s 4\n"},
      {"on=1 mode=products", "s 28\n"},
      {"on=1 type=range", "s 4 5 7.000 9\n"},
      {"on=1 type=list entries_max=2", "s 0x7 2\ns 0x5 1\n"},
      {"on=1 type=list entries_max=3", "s 0x7 2\ns 0x5 1\ns 0x9 1\n"},
      {"on=1 type=array base_interval=5 scale=lin range_min=0 range_max=5",
       "s <=0 0\ns <=5 1\ns >5 3\n"},
      {"on=1 type=quantiles precision=5 quantiles=50",
       "s count 4\ns min 5\ns avg 7.000\ns p50 7\ns max 9\n"},
  };
  for (const auto& [text, data] : kCases) {
    UndoFixture fixture(text);
    const std::string before = fixture.definition();
    EXPECT_EQ(fixture.define("name=s data=reset"), "") << text;
    fixture.clock.advance(seconds(59));
    fixture.add(9);
    EXPECT_EQ(fixture.define("name=s undo=1"), "") << text;
    EXPECT_EQ(fixture.data(), data) << text;
    EXPECT_EQ(fixture.attribute("data"), "[0.000000]") << text;
    EXPECT_EQ(fixture.remark("name=s undo=1"), "") << text;
  }
}

TEST(UndoTest, EachTypeAndTheLedgerAreAsTheyWere) {
  for (const char* const text : kEachType) {
    UndoFixture fixture(text);
    std::string data = fixture.data();
    const std::string definition = fixture.definition();
    const Holdings before = fixture.ledger.total();
    EXPECT_EQ(fixture.define("name=s data=reset"), "") << text;
    EXPECT_EQ(fixture.define("name=s undo=1"), "") << text;
    EXPECT_EQ(fixture.data(), data) << text;
    EXPECT_EQ(fixture.definition(), definition) << text;
    EXPECT_EQ(fixture.ledger.total(), before) << text;
    fixture.clock.advance(seconds(2));
    data = fixture.data();
    EXPECT_EQ(fixture.define("name=s type=raw entries_max=7 units=us/n"), "") << text;
    EXPECT_EQ(fixture.define("name=s undo=1"), "") << text;
    EXPECT_EQ(fixture.data(), data) << text;
    EXPECT_EQ(fixture.definition(), definition) << text;
    EXPECT_EQ(fixture.ledger.total(), before) << text;
  }
}

TEST(UndoTest, SamplesOfAnotherDefinitionAreLostAndCounted) {
  UndoFixture fixture("on=1 type=range");
  EXPECT_EQ(fixture.define("name=s type=value mode=increments"), "");
  fixture.add(1);
  fixture.add(1);
  EXPECT_EQ(fixture.define("name=s undo=1"), "");
  EXPECT_EQ(fixture.data(), "s 3 5 6.333 7\n");
  EXPECT_EQ(fixture.remark("name=s undo=1"), "2 samples that were counted since are discarded");
}

TEST(UndoTest, WhatFeedersCountInCellsComesBack) {
  CellsFixture cells;
  const auto source = cells.bind(kUid);
  source->add(cells.shapes[0], 7);
  cells.fixture.clock.advance(seconds(2));
  EXPECT_EQ(cells.fixture.define("name=s0 data=reset"), "");
  source->add(cells.shapes[0], 2);
  EXPECT_EQ(cells.fixture.data(), "s0 2\n");
  EXPECT_EQ(cells.fixture.define("name=s0 undo=1"), "");
  source->add(cells.shapes[0], 3);
  EXPECT_EQ(cells.fixture.data(), "s0 12\n");
  EXPECT_EQ(cells.samples(), 12u);
}

TEST(UndoTest, HitsComeBackAndOnStaysAsItIs) {
  UndoFixture fixture("on=1 range_min=6");
  EXPECT_EQ(fixture.define("name=s data=reset on=0"), "");
  EXPECT_EQ(fixture.define("name=s undo=1"), "");
  EXPECT_EQ(fixture.data(), "s 2\n");
  EXPECT_EQ(fixture.attribute("hits_out_of_range"), "1");
  EXPECT_EQ(fixture.attribute("on"), "0");
}

TEST(UndoTest, ItEndsAfterAMinute) {
  UndoFixture fixture("on=1");
  const Holdings before = fixture.ledger.total();
  EXPECT_EQ(fixture.define("name=s data=reset"), "");
  EXPECT_EQ(fixture.undo_us(), "62000000");
  fixture.clock.advance(seconds(60));
  EXPECT_EQ(fixture.undo_us(), "");
  EXPECT_EQ(fixture.ledger.total(), before);
  EXPECT_NE(fixture.define("name=s undo=1"), "");
  EXPECT_EQ(fixture.data(), "s 0\n");
}

TEST(UndoTest, ThereIsOneStep) {
  UndoFixture fixture("on=1");
  EXPECT_EQ(fixture.define("strict=1 name=s data=reset"), "");
  fixture.add(1);
  fixture.clock.advance(seconds(1));
  EXPECT_EQ(fixture.define("strict=1 name=s data=reset"), "");
  EXPECT_EQ(fixture.define("name=s undo=1"), "");
  EXPECT_EQ(fixture.data(), "s 1\n");
  EXPECT_NE(fixture.define("name=s undo=1"), "");
}

TEST(UndoTest, WhatAPersonResetsTwiceComesBackWhole) {
  for (const char* const text : {"on=1 type=range", "on=1 type=list entries_max=2",
                                 "on=1 type=raw entries_max=3", "on=1 type=last"}) {
    UndoFixture fixture(text);
    const std::string data = fixture.data();
    const std::string since = fixture.member("data_realtime_us");
    EXPECT_NE(since, "");
    const Holdings before = fixture.ledger.total();
    EXPECT_EQ(fixture.define("strict=1 name=s data=reset"), "") << text;
    fixture.clock.advance(std::chrono::milliseconds(999));
    EXPECT_EQ(fixture.define("strict=1 name=s data=reset"), "") << text;
    EXPECT_EQ(fixture.remark("name=s data=reset"), "") << text;
    EXPECT_EQ(fixture.define("name=s undo=1"), "") << text;
    EXPECT_EQ(fixture.data(), data) << text;
    EXPECT_EQ(fixture.member("data_realtime_us"), since) << text;
    EXPECT_EQ(fixture.ledger.total(), before) << text;
  }
}

TEST(UndoTest, WhatCameBetweenTwoResetsIsAddedOrTheLossIsSaid) {
  const std::string reset = "strict=1 name=s data=reset";
  UndoFixture range("on=1 type=range");
  EXPECT_EQ(range.define(reset), "");
  range.add(1);
  EXPECT_EQ(range.define(reset), "");
  EXPECT_EQ(range.define("name=s undo=1"), "");
  EXPECT_EQ(range.data(), "s 4 1 5.000 7\n");

  UndoFixture raw("on=1 type=raw entries_max=4");
  EXPECT_EQ(raw.define(reset), "");
  raw.add(1);
  EXPECT_EQ(raw.define(reset), "");
  EXPECT_TRUE(raw.remark(reset).starts_with("undo=1 brings back only what came after the reset"));
}

TEST(UndoTest, AProgramThatResetsOftenKeepsNothing) {
  UndoFixture fixture("on=1");
  EXPECT_EQ(fixture.define("name=s data=reset"), "");
  EXPECT_NE(fixture.undo_us(), "");
  fixture.clock.advance(std::chrono::milliseconds(999));
  EXPECT_EQ(fixture.define("name=s data=reset"), "");
  EXPECT_EQ(fixture.undo_us(), "");
}

TEST(UndoTest, LargeDataAndAFullQuotaCannotBeUndone) {
  UndoFixture large("on=1 type=list entries_max=100000");
  EXPECT_EQ(large.define("name=s data=reset"), "");
  EXPECT_NE(large.remark("name=s data=reset").find("it cannot be undone"), std::string::npos);
  EXPECT_NE(large.define("name=s undo=1"), "");

  Fixture full(Ledger::Limits{.per_uid = {.interfaces = 1,
                                          .statistics = 1,
                                          .bytes = kInterfaceBytes + kStatisticBytes + 9}});
  full.create("s", "on=1");
  full.clock.advance(seconds(2));
  EXPECT_EQ(full.define("name=s data=reset"), "");
  EXPECT_NE(full.define("name=s undo=1"), "");
}

TEST(UndoTest, ALineWithoutANameIsForAllThatHaveSomething) {
  UndoFixture fixture("on=1");
  fixture.create("t", "on=1");
  EXPECT_EQ(fixture.define("name=s data=reset"), "");
  EXPECT_EQ(fixture.define("undo=1"), "");
  EXPECT_EQ(fixture.data(), "s 3\nt 0\n");
  EXPECT_NE(fixture.define("undo=1").find("nothing to undo"), std::string::npos);
}

TEST(UndoTest, OtherKeysAndRemovedStatisticsAreRefused) {
  UndoFixture fixture("on=1");
  EXPECT_EQ(fixture.define("name=s data=reset"), "");
  EXPECT_EQ(fixture.define("name=s undo=1 on=0"), "undo=1 goes with name= alone");
  EXPECT_EQ(fixture.define("name=s undo=0"), "undo must be 1");
  EXPECT_TRUE(fixture.interface->remove_statistic("s", fixture.clock.now()));
  fixture.create("s", "on=1");
  EXPECT_NE(fixture.define("name=s undo=1").find("nothing to undo"), std::string::npos);
}

}  // namespace
}  // namespace tallyfs::statistics
