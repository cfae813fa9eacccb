#include "feeders/client/definition_text.h"

#include <gtest/gtest.h>

namespace tallyfs {
namespace {

constexpr RangeOfX kAll{};
constexpr RangeOfX kInverted{1, 0};

std::string text_of(const Result<std::string>& made) {
  if (made) return made.value();
  return made.error().code == ErrorCode::kInvalid ? "(invalid)" : "(another error)";
}

TEST(DefinitionTextTest, AValueSaysItsModeAndRange) {
  EXPECT_EQ(text_of(value_text({-5, 10}, STATISTIC_MODE_INCREMENTS)),
            "type=value mode=increments range_min=-5 range_max=10");
  EXPECT_EQ(text_of(value_text({0, 0}, STATISTIC_MODE_PRODUCTS)),
            "type=value mode=products range_min=0 range_max=0");
}

TEST(DefinitionTextTest, TheRangeOfAllXIsWrittenWithoutLoss) {
  EXPECT_EQ(text_of(range_text(kAll)),
            "type=range range_min=-9223372036854775808 range_max=9223372036854775807");
}

TEST(DefinitionTextTest, AnArraySaysItsIntervalsAndScale) {
  EXPECT_EQ(text_of(array_text({0, 1000}, 10, STATISTIC_SCALE_LIN)),
            "type=array base_interval=10 scale=lin range_min=0 range_max=1000");
  EXPECT_EQ(text_of(array_text(kAll, UINT64_MAX, STATISTIC_SCALE_LOG2)),
            "type=array base_interval=18446744073709551615 scale=log2 "
            "range_min=-9223372036854775808 range_max=9223372036854775807");
}

TEST(DefinitionTextTest, WithDecimalsTheNumbersOfXAreDecimals) {
  EXPECT_EQ(text_of(array_text({-5, 1000, 2}, 10, STATISTIC_SCALE_LIN)),
            "type=array base_interval=0.10 scale=lin range_min=-0.05 range_max=10.00");
  EXPECT_EQ(text_of(range_text({.decimals = 3})),
            "type=range range_min=-9223372036854775808 range_max=9223372036854775807");
}

TEST(DefinitionTextTest, AListSaysItsEntries) {
  EXPECT_EQ(text_of(list_text({1, 2}, 3, 16)), "type=list entries_max=3 range_min=1 range_max=2");
  EXPECT_EQ(text_of(list_text({1, 2}, 3, 10)),
            "type=list base=10 entries_max=3 range_min=1 range_max=2");
}

TEST(DefinitionTextTest, RawSaysItsEntries) {
  EXPECT_EQ(text_of(raw_text({1, 2}, 3)), "type=raw entries_max=3 range_min=1 range_max=2");
}

TEST(DefinitionTextTest, AHistorySaysItsModePeriodAndEntries) {
  EXPECT_EQ(text_of(history_text({1, 2}, 60, 1'000'000, STATISTIC_MODE_RANGE)),
            "type=history mode=range period=1000000 entries_max=60 range_min=1 range_max=2");
  EXPECT_EQ(text_of(history_text({1, 2}, 60, 1, STATISTIC_MODE_PRODUCTS)),
            "type=history mode=products period=1 entries_max=60 range_min=1 range_max=2");
  EXPECT_EQ(text_of(history_text({1, 2}, 60, 1, STATISTIC_MODE_INCREMENTS)),
            "type=history mode=increments period=1 entries_max=60 range_min=1 range_max=2");
}

TEST(DefinitionTextTest, RefusesARangeThatEndsBeforeItsStart) {
  EXPECT_EQ(text_of(value_text(kInverted, STATISTIC_MODE_INCREMENTS)), "(invalid)");
  EXPECT_EQ(text_of(range_text(kInverted)), "(invalid)");
  EXPECT_EQ(text_of(array_text(kInverted, 1, STATISTIC_SCALE_LIN)), "(invalid)");
  EXPECT_EQ(text_of(array_text(kInverted, 1, STATISTIC_SCALE_LOG2)), "(invalid)");
  EXPECT_EQ(text_of(list_text(kInverted, 1, 16)), "(invalid)");
  EXPECT_EQ(text_of(raw_text(kInverted, 1)), "(invalid)");
  EXPECT_EQ(text_of(history_text(kInverted, 1, 1, STATISTIC_MODE_RANGE)), "(invalid)");
}

TEST(DefinitionTextTest, TakesEntriesWithinTheirBoundsOnly) {
  for (const auto entries_max : {1u, 1'048'576u}) {
    EXPECT_TRUE(list_text(kAll, entries_max, 16));
    EXPECT_TRUE(raw_text(kAll, entries_max));
    EXPECT_TRUE(history_text(kAll, entries_max, 1, STATISTIC_MODE_RANGE));
  }
  for (const auto entries_max : {0u, 1'048'577u, UINT32_MAX}) {
    EXPECT_EQ(text_of(list_text(kAll, entries_max, 16)), "(invalid)");
    EXPECT_EQ(text_of(raw_text(kAll, entries_max)), "(invalid)");
    EXPECT_EQ(text_of(history_text(kAll, entries_max, 1, STATISTIC_MODE_RANGE)), "(invalid)");
  }
}

TEST(DefinitionTextTest, TakesPeriodsWithinTheirBoundsOnly) {
  EXPECT_TRUE(history_text(kAll, 1, 3'153'600'000'000'000, STATISTIC_MODE_RANGE));
  EXPECT_FALSE(history_text(kAll, 1, 0, STATISTIC_MODE_RANGE));
  EXPECT_FALSE(history_text(kAll, 1, 3'153'600'000'000'001, STATISTIC_MODE_RANGE));
}

TEST(DefinitionTextTest, RefusesModesThatATypeDoesNotHave) {
  EXPECT_FALSE(value_text(kAll, STATISTIC_MODE_RANGE));
  EXPECT_FALSE(value_text(kAll, static_cast<statistic_mode>(3)));
  EXPECT_FALSE(history_text(kAll, 1, 1, static_cast<statistic_mode>(3)));
}

TEST(DefinitionTextTest, RefusesABaseIntervalOfZero) {
  EXPECT_FALSE(array_text({0, 10}, 0, STATISTIC_SCALE_LIN));
  EXPECT_FALSE(array_text({0, 10}, 0, STATISTIC_SCALE_LOG2));
}

// 65,536 with the first, which ends at range_min, and the last, behind range_max.
TEST(DefinitionTextTest, AnArrayHas65536IntervalsAtMost) {
  EXPECT_TRUE(array_text({0, 65'534}, 1, STATISTIC_SCALE_LIN));
  EXPECT_FALSE(array_text({0, 65'535}, 1, STATISTIC_SCALE_LIN));
  EXPECT_TRUE(array_text({-655'340, 0}, 10, STATISTIC_SCALE_LIN));
  EXPECT_FALSE(array_text({-655'341, 0}, 10, STATISTIC_SCALE_LIN));
  EXPECT_TRUE(array_text({7, 7}, 1, STATISTIC_SCALE_LIN));
  EXPECT_TRUE(array_text(kAll, 281'483'566'907'401, STATISTIC_SCALE_LIN));
  EXPECT_FALSE(array_text(kAll, 281'483'566'907'400, STATISTIC_SCALE_LIN));
  EXPECT_TRUE(array_text(kAll, 1, STATISTIC_SCALE_LOG2));
}

TEST(DefinitionTextTest, PercentilesAreCheckedAsTheDaemonChecksThem) {
  EXPECT_EQ(quantiles_text({0, 9}, 5, "50,99.9").value(),
            "type=quantiles precision=5 quantiles=50,99.9 range_min=0 range_max=9");
  EXPECT_EQ(quantile_history_text({0, 9}, 60, 1000, 8, "1").value(),
            "type=history mode=quantiles period=1000 entries_max=60 range_min=0 range_max=9 "
            "precision=8 quantiles=1");
  EXPECT_EQ(last_text({0, 9}).value(), "type=last range_min=0 range_max=9");
  EXPECT_FALSE(quantiles_text({}, 9, "50"));
  EXPECT_FALSE(quantiles_text({}, 5, "50,50"));
  EXPECT_FALSE(quantiles_text({}, 5, nullptr));
  EXPECT_FALSE(quantile_history_text({}, 0, 1000, 5, "50"));
  EXPECT_FALSE(history_text({}, 60, 1000, STATISTIC_MODE_QUANTILES));
  EXPECT_FALSE(value_text({}, STATISTIC_MODE_QUANTILES));
}

TEST(DefinitionTextTest, ARefusalHasItsReason) {
  const auto reason = [](const Result<std::string>& made) {
    return made ? "accepted: " + made.value() : made.error().reason;
  };
  EXPECT_EQ(reason(range_text(kInverted)), "range_min must not be above range_max");
  EXPECT_EQ(reason(value_text(kAll, STATISTIC_MODE_RANGE)), "mode must be increments or products");
  EXPECT_EQ(reason(list_text(kAll, 0, 16)), "entries_max must be a number from 1 to 1048576");
  EXPECT_EQ(reason(list_text(kAll, 1, 8)), "base must be 10 or 16");
  EXPECT_EQ(reason(array_text(kAll, 0, STATISTIC_SCALE_LIN)), "base_interval must be 1 or more");
  EXPECT_EQ(reason(array_text(kAll, 1, STATISTIC_SCALE_LIN)),
            "more than 65536 intervals: range or base_interval must change");
  EXPECT_EQ(reason(history_text(kAll, 1, 0, STATISTIC_MODE_RANGE)),
            "period must be a number of microseconds from 1 to 3153600000000000");
}

}  // namespace
}  // namespace tallyfs
