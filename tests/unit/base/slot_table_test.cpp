#include "core/base/slot_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tallyfs {
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

TEST(SlotTableTest, ASlotIsUsedNoMoreWhenItsNumbersWouldComeAgain) {
  SlotTable<std::unique_ptr<int>> table(0xFFFFFFFD);
  std::vector<std::uint64_t> given;
  for (int i = 0; i < 5; ++i) {
    given.push_back(table.add(std::make_unique<int>(i)));
    EXPECT_EQ(*table.remove(given.back()), i);
    EXPECT_EQ(table.size(), 0u);
  }
  EXPECT_EQ(given,
            (std::vector<std::uint64_t>{0xFFFFFFFE00000000, 0xFFFFFFFF00000000, 0xFFFFFFFE00000001,
                                        0xFFFFFFFF00000001, 0xFFFFFFFE00000002}));
  table.add(std::make_unique<int>(5));
  for (const std::uint64_t number : given) EXPECT_EQ(table.find(number), nullptr);
}

TEST(SlotTableTest, NumbersNeverGivenOutNameNothing) {
  SlotTable<std::unique_ptr<int>> table;
  for (const std::uint64_t number : {0ull, 1ull, 1ull << 32, ~0ull}) {
    EXPECT_EQ(table.find(number), nullptr);
    EXPECT_EQ(table.remove(number), nullptr);
  }
}

TEST(SlotTableTest, ATableGoesOnInAnotherProcess) {
  SlotTable<std::shared_ptr<int>> table;
  const auto kept = table.add(std::make_shared<int>(1));
  const auto lost = table.add(std::make_shared<int>(2));
  const auto removed = table.add(std::make_shared<int>(3));
  table.remove(removed);
  std::string bytes;
  ByteWriter out(bytes);
  table.save(out);
  SlotTable<std::shared_ptr<int>> next;
  ASSERT_TRUE(next.can_put(kept));
  next.put(kept, std::make_shared<int>(4));
  EXPECT_FALSE(next.can_put(kept));
  ByteReader in(bytes);
  std::vector<std::uint64_t> told;
  EXPECT_TRUE(next.settle(in, [&](std::uint64_t number) { told.push_back(number); }));
  EXPECT_EQ(told, std::vector<std::uint64_t>{lost});
  EXPECT_EQ(next.size(), 1u);
  EXPECT_EQ(**next.find(kept), 4);
  EXPECT_EQ(next.find(lost), nullptr);
  const auto again = next.add(std::make_shared<int>(5));
  EXPECT_EQ(again, lost + (1ull << 32)) << "of the same slot";
  EXPECT_EQ(next.add(std::make_shared<int>(6)), removed + (1ull << 32));
  EXPECT_EQ(static_cast<std::uint32_t>(next.add(std::make_shared<int>(7))), 3u) << "a new slot";
}

// As save() writes them: the generation of each slot, and which are free.
std::string saved(const std::vector<std::uint32_t>& generations,
                  const std::vector<std::uint32_t>& free) {
  std::string bytes;
  ByteWriter out(bytes);
  for (const auto* each : {&generations, &free}) {
    out.put(static_cast<std::uint32_t>(each->size()));
    for (const std::uint32_t number : *each) out.put(number);
  }
  return bytes;
}
bool settle(SlotTable<std::shared_ptr<int>>& table, const std::string& bytes) {
  ByteReader in(bytes);
  return table.settle(in, [](std::uint64_t) {});
}

TEST(SlotTableTest, ATableThatGoesOnIsSettledOnce) {
  SlotTable<std::shared_ptr<int>> table;
  EXPECT_TRUE(settle(table, saved({2, 2}, {0, 1})));
  EXPECT_FALSE(settle(table, saved({2, 2}, {0, 1})));
  EXPECT_FALSE(table.can_put(2ull << 32)) << "the slot is free";
  EXPECT_NE(table.add(std::make_shared<int>(1)), table.add(std::make_shared<int>(2)));
  EXPECT_EQ(table.add(std::make_shared<int>(3)), (1ull << 32) + 2);
}

TEST(SlotTableTest, ASlotIsFreeOnce) {
  SlotTable<std::shared_ptr<int>> table;
  table.put(1ull << 32, std::make_shared<int>(1));
  table.remove(1ull << 32);
  EXPECT_FALSE(settle(table, saved({1}, {0})));
  EXPECT_NE(table.add(std::make_shared<int>(2)), table.add(std::make_shared<int>(3)));
}

TEST(SlotTableTest, ASlotWithoutFurtherNumbersIsNotFree) {
  SlotTable<std::shared_ptr<int>> table;
  EXPECT_FALSE(settle(table, saved({0}, {0})));
  EXPECT_EQ(table.add(std::make_shared<int>(1)), (1ull << 32) + 1);
}

}  // namespace
}  // namespace tallyfs
