#include "core/base/slot_table.h"

#include <gtest/gtest.h>

#include <optional>
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
  EXPECT_TRUE(next.finish_restore(in, [&](std::uint64_t number) { told.push_back(number); }));
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
bool finish_restore(SlotTable<std::shared_ptr<int>>& table, const std::string& bytes) {
  ByteReader in(bytes);
  return table.finish_restore(in, [](std::uint64_t) {});
}

bool none_rests(std::uint32_t) { return false; }

// After a kill: the element of slot 0 is as it was saved. Since then slot 1 was made free, slot 2
// was removed and given again, and slot 3 was given and removed; slot 4 is new.
TEST(SlotTableTest, NoNumberIsGivenTwiceThatMayHaveBeenGivenBeforeAKill) {
  constexpr auto kUnknown = SlotTable<std::shared_ptr<int>>::kUsesUnknown;
  SlotTable<std::shared_ptr<int>> table;
  table.put(1ull << 32, std::make_shared<int>(1));
  const std::string bytes = saved({1, 1, 1, 1}, {3});
  ByteReader in(bytes);
  const std::vector<std::optional<std::uint32_t>> uses{1, 0, 2, 0, 1, std::nullopt};
  std::vector<std::uint64_t> void_numbers;
  table.finish_late_restore(
      in, 6, [&](std::uint32_t slot) { return slot < uses.size() ? uses[slot] : std::nullopt; },
      none_rests, [&](std::uint64_t number) { void_numbers.push_back(number); });
  EXPECT_EQ(void_numbers, (std::vector<std::uint64_t>{(2ull << 32) + 2, (1ull << 32) + 4}));
  EXPECT_EQ(**table.find(1ull << 32), 1);
  table.remove(1ull << 32);
  for (int i = 0; i < 6; ++i) {
    const std::uint64_t number = table.add(std::make_shared<int>(i));
    EXPECT_GT(number >> 32, kUnknown) << "slot " << (number & 0xffff'ffff);
  }
}

// A feeder that looks a second later still finds that its number was lost, and not given again.
TEST(SlotTableTest, ASlotOfALostNumberRestsUntilTheTableIsSettledAgain) {
  SlotTable<std::shared_ptr<int>> table;
  ByteReader none("");
  const auto is_given = [](std::uint32_t) { return std::optional<std::uint32_t>(1); };
  std::size_t lost = 0;
  const auto count = [&](std::uint64_t) { ++lost; };
  table.finish_late_restore(none, 1, is_given, none_rests, count);
  EXPECT_EQ(lost, 1u);
  EXPECT_EQ(table.size(), 0u);
  const std::uint64_t other = table.add(std::make_shared<int>(1));
  EXPECT_EQ(other & 0xffff'ffff, 1u);
  std::string bytes;
  ByteWriter out(bytes);
  table.save(out);
  SlotTable<std::shared_ptr<int>> next;
  next.put(other, std::make_shared<int>(1));
  EXPECT_TRUE(finish_restore(next, bytes));
  EXPECT_EQ(next.add(std::make_shared<int>(2)) & 0xffff'ffff, 0u);
}

// What is saved may be cut, or of another moment.
TEST(SlotTableTest, ATableThatIsNotWholeIsTakenAsFarAsItGoes) {
  SlotTable<std::shared_ptr<int>> table;
  table.put((3ull << 32) + 1, std::make_shared<int>(1));
  ByteReader in("");
  table.finish_late_restore(
      in, 0, [](std::uint32_t) { return std::optional<std::uint32_t>(); }, none_rests,
      [](std::uint64_t) {});
  EXPECT_EQ(table.size(), 1u);
  EXPECT_NE(table.add(std::make_shared<int>(2)), table.add(std::make_shared<int>(3)));
  EXPECT_NE(table.find((3ull << 32) + 1), nullptr);
}

TEST(SlotTableTest, ATableThatGoesOnIsSettledOnce) {
  SlotTable<std::shared_ptr<int>> table;
  EXPECT_TRUE(finish_restore(table, saved({2, 2}, {0, 1})));
  EXPECT_FALSE(finish_restore(table, saved({2, 2}, {0, 1})));
  EXPECT_FALSE(table.can_put(2ull << 32)) << "the slot is free";
  EXPECT_NE(table.add(std::make_shared<int>(1)), table.add(std::make_shared<int>(2)));
  EXPECT_EQ(table.add(std::make_shared<int>(3)), (1ull << 32) + 2);
}

TEST(SlotTableTest, ASlotIsFreeOnce) {
  SlotTable<std::shared_ptr<int>> table;
  table.put(1ull << 32, std::make_shared<int>(1));
  table.remove(1ull << 32);
  EXPECT_FALSE(finish_restore(table, saved({1}, {0})));
  EXPECT_NE(table.add(std::make_shared<int>(2)), table.add(std::make_shared<int>(3)));
}

TEST(SlotTableTest, ASlotWithoutFurtherNumbersIsNotFree) {
  SlotTable<std::shared_ptr<int>> table;
  EXPECT_FALSE(finish_restore(table, saved({0}, {0})));
  EXPECT_EQ(table.add(std::make_shared<int>(1)), (1ull << 32) + 1);
}

}  // namespace
}  // namespace tallyfs
