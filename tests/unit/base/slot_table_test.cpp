#include "core/base/slot_table.h"

#include <gtest/gtest.h>

#include <string>

namespace tally {
namespace {

TEST(SlotTableTest, ANumberNamesItsEntryUntilThatIsRemovedAndNeverAnother) {
  SlotTable<std::unique_ptr<std::string>> table;
  EXPECT_EQ(table.next_number(), 1ull << 32);
  const auto a = table.add(std::make_unique<std::string>("a"));
  const auto b = table.add(std::make_unique<std::string>("b"));
  EXPECT_EQ(**table.find(a), "a");
  EXPECT_EQ(*table.remove(a), "a");
  EXPECT_EQ(table.remove(a), nullptr);
  EXPECT_EQ(table.find(a), nullptr);
  const auto foretold = table.next_number();
  const auto c = table.add(std::make_unique<std::string>("c"));
  EXPECT_EQ(c, foretold);
  EXPECT_NE(c, a);
  EXPECT_EQ(table.find(a), nullptr);
  EXPECT_EQ(**table.find(b), "b");
  EXPECT_EQ(table.size(), 2u);
}

TEST(SlotTableTest, NumbersNeverGivenOutNameNothing) {
  SlotTable<std::unique_ptr<int>> table;
  for (const std::uint64_t number : {0ull, 1ull, 1ull << 32, ~0ull}) {
    EXPECT_EQ(table.find(number), nullptr);
    EXPECT_EQ(table.remove(number), nullptr);
  }
}

}  // namespace
}  // namespace tally
