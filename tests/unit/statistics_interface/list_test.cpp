#include <limits>

#include "tests/unit/statistics_interface/stand.h"

namespace tallyfs::statistics {
namespace {

TEST(ListTest, PrintsNothingWhenEmpty) {
  EXPECT_EQ(Stand("on=1 type=list entries_max=3").data(), "");
}

TEST(ListTest, SortsByTotalThenByX) {
  Stand stand("on=1 type=list entries_max=10");
  stand.add({{.x = 0x1000, .y = 4},
             {.x = 7, .y = 1},
             {.x = -1, .y = 1},
             {.x = 7, .y = 3},
             {.x = 0, .y = 0}});
  EXPECT_EQ(stand.data(), "s 0x7 4\ns 0x1000 4\ns 0xffffffffffffffff 1\ns 0x0 0\n");
}

TEST(ListTest, SamplesOfANewXBeyondEntriesMaxAreMissed) {
  Stand stand("on=1 type=list entries_max=2");
  stand.add({{.x = 1}, {.x = 2}, {.x = 3, .y = 50}, {.x = 4}, {.x = 2}});
  EXPECT_EQ(stand.data(), "s 0x2 2\ns 0x1 1\n");
  EXPECT_EQ(stand.attribute("hits_missed"), "2");
  EXPECT_EQ(stand.define("data=reset"), "");
  EXPECT_EQ(stand.attribute("hits_missed"), "0");
  EXPECT_EQ(stand.data(), "");
}

TEST(ListTest, ShowsXInTheBaseThatIsAskedForAndKeepsTheData) {
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  Stand stand("on=1 type=list entries_max=3 base=10");
  stand.add({{.x = 0, .y = 3}, {.x = 255, .y = 2}, {.x = kLeast}});
  EXPECT_EQ(stand.data(), "s 0 3\ns 255 2\ns -9223372036854775808 1\n");
  EXPECT_EQ(stand.attribute("base"), "10");
  EXPECT_EQ(stand.define("base=16"), "");
  EXPECT_EQ(stand.data(), "s 0x0 3\ns 0xff 2\ns 0x8000000000000000 1\n");
  EXPECT_EQ(stand.definition().find("base="), std::string::npos);
  EXPECT_EQ(stand.define("base=10 entries_max=3"), "");
  EXPECT_EQ(stand.data(), "s 0 3\ns 255 2\ns -9223372036854775808 1\n");
}

TEST(ListTest, TotalsStopAtTheEndOf64Bits) {
  Stand stand("on=1 type=list entries_max=1");
  stand.add(1, std::numeric_limits<std::uint64_t>::max() - 1);
  EXPECT_EQ(stand.add({{.x = 1}, {.x = 1}, {.x = 1}}), 1u);
  EXPECT_EQ(stand.data(), "s 0x1 18446744073709551615\n");
}

}  // namespace
}  // namespace tallyfs::statistics
