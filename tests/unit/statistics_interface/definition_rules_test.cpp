// The rules of docs/statistics.md and GRAMMAR.md, on a live interface.
#include "tests/unit/statistics_interface/fixture.h"

namespace tallyfs::statistics {
namespace {

using std::chrono::seconds;

TEST(DefinitionRulesTest, AStatisticIsBornOffWithAllTimesThatOfItsCreation) {
  Fixture fixture;
  fixture.clock.advance(seconds(3));
  fixture.create("s", "units=a/b");
  EXPECT_EQ(fixture.definition(),
            "name=s on=0 type=value range_min=-9223372036854775808 "
            "range_max=9223372036854775807 mode=increments hits_out_of_range=0 data=[3.000000] "
            "started=[3.000000] stopped=[3.000000] units=a/b\n");
}

TEST(DefinitionRulesTest, OneThatIsOffIgnoresSamples) {
  Fixture fixture("range_min=0");
  const Timestamp created = fixture.last_change();
  fixture.clock.advance(seconds(1));
  fixture.add({{.x = 1}, {.x = -1}});
  EXPECT_EQ(fixture.data(), "s 0\n");
  EXPECT_EQ(fixture.attribute("hits_out_of_range"), "0");
  EXPECT_EQ(fixture.last_change(), created);
}

TEST(DefinitionRulesTest, SwitchingOnWhatIsOnChangesNothing) {
  Fixture fixture("on=1");
  fixture.add(5);
  const std::string before = fixture.definition();
  const Timestamp last_change = fixture.last_change();
  fixture.clock.advance(seconds(1));
  EXPECT_EQ(fixture.define("on=1"), "");
  EXPECT_EQ(fixture.definition(), before);
  EXPECT_EQ(fixture.last_change(), last_change);
}

TEST(DefinitionRulesTest, SwitchingOffAndOnKeepsDataAndNotesTheTimes) {
  Fixture fixture("on=1");
  fixture.add(5);
  fixture.clock.advance(seconds(1));
  EXPECT_EQ(fixture.define("name=s on=0"), "");
  EXPECT_EQ(fixture.attribute("stopped"), "[1.000000]");
  fixture.clock.advance(seconds(1));
  EXPECT_EQ(fixture.define("name=s on=0"), "");
  EXPECT_EQ(fixture.attribute("stopped"), "[1.000000]");
  EXPECT_EQ(fixture.define("name=s on=1"), "");
  EXPECT_EQ(fixture.attribute("started"), "[2.000000]");
  EXPECT_EQ(fixture.attribute("data"), "[0.000000]");
  EXPECT_EQ(fixture.data(), "s 1\n");
}

TEST(DefinitionRulesTest, AResetClearsDataAndHitsAndLeavesItOn) {
  Fixture fixture("on=1 range_min=0");
  fixture.add({{.x = -1}, {.x = 1}});
  fixture.clock.advance(seconds(1));
  EXPECT_EQ(fixture.define("data=reset"), "");
  EXPECT_EQ(fixture.data(), "s 0\n");
  EXPECT_EQ(fixture.attribute("hits_out_of_range"), "0");
  EXPECT_EQ(fixture.attribute("data"), "[1.000000]");
  EXPECT_EQ(fixture.attribute("on"), "1");
  EXPECT_EQ(fixture.attribute("started"), "[0.000000]");
}

TEST(DefinitionRulesTest, WritingTheFileBackChangesNothing) {
  for (const char* text :
       {"on=1 mode=products", "on=1 type=range", "on=1 type=list entries_max=3",
        "on=1 type=array base_interval=1 scale=log2 range_min=0 range_max=64",
        "on=1 type=history entries_max=9 mode=range period=1000000", "on=1 type=raw entries_max=4",
        "on=1 type=last", "on=1 type=quantiles precision=5 quantiles=50,99.90"}) {
    Fixture fixture(text);
    fixture.add({{.x = 1}, {.x = 7}});
    const std::string definition = fixture.definition();
    fixture.clock.advance(std::chrono::milliseconds(500));
    const std::string data = fixture.data();
    const Timestamp last_change = fixture.last_change();
    EXPECT_EQ(fixture.define(definition), "");
    EXPECT_EQ(fixture.definition(), definition);
    EXPECT_EQ(fixture.data(), data);
    EXPECT_EQ(fixture.last_change(), last_change);
  }
}

TEST(DefinitionRulesTest, AChangedAttributeDiscardsDataAndKeepsItOn) {
  Fixture fixture("on=1 range_min=0");
  fixture.add({{.x = -1}, {.x = 3}});
  fixture.clock.advance(seconds(1));
  EXPECT_EQ(fixture.define("name=s mode=products"), "");
  EXPECT_EQ(fixture.data(), "s 0\n");
  EXPECT_EQ(fixture.attribute("data"), "[1.000000]");
  EXPECT_EQ(fixture.attribute("hits_out_of_range"), "0");
  EXPECT_EQ(fixture.attribute("on"), "1");
  fixture.add(3);
  EXPECT_EQ(fixture.data(), "s 3\n");
}

TEST(DefinitionRulesTest, AChangedRangeKeepsDataButAnArrays) {
  Fixture value("on=1");
  value.add(3);
  EXPECT_EQ(value.define("range_min=5"), "");
  EXPECT_EQ(value.data(), "s 1\n");
  value.add(3);
  EXPECT_EQ(value.attribute("hits_out_of_range"), "1");

  Fixture array("on=1 type=array base_interval=1 scale=lin range_min=0 range_max=1");
  array.add(5);
  EXPECT_EQ(array.define("range_max=2"), "");
  EXPECT_EQ(array.data(), "s <=0 0\ns <=1 0\ns <=2 0\ns >2 0\n");
  EXPECT_EQ(array.attribute("hits_out_of_range"), "0");
}

TEST(DefinitionRulesTest, OffTogetherWithARedefinitionIsOff) {
  Fixture fixture("on=1");
  EXPECT_EQ(fixture.define("name=s on=0 type=range"), "");
  EXPECT_EQ(fixture.attribute("on"), "0");
}

TEST(DefinitionRulesTest, WithoutNameALineIsForAll) {
  Fixture fixture("on=1");
  fixture.create("t", "type=raw entries_max=2");
  EXPECT_EQ(fixture.define("type=list entries_max=5 on=0"), "");
  for (const Statistic* statistic : fixture.interface->statistics()) {
    EXPECT_EQ(statistic->definition().settings, Settings(ListSettings{5}));
  }
}

TEST(DefinitionRulesTest, WithoutNameALineThatOneRefusesChangesNone) {
  Fixture fixture("type=raw entries_max=3");
  fixture.create("t", "range_max=10");
  const std::string before = fixture.definition();
  EXPECT_EQ(fixture.define("range_min=11 on=1"), "t: range_min must not be above range_max");
  EXPECT_EQ(fixture.definition(), before);
}

TEST(DefinitionRulesTest, ErrorsNameTheirKindAndToken) {
  Fixture fixture("");
  const auto error = [&](std::string_view line) {
    return fixture.interface->define(line, fixture.clock.now()).error();
  };
  EXPECT_EQ(error("on=1 name=other").code, ErrorCode::kNotFound);
  EXPECT_EQ(error("on=1 name=other").token_at, 5u);
  EXPECT_EQ(error("on=1 name=a/b").code, ErrorCode::kInvalid);
  EXPECT_EQ(error("on=1 name=a/b").token_at, 5u);
  EXPECT_EQ(fixture.attribute("on"), "0");
}

TEST(DefinitionRulesTest, NothingMayBeAskedOfAnEmptyInterface) {
  Fixture fixture;
  EXPECT_EQ(fixture.define("on=1 data=reset"), "");
  EXPECT_EQ(fixture.definition() + fixture.data(), "");
}

}  // namespace
}  // namespace tallyfs::statistics
