#include <limits>

#include "tests/unit/statistics_interface/fixture.h"

namespace tallyfs::statistics {
namespace {

TEST(ListTest, PrintsNothingWhenEmpty) {
  EXPECT_EQ(Fixture("on=1 type=list entries_max=3").data(), "");
}

TEST(ListTest, SortsByTotalThenByX) {
  Fixture fixture("on=1 type=list entries_max=10");
  fixture.add({{.x = 0x1000, .y = 4},
               {.x = 7, .y = 1},
               {.x = -1, .y = 1},
               {.x = 7, .y = 3},
               {.x = 0, .y = 0}});
  EXPECT_EQ(fixture.data(), "s 0x7 4\ns 0x1000 4\ns 0xffffffffffffffff 1\ns 0x0 0\n");
}

TEST(ListTest, SamplesOfANewXBeyondEntriesMaxAreMissed) {
  Fixture fixture("on=1 type=list entries_max=2");
  fixture.add({{.x = 1}, {.x = 2}, {.x = 3, .y = 50}, {.x = 4}, {.x = 2}});
  EXPECT_EQ(fixture.data(), "s 0x2 2\ns 0x1 1\n");
  EXPECT_EQ(fixture.attribute("hits_missed"), "2");
  EXPECT_EQ(fixture.define("data=reset"), "");
  EXPECT_EQ(fixture.attribute("hits_missed"), "0");
  EXPECT_EQ(fixture.data(), "");
}

TEST(ListTest, ShowsXInTheBaseThatIsAskedForAndKeepsTheData) {
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  Fixture fixture("on=1 type=list entries_max=3 base=10");
  fixture.add({{.x = 0, .y = 3}, {.x = 255, .y = 2}, {.x = kLeast}});
  EXPECT_EQ(fixture.data(), "s 0 3\ns 255 2\ns -9223372036854775808 1\n");
  EXPECT_EQ(fixture.attribute("base"), "10");
  EXPECT_EQ(fixture.define("base=16"), "");
  EXPECT_EQ(fixture.data(), "s 0x0 3\ns 0xff 2\ns 0x8000000000000000 1\n");
  EXPECT_EQ(fixture.definition().find("base="), std::string::npos);
  EXPECT_EQ(fixture.define("base=10 entries_max=3"), "");
  EXPECT_EQ(fixture.data(), "s 0 3\ns 255 2\ns -9223372036854775808 1\n");
}

TEST(ListTest, TotalsStopAtTheEndOf64Bits) {
  Fixture fixture("on=1 type=list entries_max=1");
  fixture.add(1, std::numeric_limits<std::uint64_t>::max() - 1);
  EXPECT_EQ(fixture.add({{.x = 1}, {.x = 1}, {.x = 1}}), 1u);
  EXPECT_EQ(fixture.data(), "s 0x1 18446744073709551615\n");
}

}  // namespace
}  // namespace tallyfs::statistics
