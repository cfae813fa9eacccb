#include "core/statistics/interface/statistic_row.h"

#include "tests/unit/statistics_interface/fixture.h"

namespace tallyfs::statistics {
namespace {

std::string names_in(const StatisticRow& row) {
  std::string names;
  for (const Statistic& statistic : row) names += statistic.name() + " ";
  return names;
}

TEST(StatisticRowTest, KeepsTheOrderOfThoseThatAreLeft) {
  Random random;
  TRACE_SEED(random);
  StatisticRow row;
  std::vector<Statistic*> slow;
  for (std::size_t i = 0; i < 2000; ++i) {
    if (!slow.empty() && random.below(5) < 2) {
      const auto at = slow.begin() + static_cast<std::ptrdiff_t>(random.below(slow.size()));
      row.erase(**at);
      slow.erase(at);
    } else {
      slow.push_back(
          &row.append(std::make_unique<Statistic>(numbered(i), Definition{}, Timestamp{})));
    }
    ASSERT_EQ(row.size(), slow.size());
  }
  std::string wanted;
  for (const Statistic* statistic : slow) wanted += statistic->name() + " ";
  EXPECT_EQ(names_in(row), wanted);
}

TEST(StatisticRowTest, IsEmptyWhenTheLastIsGone) {
  StatisticRow row;
  for (int round = 0; round < 3; ++round) {
    Statistic& only = row.append(std::make_unique<Statistic>("s", Definition{}, Timestamp{}));
    EXPECT_EQ(names_in(row), "s ");
    row.erase(only);
    EXPECT_EQ(names_in(row), "");
    EXPECT_EQ(row.size(), 0u);
  }
}

}  // namespace
}  // namespace tallyfs::statistics
