// The rules of docs/statistics.md and GRAMMAR.md, on a live interface.
#include "tests/unit/statistics_interface/stand.h"

namespace tallyfs::statistics {
namespace {

using std::chrono::seconds;

TEST(DefinitionRulesTest, AStatisticIsBornOffWithAllTimesThatOfItsCreation) {
  Stand stand;
  stand.clock.advance(seconds(3));
  stand.create("s", "units=a/b");
  EXPECT_EQ(stand.definition(),
            "name=s on=0 type=value range_min=-9223372036854775808 "
            "range_max=9223372036854775807 mode=increments hits_out_of_range=0 data=[3.000000] "
            "started=[3.000000] stopped=[3.000000] units=a/b\n");
}

TEST(DefinitionRulesTest, OneThatIsOffIgnoresSamples) {
  Stand stand("range_min=0");
  const Moment created = stand.last_change();
  stand.clock.advance(seconds(1));
  stand.add({{.x = 1}, {.x = -1}});
  EXPECT_EQ(stand.data(), "s 0\n");
  EXPECT_EQ(stand.attribute("hits_out_of_range"), "0");
  EXPECT_EQ(stand.last_change(), created);
}

TEST(DefinitionRulesTest, SwitchingOnWhatIsOnChangesNothing) {
  Stand stand("on=1");
  stand.add(5);
  const std::string before = stand.definition();
  const Moment last_change = stand.last_change();
  stand.clock.advance(seconds(1));
  EXPECT_EQ(stand.define("on=1"), "");
  EXPECT_EQ(stand.definition(), before);
  EXPECT_EQ(stand.last_change(), last_change);
}

TEST(DefinitionRulesTest, SwitchingOffAndOnKeepsDataAndNotesTheTimes) {
  Stand stand("on=1");
  stand.add(5);
  stand.clock.advance(seconds(1));
  EXPECT_EQ(stand.define("name=s on=0"), "");
  EXPECT_EQ(stand.attribute("stopped"), "[1.000000]");
  stand.clock.advance(seconds(1));
  EXPECT_EQ(stand.define("name=s on=0"), "");
  EXPECT_EQ(stand.attribute("stopped"), "[1.000000]");
  EXPECT_EQ(stand.define("name=s on=1"), "");
  EXPECT_EQ(stand.attribute("started"), "[2.000000]");
  EXPECT_EQ(stand.attribute("data"), "[0.000000]");
  EXPECT_EQ(stand.data(), "s 1\n");
}

TEST(DefinitionRulesTest, AResetClearsDataAndHitsAndLeavesItOn) {
  Stand stand("on=1 range_min=0");
  stand.add({{.x = -1}, {.x = 1}});
  stand.clock.advance(seconds(1));
  EXPECT_EQ(stand.define("data=reset"), "");
  EXPECT_EQ(stand.data(), "s 0\n");
  EXPECT_EQ(stand.attribute("hits_out_of_range"), "0");
  EXPECT_EQ(stand.attribute("data"), "[1.000000]");
  EXPECT_EQ(stand.attribute("on"), "1");
  EXPECT_EQ(stand.attribute("started"), "[0.000000]");
}

TEST(DefinitionRulesTest, WritingTheFileBackChangesNothing) {
  for (const char* text :
       {"on=1 mode=products", "on=1 type=range", "on=1 type=list entries_max=3",
        "on=1 type=array base_interval=1 scale=log2 range_min=0 range_max=64",
        "on=1 type=history entries_max=9 mode=range period=1000000", "on=1 type=raw entries_max=4",
        "on=1 type=last", "on=1 type=quantiles precision=5 quantiles=50,99.90"}) {
    Stand stand(text);
    stand.add({{.x = 1}, {.x = 7}});
    const std::string definition = stand.definition();
    stand.clock.advance(std::chrono::milliseconds(500));
    const std::string data = stand.data();
    const Moment last_change = stand.last_change();
    EXPECT_EQ(stand.define(definition), "");
    EXPECT_EQ(stand.definition(), definition);
    EXPECT_EQ(stand.data(), data);
    EXPECT_EQ(stand.last_change(), last_change);
  }
}

TEST(DefinitionRulesTest, AChangedAttributeDiscardsDataAndKeepsItOn) {
  Stand stand("on=1 range_min=0");
  stand.add({{.x = -1}, {.x = 3}});
  stand.clock.advance(seconds(1));
  EXPECT_EQ(stand.define("name=s mode=products"), "");
  EXPECT_EQ(stand.data(), "s 0\n");
  EXPECT_EQ(stand.attribute("data"), "[1.000000]");
  EXPECT_EQ(stand.attribute("hits_out_of_range"), "0");
  EXPECT_EQ(stand.attribute("on"), "1");
  stand.add(3);
  EXPECT_EQ(stand.data(), "s 3\n");
}

TEST(DefinitionRulesTest, AChangedRangeKeepsDataButAnArrays) {
  Stand value("on=1");
  value.add(3);
  EXPECT_EQ(value.define("range_min=5"), "");
  EXPECT_EQ(value.data(), "s 1\n");
  value.add(3);
  EXPECT_EQ(value.attribute("hits_out_of_range"), "1");

  Stand array("on=1 type=array base_interval=1 scale=lin range_min=0 range_max=1");
  array.add(5);
  EXPECT_EQ(array.define("range_max=2"), "");
  EXPECT_EQ(array.data(), "s <=0 0\ns <=1 0\ns <=2 0\ns >2 0\n");
  EXPECT_EQ(array.attribute("hits_out_of_range"), "0");
}

TEST(DefinitionRulesTest, OffTogetherWithARedefinitionIsOff) {
  Stand stand("on=1");
  EXPECT_EQ(stand.define("name=s on=0 type=range"), "");
  EXPECT_EQ(stand.attribute("on"), "0");
}

TEST(DefinitionRulesTest, WithoutNameALineIsForAll) {
  Stand stand("on=1");
  stand.create("t", "type=raw entries_max=2");
  EXPECT_EQ(stand.define("type=list entries_max=5 on=0"), "");
  for (const Statistic* statistic : stand.interface->statistics()) {
    EXPECT_EQ(statistic->definition().settings, Settings(ListSettings{5}));
  }
}

TEST(DefinitionRulesTest, WithoutNameALineThatOneRefusesChangesNone) {
  Stand stand("type=raw entries_max=3");
  stand.create("t", "range_max=10");
  const std::string before = stand.definition();
  EXPECT_EQ(stand.define("range_min=11 on=1"), "t: range_min must not be above range_max");
  EXPECT_EQ(stand.definition(), before);
}

TEST(DefinitionRulesTest, ErrorsNameTheirKindAndToken) {
  Stand stand("");
  const auto error = [&](std::string_view line) {
    return stand.interface->define(line, stand.clock.now()).error();
  };
  EXPECT_EQ(error("on=1 name=other").code, ErrorCode::kNotFound);
  EXPECT_EQ(error("on=1 name=other").token_at, 5u);
  EXPECT_EQ(error("on=1 name=a/b").code, ErrorCode::kInvalid);
  EXPECT_EQ(error("on=1 name=a/b").token_at, 5u);
  EXPECT_EQ(stand.attribute("on"), "0");
}

TEST(DefinitionRulesTest, NothingMayBeAskedOfAnEmptyInterface) {
  Stand stand;
  EXPECT_EQ(stand.define("on=1 data=reset"), "");
  EXPECT_EQ(stand.definition() + stand.data(), "");
}

}  // namespace
}  // namespace tallyfs::statistics
