#include "core/statistics/interface/interface.h"

#include "tests/unit/statistics_interface/stand.h"

namespace tallyfs::statistics {
namespace {

TEST(InterfaceTest, ShowsStatisticsInTheOrderOfTheirCreation) {
  Stand stand;
  for (const char* name : {"z", "a", "m"}) stand.create(name, "");
  EXPECT_EQ(stand.data(), "z 0\na 0\nm 0\n");
  EXPECT_TRUE(stand.interface->remove_statistic("a", stand.clock.now()));
  stand.create("a", "on=1");
  EXPECT_EQ(stand.data(), "z 0\nm 0\na 0\n");
}

TEST(InterfaceTest, FindsByNameWhatWasNotRemoved) {
  Stand stand;
  Statistic* const one = stand.create("one", "");
  for (std::size_t i = 0; i < 1000; ++i) stand.create(numbered(i), "");
  EXPECT_EQ(stand.interface->find("one"), one);
  EXPECT_EQ(stand.interface->find("s999"), stand.interface->statistics().back());
  EXPECT_TRUE(stand.interface->remove_statistic("one", stand.clock.now()));
  EXPECT_EQ(stand.interface->find("one"), nullptr);
  EXPECT_FALSE(stand.interface->remove_statistic("one", stand.clock.now()));
}

TEST(InterfaceTest, RefusesBadAndTakenNamesAndBadDefinitions) {
  Stand stand("");
  const auto error = [&](std::string_view name, std::string_view text) {
    return stand.interface->create_statistic(name, text, stand.clock.now()).error();
  };
  EXPECT_EQ(error("a/b", "").code, ErrorCode::kInvalid);
  EXPECT_EQ(error("", "").code, ErrorCode::kInvalid);
  EXPECT_EQ(error("s", "").code, ErrorCode::kExists);
  EXPECT_EQ(error("t", "on=1 type=list").token_at, 5u);
  EXPECT_EQ(stand.interface->statistics().size(), 1u);
  EXPECT_EQ(stand.ledger.total().statistics, 1u);
}

TEST(InterfaceTest, AddsRunsOfSeveralStatistics) {
  Stand stand;
  Statistic* const a = stand.create("a", "on=1");
  Statistic* const b = stand.create("b", "on=1 type=range");
  const std::vector<Sample> samples{{.x = 1}, {.x = 2}, {.x = 9}};
  const std::span<const Sample> all(samples);
  const statistics::Run runs[] = {{a, all.first(2)}, {b, all}, {a, all.last(1)}, {b, {}}};
  EXPECT_EQ(stand.interface->add(runs, stand.clock.now()), 0u);
  EXPECT_EQ(stand.data(), "a 3\nb 3 1 4.000 9\n");
}

TEST(InterfaceTest, FiltersTheRangeInclusively) {
  Stand stand("on=1 type=raw entries_max=9 range_min=2 range_max=4");
  stand.add({{.x = 1, .y = 9}, {.x = 2}, {.x = 3}, {.x = 5}, {.x = 6}, {.x = 4}, {.x = -2}});
  EXPECT_EQ(stand.data(), "s [0.000000] 0 2 1\ns [0.000000] 1 3 1\ns [0.000000] 2 4 1\n");
  EXPECT_EQ(stand.attribute("hits_out_of_range"), "4");
}

TEST(InterfaceTest, LastChangeIsThatOfSamplesHitsAndDefinitions) {
  Stand stand("on=1 range_min=0");
  const auto tick = [&] {
    stand.clock.advance(std::chrono::seconds(1));
    return stand.clock.now();
  };
  const Moment sample = tick();
  stand.add(1);
  EXPECT_EQ(stand.last_change(), sample);
  const Moment hit = tick();
  stand.add(-1);
  EXPECT_EQ(stand.last_change(), hit);
  const Moment defined = tick();
  stand.define("range_min=1");
  EXPECT_EQ(stand.last_change(), defined);
  const Moment reset = tick();
  stand.define("data=reset");
  EXPECT_EQ(stand.last_change(), reset);
  const Moment created = tick();
  stand.create("t", "");
  EXPECT_EQ(stand.last_change(), created);
  tick();
  stand.define("words");
  stand.data();
  EXPECT_EQ(stand.last_change(), created);
}

TEST(InterfaceTest, AnOlderMomentDoesNotTurnTheLastChangeBack) {
  Stand stand("on=1");
  const Moment before = stand.clock.now();
  stand.clock.advance(std::chrono::seconds(1));
  stand.add(1);
  const Sample sample;
  const statistics::Run run{stand.interface->find("s"), {&sample, 1}};
  stand.interface->add({&run, 1}, before);
  EXPECT_EQ(stand.last_change(), stand.clock.now());
}

}  // namespace
}  // namespace tallyfs::statistics
