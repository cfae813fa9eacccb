#include "tools/display/rows.h"

#include <gtest/gtest.h>

namespace tallyfs::view {
namespace {

class RowsTest : public testing::Test {
 protected:
  void add(const std::string& name, std::uint64_t samples, Values values,
           const std::string& units = {}) {
    interface_.statistics.push_back({.name = name,
                                     .on = true,
                                     .type = "t",
                                     .units = units,
                                     .data_us = 1'000'000,
                                     .samples = samples,
                                     .values = std::move(values)});
  }
  std::vector<StatisticRow> rows() const {
    std::vector<StatisticRow> all;
    for (const Statistic& each : interface_.statistics) all.push_back({&interface_, &each, {}});
    return all;
  }
  std::string names(const RowChoice& choice) const {
    auto chosen = rows();
    choose(chosen, choice);
    std::string text;
    for (const StatisticRow& each : chosen) text.append(each.statistic->name).append(" ");
    return text;
  }

  Interface interface_{.name = "web", .time_us = 3'000'000, .realtime_us = 1'700'000'000'500'000};
};

TEST_F(RowsTest, SortsByANumberAndLeavesOutWhatHasNone) {
  add("few", 2, Range{.number = 2, .min = 1, .avg = 8.0, .max = 9, .sum = 10});
  add("many", 7, Value{.total = 7});
  add("array", 3, Array{.bounds = {10, 20}, .counts = {1, 1, 1}});
  add("none", 0, Value{});
  EXPECT_EQ(names({}), "few many array none ");
  EXPECT_EQ(names({.sort = SortKey::kName}), "array few many none ");
  EXPECT_EQ(names({.sort = SortKey::kSamples}), "many array few none ");
  EXPECT_EQ(names({.sort = SortKey::kRate, .top = 1}), "many ");
  EXPECT_EQ(names({.sort = SortKey::kP50}), "array ");
  EXPECT_EQ(names({.nonzero = true}), "few many array ");
}

TEST_F(RowsTest, WhatIsSlowestComesBeforeWhatIsLargest) {
  add("size", 1, Range{.number = 1, .min = 9000, .avg = 9000.0, .max = 9000, .sum = 9000}, "KiB/n");
  add("number", 1, Range{.number = 1, .min = 5000, .avg = 5000.0, .max = 5000, .sum = 5000});
  add("fast", 1, Range{.number = 1, .min = 7, .avg = 7.0, .max = 7, .sum = 7}, "microseconds/n");
  add("slow", 1, Range{.number = 1, .min = 7, .avg = 7.0, .max = 7, .sum = 7}, "milliseconds/n");
  EXPECT_EQ(names({.sort = SortKey::kMax}), "slow fast size number ");
}

TEST_F(RowsTest, AfterAResetNothingIsCounted) {
  add("reset", 1000, Range{});
  EXPECT_EQ(names({.nonzero = true}), "");
  EXPECT_EQ(rows_text(exported(rows()), Separator::kTab, false),
            "1700000000.5\tweb\treset\tt\t1\t\t1000\t0\t0\t0\t0\t0\t\t\t\t\t\t\t\n");
}

TEST_F(RowsTest, ALineHasBaseUnitsAndLeavesUnknownCellsEmpty) {
  add("ms", 2, Range{.number = 2, .min = -1, .avg = 2.5, .max = 6, .sum = 5},
      "milliseconds/requests");
  EXPECT_EQ(rows_text(exported(rows()), Separator::kTab, false),
            "1700000000.5\tweb\tms\tt\t1\tseconds\t2\t2\t1\t0\t0\t"
            "0.005\t\t-0.001\t0.0025\t0.006\t\t\t\n");
}

TEST_F(RowsTest, ACounterHasTheUnitAndTheRateOfItsCount) {
  add("hits", 9, Value{.total = 4}, "microseconds/requests");
  add("reset", 9, Value{});
  EXPECT_EQ(names({.nonzero = true}), "hits ");
  EXPECT_EQ(names({.sort = SortKey::kRate}), "hits reset ");
  auto all = rows();
  all.resize(1);
  EXPECT_EQ(rows_text(exported(all), Separator::kTab, false),
            "1700000000.5\tweb\thits\tt\t1\trequests\t9\t4\t2\t0\t0\t4\t\t\t\t\t\t\t\n");
}

TEST_F(RowsTest, APercentileBeyondTheScaleIsNotKnownAndTheLargest) {
  add("near", 1, Array{.bounds = {10, 20}, .counts = {0, 1, 0}});
  add("far", 1, Array{.bounds = {1, 2}, .counts = {0, 0, 1}});
  EXPECT_EQ(names({.sort = SortKey::kP99}), "far near ");
  EXPECT_EQ(names({.sort = SortKey::kMax}), "far near ");
  auto all = rows();
  all.erase(all.begin());
  const std::string text = rows_text(exported(all), Separator::kTab, false);
  EXPECT_TRUE(text.ends_with("\t0\t0\t\t\t\t\t\t\t\t\n")) << text;
}

TEST_F(RowsTest, ALineOfAnUnknownIntervalHasNoNumbers) {
  add("a", 2, Value{.total = 2});
  auto all = rows();
  all[0].change = Change{};
  EXPECT_EQ(rows_text(exported(all), Separator::kTab, false),
            "1700000000.5\tweb\ta\tt\t1\t\t\t\t\t\t\t\t\t\t\t\t\t\t\n");
}

TEST_F(RowsTest, CommasAndQuotesAreQuoted) {
  add("n{a:1,b:\"x\"}", 1, Value{.total = 1});
  const std::string text = rows_text(exported(rows()), Separator::kComma, true);
  EXPECT_TRUE(text.starts_with("time,interface,statistic,"));
  EXPECT_NE(text.find("\r\n1700000000.5,web,\"n{a:1,b:\"\"x\"\"}\",t,"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with(",1,,,,,,,\r\n")) << text;
}

TEST_F(RowsTest, NoTextIsAFormulaAndNumbersStayNumbers) {
  interface_.name = "@web";
  add("+SUM(1)", 1, Last{.time_us = 1, .x = -5}, "=1+1/reads");
  EXPECT_EQ(rows_text(exported(rows()), Separator::kTab, false),
            "1700000000.5\t'@web\t'+SUM(1)\tt\t1\t'=1+1\t1\t\t\t0\t0\t\t-5\t\t\t\t\t\t\n");
}

}  // namespace
}  // namespace tallyfs::view
