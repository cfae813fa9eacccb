// Regions of the page of switches, and the numbers that count from them.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

#include "core/branch/number_table.h"
#include "core/branch/switch_region.h"

namespace tallyfs {
namespace {

TEST(SwitchLayoutTest, HandsOutThePageRegionByRegion) {
  std::array<Switch, 8> page{};
  SwitchLayout layout(page);
  const SwitchRegion first = layout.take(3);
  const SwitchRegion second = layout.take(5);
  EXPECT_EQ(first.first, 0u);
  EXPECT_EQ(first.switches.size(), 3u);
  EXPECT_EQ(second.first, 3u);
  EXPECT_EQ(second.switches.data(), &page[3]);
  EXPECT_EQ(second.switches.size(), 5u);
}

TEST(SwitchLayoutTest, RegionsWithoutAPageStillHaveTheirNumbers) {
  SwitchLayout layout({});
  EXPECT_EQ(layout.take(3).first, 0u);
  const SwitchRegion second = layout.take(5);
  EXPECT_EQ(second.first, 3u);
  EXPECT_TRUE(second.switches.empty());
}

class NumberTableTest : public testing::Test {
 protected:
  using Table = NumberTable<std::unique_ptr<int>>;
  static constexpr std::uint32_t kFirst = 100;
  std::uint64_t add(int value) { return table_.add(std::make_unique<int>(value)); }

  std::string save() const {
    std::string bytes;
    ByteWriter out(bytes);
    table_.save(out);
    return bytes;
  }

  std::array<Switch, 2> switches_{};
  Table table_{{.switches = switches_, .first = kFirst}};
};

TEST_F(NumberTableTest, CountsFromItsRegionAndNeverReusesANumber) {
  EXPECT_EQ(table_.next_number(), std::uint64_t{1} << 32 | kFirst);
  const std::uint64_t number = add(5);
  EXPECT_EQ(number, std::uint64_t{1} << 32 | kFirst);
  EXPECT_EQ(**table_.find(number), 5);
  EXPECT_EQ(table_.slot(number), 0u);
  EXPECT_EQ(table_.use(number), 1u);
  EXPECT_EQ(*table_.remove(number), 5);
  EXPECT_EQ(table_.find(number), nullptr);
  EXPECT_EQ(table_.remove(number), nullptr);
  const std::uint64_t next = add(6);
  EXPECT_EQ(next, std::uint64_t{2} << 32 | kFirst);
  EXPECT_EQ(table_.find(number), nullptr) << "a stale number finds no other entry";
  EXPECT_EQ(table_.size(), 1u);
}

TEST_F(NumberTableTest, FindsNothingUnderNumbersOfOtherRegions) {
  add(5);
  EXPECT_EQ(table_.find(std::uint64_t{1} << 32 | (kFirst - 1)), nullptr);
  EXPECT_EQ(table_.find(std::uint64_t{1} << 32 | (kFirst + 1)), nullptr);
  EXPECT_EQ(table_.find(0), nullptr);
  EXPECT_EQ(table_.remove(std::uint64_t{1} << 32), nullptr);
}

TEST_F(NumberTableTest, ASwitchThatIsTakenBackSaysOnForTheNextUse) {
  const std::uint64_t number = table_.next_number();
  Switch* const its = table_.give_switch(number);
  ASSERT_EQ(its, &switches_[0]);
  EXPECT_EQ(its->on, 0u);
  EXPECT_EQ(its->generation, 1u);
  ASSERT_EQ(add(5), number);
  table_.remove(number);
  EXPECT_EQ(its->on, 1u);
  EXPECT_EQ(its->generation, 0u) << "a feeder that still sends is told that its number is gone";
  EXPECT_FALSE(table_.had_switch(table_.next_number()));
}

TEST_F(NumberTableTest, EntriesBeyondTheRegionHaveNoSwitch) {
  add(1);
  add(2);
  const std::uint64_t third = table_.next_number();
  EXPECT_EQ(table_.give_switch(third), nullptr);
  EXPECT_EQ(add(3), third);
  EXPECT_EQ(**table_.find(third), 3);
  EXPECT_EQ(*table_.remove(third), 3);
}

// Its feeder may look an hour later, and makes it again only if the number was lost.
TEST_F(NumberTableTest, ALostNumberStaysLostInTheServersAfterThatOfTheKill) {
  const std::string saved = save();
  table_.give_switch(table_.next_number());
  ByteReader late(saved);
  table_.finish_late_restore(late);
  ASSERT_EQ(switches_[0].generation, kLostGeneration);
  const std::string after_kill = save();
  {
    Table next({.switches = switches_, .first = kFirst});
    ByteReader in(after_kill);
    next.finish_late_restore(in);
    EXPECT_EQ(switches_[0].generation, kLostGeneration) << "behind another kill";
    EXPECT_EQ(next.slot(next.next_number()), 1u) << "it is not used again";
  }
  Table next({.switches = switches_, .first = kFirst});
  ByteReader in(after_kill);
  EXPECT_TRUE(next.finish_restore(in));
  EXPECT_EQ(switches_[0].generation, kLostGeneration) << "behind a reload";
  EXPECT_EQ(switches_[0].on, 1u);
}

}  // namespace
}  // namespace tallyfs
