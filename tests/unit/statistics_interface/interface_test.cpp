#include "core/statistics/interface/interface.h"

#include "tests/unit/statistics_interface/fixture.h"

namespace tallyfs::statistics {
namespace {

TEST(InterfaceTest, ShowsStatisticsInTheOrderOfTheirCreation) {
  Fixture fixture;
  for (const char* name : {"z", "a", "m"}) fixture.create(name, "");
  EXPECT_EQ(fixture.data(), "z 0\na 0\nm 0\n");
  EXPECT_TRUE(fixture.interface->remove_statistic("a", fixture.clock.now()));
  fixture.create("a", "on=1");
  EXPECT_EQ(fixture.data(), "z 0\nm 0\na 0\n");
}

TEST(InterfaceTest, FindsByNameWhatWasNotRemoved) {
  Fixture fixture;
  Statistic* const one = fixture.create("one", "");
  for (std::size_t i = 0; i < 1000; ++i) fixture.create(numbered(i), "");
  EXPECT_EQ(fixture.interface->find("one"), one);
  EXPECT_EQ(fixture.interface->find("s999"), fixture.interface->statistics().back());
  EXPECT_TRUE(fixture.interface->remove_statistic("one", fixture.clock.now()));
  EXPECT_EQ(fixture.interface->find("one"), nullptr);
  EXPECT_FALSE(fixture.interface->remove_statistic("one", fixture.clock.now()));
}

TEST(InterfaceTest, RefusesBadAndTakenNamesAndBadDefinitions) {
  Fixture fixture("");
  const auto error = [&](std::string_view name, std::string_view text) {
    return fixture.interface->create_statistic(name, text, fixture.clock.now()).error();
  };
  EXPECT_EQ(error("a/b", "").code, ErrorCode::kInvalid);
  EXPECT_EQ(error("", "").code, ErrorCode::kInvalid);
  EXPECT_EQ(error("s", "").code, ErrorCode::kExists);
  EXPECT_EQ(error("t", "on=1 type=list").token_at, 5u);
  EXPECT_EQ(fixture.interface->statistics().size(), 1u);
  EXPECT_EQ(fixture.ledger.total().statistics, 1u);
}

TEST(InterfaceTest, AddsRunsOfSeveralStatistics) {
  Fixture fixture;
  Statistic* const a = fixture.create("a", "on=1");
  Statistic* const b = fixture.create("b", "on=1 type=range");
  const std::vector<Sample> samples{{.x = 1}, {.x = 2}, {.x = 9}};
  const std::span<const Sample> all(samples);
  const statistics::Run runs[] = {{a, all.first(2)}, {b, all}, {a, all.last(1)}, {b, {}}};
  EXPECT_EQ(fixture.interface->add(runs, fixture.clock.now()), 0u);
  EXPECT_EQ(fixture.data(), "a 3\nb 3 1 4.000 9\n");
}

TEST(InterfaceTest, FiltersTheRangeInclusively) {
  Fixture fixture("on=1 type=raw entries_max=9 range_min=2 range_max=4");
  fixture.add({{.x = 1, .y = 9}, {.x = 2}, {.x = 3}, {.x = 5}, {.x = 6}, {.x = 4}, {.x = -2}});
  EXPECT_EQ(fixture.data(), "s [0.000000] 0 2 1\ns [0.000000] 1 3 1\ns [0.000000] 2 4 1\n");
  EXPECT_EQ(fixture.attribute("hits_out_of_range"), "4");
}

TEST(InterfaceTest, LastChangeIsThatOfSamplesHitsAndDefinitions) {
  Fixture fixture("on=1 range_min=0");
  const auto tick = [&] {
    fixture.clock.advance(std::chrono::seconds(1));
    return fixture.clock.now();
  };
  const Timestamp sample = tick();
  fixture.add(1);
  EXPECT_EQ(fixture.last_change(), sample);
  const Timestamp hit = tick();
  fixture.add(-1);
  EXPECT_EQ(fixture.last_change(), hit);
  const Timestamp defined = tick();
  fixture.define("range_min=1");
  EXPECT_EQ(fixture.last_change(), defined);
  const Timestamp reset = tick();
  fixture.define("data=reset");
  EXPECT_EQ(fixture.last_change(), reset);
  const Timestamp created = tick();
  fixture.create("t", "");
  EXPECT_EQ(fixture.last_change(), created);
  tick();
  fixture.define("words");
  fixture.data();
  EXPECT_EQ(fixture.last_change(), created);
}

TEST(InterfaceTest, AnOlderMomentDoesNotTurnTheLastChangeBack) {
  Fixture fixture("on=1");
  const Timestamp before = fixture.clock.now();
  fixture.clock.advance(std::chrono::seconds(1));
  fixture.add(1);
  const Sample sample;
  const statistics::Run run{fixture.interface->find("s"), {&sample, 1}};
  fixture.interface->add({&run, 1}, before);
  EXPECT_EQ(fixture.last_change(), fixture.clock.now());
}

}  // namespace
}  // namespace tallyfs::statistics
