#include "exporters/web/kept_orders.h"

#include <gtest/gtest.h>

namespace tallyfs::web {
namespace {

using Rows = std::vector<std::string>;

std::uint64_t arrange(KeptOrders& orders, Rows& rows, std::uint64_t number) {
  return orders.arrange(rows, number, [](const std::string& row) { return std::string_view(row); });
}

TEST(KeptOrdersTest, RowsStandAsTheyStoodAndNewOnesComeLast) {
  KeptOrders orders(7);
  Rows rows{"b", "a", "c"};
  const std::uint64_t number = arrange(orders, rows, 0);
  Rows later{"c", "new", "b", "a"};
  EXPECT_EQ(arrange(orders, later, number), number);
  EXPECT_EQ(later, (Rows{"b", "a", "c", "new"}));
}

TEST(KeptOrdersTest, TheSameOrderHasOneNumberAndAnotherOneAnother) {
  KeptOrders orders(7);
  Rows rows{"b", "a"};
  EXPECT_EQ(arrange(orders, rows, 0), arrange(orders, rows, 0));
  Rows other{"a", "b"};
  EXPECT_NE(arrange(orders, rows, 0), arrange(orders, other, 0));
}

TEST(KeptOrdersTest, AnOrderThatIsNotKnownAnyMoreChangesNothing) {
  KeptOrders orders(7);
  Rows rows{"b", "a"};
  const std::uint64_t number = arrange(orders, rows, 0);
  for (std::size_t i = 0; i < KeptOrders::kMost; ++i) {
    Rows other{std::to_string(i)};
    arrange(orders, other, 0);
  }
  Rows later{"a", "b"};
  EXPECT_NE(arrange(orders, later, number), number);
  EXPECT_EQ(later, (Rows{"a", "b"}));
}

TEST(KeptOrdersTest, AnOrderThatIsUsedIsKeptWhileOthersCome) {
  KeptOrders orders(7);
  Rows rows{"b", "a"};
  const std::uint64_t number = arrange(orders, rows, 0);
  for (std::size_t i = 0; i < KeptOrders::kMost; ++i) {
    Rows other{std::to_string(i)};
    arrange(orders, other, 0);
    Rows later{"a", "b"};
    EXPECT_EQ(arrange(orders, later, number), number);
    EXPECT_EQ(later, (Rows{"b", "a"}));
  }
}

}  // namespace
}  // namespace tallyfs::web
