// Bounds of the series, their definitions, the file of --map, and sets.
#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "feeders/statsd/series/distinct_values.h"
#include "feeders/statsd/series/map_file.h"
#include "tests/unit/statsd/recording_outlet.h"

namespace tallyfs::statsd {
namespace {

std::string metric_of(const std::string& name, const std::string& tag) {
  return name + ":1|c|#" + tag;
}

TEST(StatsdSeriesTest, SendsTagSetsBeyondTheBoundOfANameToItsOverflow) {
  Fixture fixture({.limits = {.per_name_max = 3}});
  for (int i = 0; i < 3; ++i) fixture.take(metric_of("a", std::to_string(i)));
  EXPECT_EQ(fixture.take(metric_of("a", "3")), "a{*} c 1x1");
  EXPECT_EQ(fixture.take(metric_of("a", "4")), "a{*} c 1x1");
  EXPECT_EQ(fixture.take(metric_of("a", "2")), "a{2} c 1x1");
  EXPECT_EQ(fixture.take("a:1|g|#9"), "a~g{*} g 1000x1");
  EXPECT_EQ(fixture.take(metric_of("b", "3")), "b{3} c 1x1");
  EXPECT_EQ(fixture.translator.counts().overflowed, 3u);
}

TEST(StatsdSeriesTest, SendsSeriesBeyondTheBoundToTheOverflowOfTheirNames) {
  Fixture fixture({.limits = {.series_max = 2}});
  fixture.take("a:1|c\nb:1|c");
  EXPECT_EQ(fixture.take("c:1|c"), "c{*} c 1x1");
  EXPECT_EQ(fixture.take("a:1|c|#x"), "a{*} c 1x1");
  EXPECT_EQ(fixture.take("a:1|c"), "a c 1x1");
}

TEST(StatsdSeriesTest, SendsNamesThatAreTooLongWithTheirTagsToTheOverflow) {
  Fixture fixture;
  EXPECT_EQ(fixture.take(metric_of("a", std::string(300, 't'))), "a{*} c 1x1");
  const std::string name(252, 'n');
  EXPECT_EQ(fixture.take(metric_of(name, "x")), name + "{x} c 1x1");
  EXPECT_EQ(fixture.take(metric_of(name, "xy")), name + "{*} c 1x1");
  EXPECT_EQ(fixture.take(metric_of(name + "n", "xy")), "name");
}

TEST(StatsdSeriesTest, RefusesNamesBeyondFiveThousand) {
  Fixture fixture;
  for (int i = 0; i < 5'000; ++i) fixture.take("n" + std::to_string(i) + ":1|c");
  EXPECT_EQ(fixture.take("another:1|c"), "name");
  EXPECT_EQ(fixture.take("n4999:1|c"), "n4999 c 1x1");
}

// 5,000 names, n0 to n4999, a second after one another; then the last is as old as `age`.
void take_names(Fixture& fixture, std::chrono::seconds age) {
  for (int i = 0; i < 5'000; ++i) {
    fixture.arrival.now.monotonic += std::chrono::seconds(1);
    fixture.take("n" + std::to_string(i) + ":1|c");
  }
  fixture.arrival.now.monotonic += age;
}

TEST(StatsdSeriesTest, TheNameUnusedLongestGivesWay) {
  Fixture fixture;
  take_names(fixture, std::chrono::minutes(30));
  // n0 has been unused for more than an hour, but is used now, by a line that is known.
  EXPECT_EQ(fixture.take("n0:1|c"), "n0 c 1x1");
  EXPECT_EQ(fixture.take("another:1|c\nthird:1|c"), "another c 1x1, third c 1x1");
  EXPECT_EQ(fixture.outlet.removed, (std::vector<std::string>{"n1", "n2"}));
  EXPECT_EQ(fixture.translator.counts().names_given_up, 2u);
  EXPECT_EQ(fixture.translator.bounds().last_given_up(), "n2");
  EXPECT_EQ(fixture.take("n0:1|c"), "n0 c 1x1");
  EXPECT_EQ(fixture.take("n3:1|c"), "n3 c 1x1");
  EXPECT_EQ(fixture.translator.counts().series, 5'002u);
}

TEST(StatsdSeriesTest, NamesThatWereUsedWithinTheHourStay) {
  Fixture fixture;
  for (int i = 0; i < 5'000; ++i) fixture.take("n" + std::to_string(i) + ":1|c|#b\n");
  fixture.arrival.now.monotonic += std::chrono::minutes(59);
  EXPECT_EQ(fixture.take("another:1|c"), "name");
  EXPECT_TRUE(fixture.outlet.removed.empty());
  fixture.take("n7:1|g|#a");
  fixture.arrival.now.monotonic += std::chrono::minutes(1);
  for (int i = 0; i < 4'999; ++i) {
    EXPECT_NE(fixture.take("m" + std::to_string(i) + ":1|c"), "name") << i;
  }
  EXPECT_EQ(fixture.take("another:1|c"), "name");
  EXPECT_EQ(fixture.take("n7:1|g|#a"), "n7~g{a} g 1000x1");
  EXPECT_EQ(fixture.outlet.removed.size(), 4'999u);
}

// The line is known, and its look-up is done before the line in front of it is.
TEST(StatsdSeriesTest, ANameThatGaveWayBeginsAnew) {
  Fixture fixture;
  take_names(fixture, std::chrono::hours(1));
  EXPECT_EQ(fixture.take("x:1|c\nn0:7|c\nn0:7|c:8|g"),
            "x c 1x1, n0 c 7x1, n0 c 7x1, n0~g g 8000x1");
  EXPECT_EQ(fixture.outlet.opened[5'001].name, "n0");
  EXPECT_EQ(fixture.take("n0:7|c"), "n0 c 7x1");
  EXPECT_EQ(fixture.outlet.opened.size(), 5'003u);
  EXPECT_EQ(fixture.outlet.removed, (std::vector<std::string>{"n0", "n1"}));
}

TEST(StatsdSeriesTest, ANameGivesWayWithAllItHas) {
  Fixture fixture({.limits = {.series_max = 4}});
  fixture.take("a:1|c|#x\na:1|c|#y\na:1|g\na:1|s|#z\na:1|c|#w\n_sc|a|1");
  EXPECT_EQ(fixture.outlet.opened.back().name, "a{*}");
  fixture.arrival.now.monotonic += std::chrono::hours(1);
  // A new name; a name that is there has no claim.
  EXPECT_EQ(fixture.take("_sc|a|1"), "a{*} g 1x1, check ");
  EXPECT_EQ(fixture.take("b:1|c|#x"), "b{x} c 1x1");
  EXPECT_EQ(fixture.outlet.removed,
            (std::vector<std::string>{"a{x}", "a{y}", "a~g", "a~s{z}", "a{*}"}));
  fixture.translator.end_set_windows(fixture.arrival.now.monotonic);
  EXPECT_EQ(fixture.outlet.said, "b{x} c 1x1");
}

TEST(StatsdSeriesTest, SetsGiveWayToSets) {
  Fixture fixture({.limits = {.per_name_max = 5'000}});
  fixture.take("plain:1|c");
  fixture.arrival.now.monotonic += std::chrono::seconds(1);
  for (int i = 0; i < 1'100; ++i) fixture.take("a:1|s|#" + std::to_string(i));
  fixture.arrival.now.monotonic += std::chrono::minutes(59);
  fixture.take("b:1|s");
  EXPECT_EQ(fixture.outlet.opened.back().name, "b{*}");
  fixture.arrival.now.monotonic += std::chrono::minutes(2);
  fixture.take("c:1|s");
  EXPECT_EQ(fixture.outlet.opened.back().name, "c");
  EXPECT_EQ(fixture.outlet.removed.size(), 1'025u);
  EXPECT_EQ(fixture.translator.bounds().last_given_up(), "a");
}

TEST(StatsdSeriesTest, BoundsSets) {
  Fixture fixture({.limits = {.per_name_max = 5'000}});
  for (int i = 0; i < 1'100; ++i) fixture.take("a:1|s|#" + std::to_string(i));
  EXPECT_EQ(fixture.outlet.opened.size(), 1'025u);
  EXPECT_EQ(fixture.outlet.opened.back().name, "a{*}");
  for (int i = 0; i < 255; ++i) fixture.take("b" + std::to_string(i) + ":1|s");
  EXPECT_EQ(fixture.take("c:1|s"), "name");
}

TEST(StatsdSeriesTest, TakesInterfacesFromTheFirstPartOfNames) {
  Fixture fixture;
  fixture.take("a:1|c\nweb.hits:1|c\n.x:1|c\na/b.c:1|c\n" + std::string(250, 'l') + ".x:1|c");
  EXPECT_EQ(fixture.outlet.opened[0].interface, "statsd");
  EXPECT_EQ(fixture.outlet.opened[1].interface, "statsd-web");
  EXPECT_EQ(fixture.outlet.opened[2].interface, "statsd");
  EXPECT_EQ(fixture.outlet.opened[3].interface, "statsd-a%2Fb");
  EXPECT_EQ(fixture.outlet.opened[4].interface, "statsd");
  for (int i = 0; i < 1'030; ++i) fixture.take("i" + std::to_string(i) + ".x:1|c");
  EXPECT_EQ(fixture.outlet.opened.back().interface, "statsd");
}

TEST(StatsdSeriesTest, TellsTextsApartThatJoinToTheSame) {
  Fixture fixture;
  EXPECT_EQ(fixture.take("ab:1|c|#c"), "ab{c} c 1x1");
  EXPECT_EQ(fixture.take("a:1|c|#bc"), "a{bc} c 1x1");
  EXPECT_EQ(fixture.take("ab:1|c|#c"), "ab{c} c 1x1");
  EXPECT_EQ(fixture.outlet.opened.size(), 2u);
}

TEST(StatsdSeriesTest, DefinesByKind) {
  Fixture fixture;
  fixture.take("a:1|c\nb:1|g\nc:1|ms\nd:1|h\ne:1|s");
  const auto& opened = fixture.outlet.opened;
  EXPECT_EQ(opened[0].definition.units, "");
  EXPECT_EQ(std::get<tally::Value>(opened[0].definition.type).mode, tally::Mode::kProducts);
  EXPECT_EQ(opened[0].definition.decimals, 0u);
  EXPECT_EQ(opened[1].definition.units, "updates");
  EXPECT_EQ(opened[1].definition.decimals, 3u);
  EXPECT_TRUE(std::holds_alternative<tally::Last>(opened[1].definition.type));
  EXPECT_EQ(opened[2].definition.units, "microseconds/timings");
  EXPECT_EQ(opened[2].definition.decimals, 0u);
  EXPECT_EQ(std::get<tally::Quantiles>(opened[2].definition.type).precision, 4u);
  EXPECT_EQ(std::get<tally::Quantiles>(opened[2].definition.type).range.min, 0);
  EXPECT_EQ(opened[3].definition.units, "samples");
  EXPECT_EQ(opened[3].definition.decimals, 6u);
  EXPECT_EQ(std::get<tally::Quantiles>(opened[3].definition.type).range.min, STATISTIC_RANGE_MIN);
  EXPECT_EQ(opened[4].definition.units, "values/windows");
}

TEST(StatsdMapTest, AppliesTheFirstRuleThatMatches) {
  auto map = parse_map(
      "# ours\n\n"
      "web.*  interface=web keep-tags=code scale=0 units=bytes/requests type=range range_min=1\n"
      "web.hits interface=never\n"
      "* interface=rest drop-tags=pod,node scale=6\n");
  ASSERT_TRUE(map) << map.error().reason;
  Fixture fixture({.map = map.value()});
  EXPECT_EQ(fixture.take("web.hits:2.5|g|#code:1,pod:2"), "web.hits{code:1} g 2x1");
  EXPECT_EQ(fixture.take("other:0.25|ms|#pod:1,x"), "other{x} t 250000x1");
  EXPECT_EQ(fixture.outlet.opened[0].interface, "web");
  EXPECT_EQ(fixture.outlet.opened[0].definition.units, "bytes/requests");
  EXPECT_EQ(std::get<tally::MinMax>(fixture.outlet.opened[0].definition.type).range.min, 1);
  EXPECT_EQ(fixture.outlet.opened[1].interface, "rest");
  EXPECT_EQ(fixture.outlet.opened[1].definition.units, "nanoseconds/timings");
}

TEST(StatsdMapTest, KeepsAsManyDecimalsAsARuleSays) {
  const auto map = parse_map(
      "price interface=a decimals=2 units=euros/sales\n"
      "t0 interface=a scale=0\n"
      "t6 interface=a scale=6\n"
      "c3 interface=a scale=3\n"
      "t9 interface=a scale=9 units=femtoyears/timings\n"
      "t2 interface=a scale=2\n");
  ASSERT_TRUE(map) << map.error().reason;
  Fixture fixture({.map = map.value()});
  EXPECT_EQ(fixture.take("price:12.34|h"), "price h 1234x1");
  EXPECT_EQ(fixture.take("t0:12.34|ms"), "t0 t 12x1");
  EXPECT_EQ(fixture.take("t6:12.34|ms"), "t6 t 12340000x1");
  EXPECT_EQ(fixture.take("c3:0.5|c"), "c3 c 500x1");
  EXPECT_EQ(fixture.take("t9:1|ms"), "t9 t 1000000000x1");
  EXPECT_EQ(fixture.take("t2:1.5|ms"), "t2 t 150x1");
  const auto& opened = fixture.outlet.opened;
  EXPECT_EQ(opened[0].definition.units, "euros/sales");
  EXPECT_EQ(opened[0].definition.decimals, 2u);
  EXPECT_EQ(opened[1].definition.units, "milliseconds/timings");
  EXPECT_EQ(opened[2].definition.units, "nanoseconds/timings");
  EXPECT_EQ(opened[2].definition.decimals, 0u);
  EXPECT_EQ(opened[3].definition.units, "counts");
  EXPECT_EQ(opened[3].definition.decimals, 3u);
  EXPECT_EQ(opened[5].definition.units, "milliseconds/timings");
  EXPECT_EQ(opened[5].definition.decimals, 2u);
}

TEST(StatsdMapTest, TakesBoundsWithTheDecimalsOfTheLine) {
  const auto range_max = [](const std::string& words) {
    const auto map = parse_map("a interface=b " + words);
    if (!map) return map.error().reason;
    const MapRule& rule = map.value()[0];
    return std::to_string(std::get<tally::MinMax>(*rule.type).range.max) + " scale " +
           std::to_string(rule.scale.value_or(0));
  };
  EXPECT_EQ(range_max("decimals=2 type=range range_max=2.5"), "250 scale 2");
  EXPECT_EQ(range_max("type=range range_max=2.5 decimals=3"), "2500 scale 3");
  EXPECT_EQ(range_max("type=range range_max=2500"), "2500 scale 0");
  EXPECT_EQ(range_max("decimals=2 type=range decimals=3"), "line 1: decimals is given twice");
}

TEST(StatsdMapTest, SaysWhatIsWrongInWhichLine) {
  const auto reason = [](const std::string& text) {
    const auto map = parse_map(text);
    return map ? "taken" : map.error().reason;
  };
  EXPECT_EQ(reason("a"), "line 1: interface= is missing");
  EXPECT_EQ(reason("# x\na interface=a/b"), "line 2: interface= must be the name of an interface");
  EXPECT_EQ(reason("a interface=b scale=10"), "line 1: scale= must be 0 to 9");
  EXPECT_EQ(reason("a interface=b decimals=-1"), "line 1: decimals= must be 0 to 9");
  EXPECT_EQ(reason("a interface=b scael=1"), "line 1: unknown key 'scael'");
  EXPECT_EQ(reason("a interface=b x"), "line 1: 'x' is no key=value");
  EXPECT_NE(reason("a interface=b type=list"), "taken");
  EXPECT_EQ(reason("a interface=b type=history entries_max=5 period=1000 mode=range"), "taken");
}

TEST(StatsdDistinctTest, IsExactUpToItsBoundAndNearBeyond) {
  DistinctValues values;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 1'024; ++i) values.add(std::to_string(i));
  }
  EXPECT_EQ(values.count(), 1'024u);
  for (const int count : {2'000, 20'000, 200'000}) {
    for (int i = 0; i < count; ++i) values.add(std::to_string(i));
    // Six standard errors.
    EXPECT_NEAR(static_cast<double>(values.count()), count, 0.1 * count);
  }
  values.clear();
  EXPECT_TRUE(values.empty());
  EXPECT_EQ(values.count(), 0u);
}

}  // namespace
}  // namespace tallyfs::statsd
