#include "tools/display/plot.h"

#include <gtest/gtest.h>

#include "tools/display/show.h"
#include "tools/display/summary.h"

namespace tallyfs::view {
namespace {

Look plain_look() {
  Look look;
  look.charset = Charset::kAscii;
  look.width = 80;
  look.clock = [](std::uint64_t realtime_us) {
    const std::uint64_t seconds = realtime_us / 1'000'000;
    return std::to_string(seconds / 60).append(":").append(std::to_string(seconds % 60 + 100));
  };
  return look;
}

Interface second_by_second() {
  return {.name = "web", .epoch = {}, .time_us = 0, .realtime_us = 0, .statistics = {}};
}

// A history of as many seconds as there are numbers; 0 is a second without samples.
Statistic percentiles_by_second(const std::vector<std::int64_t>& p99,
                                const std::vector<std::string>& labels = {"50", "99"}) {
  Statistic made{.name = "p", .on = true, .type = "history", .units = "microseconds/requests"};
  History history;
  for (const std::string& label : labels) history.quantiles.push_back({label, {}});
  for (std::size_t i = 0; i < p99.size(); ++i) {
    const bool has_samples = p99[i] > 0;
    const auto some = [&](std::int64_t x) {
      return has_samples ? std::optional(x) : std::optional<std::int64_t>();
    };
    history.end_us.push_back((i + 1) * 1'000'000);
    history.number.push_back(has_samples ? 10 : 0);
    history.min.push_back(some(1));
    history.avg.push_back(has_samples ? std::optional(40.0) : std::nullopt);
    history.max.push_back(some(p99[i] * 100));
    for (QuantileColumn& each : history.quantiles) {
      each.values.push_back(some(each.q == "50" ? 20 : p99[i]));
    }
  }
  made.values = history;
  return made;
}

Statistic ranges_by_second(const std::vector<std::int64_t>& max) {
  Statistic made = percentiles_by_second(max, {});
  auto& history = std::get<History>(made.values);
  for (std::size_t i = 0; i < max.size(); ++i) history.max[i] = max[i];
  return made;
}

std::string drawn(const Statistic& statistic) {
  const Look look = plain_look();
  Grid grid(look.width, look.charset);
  draw_series(grid, series_of(second_by_second(), statistic).value(), 8, look);
  return grid.text();
}

TEST(PlotTest, AHistoryOfPercentilesDrawsThem) {
  const auto series =
      series_of(second_by_second(), percentiles_by_second({90, 0, 95}, {"50", "90", "99"}));
  EXPECT_EQ(series->points[0].value, 90);
  EXPECT_EQ(series->points[0].min, 20);
  EXPECT_EQ(series->points[0].max, 90);
  EXPECT_FALSE(series->points[1].value);
  EXPECT_EQ(legend_of(*series), "line: p99, shade: p50 to p99");
}

TEST(PlotTest, AFewOutliersAreBeyondTheTopWhereALegendSaysSo) {
  std::vector<std::int64_t> p99(20, 90);
  p99[3] = 4'000;
  auto series = series_of(second_by_second(), percentiles_by_second(p99)).value();
  EXPECT_EQ(drawn_top_of(series), 90);
  series.line.clear();
  EXPECT_EQ(drawn_top_of(series), 4'000);
}

TEST(PlotTest, OnePercentileAloneIsALine) {
  const auto series = series_of(second_by_second(), percentiles_by_second({90}, {"99.9"}));
  EXPECT_FALSE(series->points[0].max);
  EXPECT_EQ(legend_of(*series), "line: p99.9");
}

TEST(PlotTest, AHistoryOfRangesSaysWhatLineAndShadeAre) {
  EXPECT_EQ(drawn(ranges_by_second({90, 95})).find("line: avg, shade: min to max\n"), 0u);
}

TEST(PlotTest, OneOutlierDoesNotFlattenAllElse) {
  std::vector<std::int64_t> max(20, 90);
  max[7] = 90'000;
  const std::string text = drawn(ranges_by_second(max));
  EXPECT_NE(text.find("; 1 period beyond the top, up to 90.0ms\n"), std::string::npos) << text;
  EXPECT_NE(text.find("100us"), std::string::npos) << text;
  EXPECT_NE(drawn(percentiles_by_second(max)).find("; 1 period beyond"), std::string::npos);
}

TEST(PlotTest, ALevelThatLastsIsNotAnOutlier) {
  std::vector<std::int64_t> p99(20, 90);
  p99[18] = p99[19] = 90'000;
  const std::string text = drawn(percentiles_by_second(p99));
  EXPECT_EQ(text.find("beyond"), std::string::npos) << text;
  EXPECT_NE(text.find("100ms"), std::string::npos) << text;
}

TEST(PlotTest, TheTimeAxisHasRoundTimesInside) {
  const std::string text = drawn(percentiles_by_second(std::vector<std::int64_t>(120, 90)));
  const std::string times = text.substr(text.rfind('\n', text.size() - 2) + 1);
  EXPECT_NE(times.find("0:101 "), std::string::npos) << times;
  for (const char* each : {" 0:130 ", " 1:100 ", " 1:115 ", " 1:130 "}) {
    EXPECT_NE(times.find(each), std::string::npos) << times;
  }
  EXPECT_EQ(times.substr(times.size() - 6), "2:100\n");
}

TEST(PlotTest, ARowSaysTheNewestPeriodThatHasSamples) {
  const Look look = plain_look();
  EXPECT_EQ(values_text(percentiles_by_second({90, 95}), look), "2 periods, last p99 95us");
  EXPECT_EQ(values_text(percentiles_by_second({95, 0}), look), "2 periods, p99 95us 1 period ago");
  EXPECT_EQ(values_text(percentiles_by_second({95, 0, 0}, {}), look),
            "3 periods, avg 40us 2 periods ago");
  EXPECT_EQ(values_text(percentiles_by_second({0, 0}), look), "2 periods, all empty");
}

TEST(ShowTest, ThousandthsAreShownAsTheNumbersTheyAre) {
  Statistic gauge{.name = "g", .on = true, .type = "last", .units = "thousandths/updates"};
  gauge.values = Last{.time_us = 1, .x = 2500};
  EXPECT_EQ(values_text(gauge, plain_look()), "2.5");
  EXPECT_EQ(heading_of("web", gauge, 0), "web/g  last  updates  on  for 0us");
  Grid grid(80, Charset::kAscii);
  gauge.values = List{.x = {-250, 12345}, .totals = {1, 2}};
  draw_statistic(grid, second_by_second(), gauge, plain_look());
  EXPECT_NE(grid.text().find(" -0.25 "), std::string::npos) << grid.text();
  EXPECT_NE(grid.text().find(" 12.345 "), std::string::npos) << grid.text();
  EXPECT_EQ(grid.text().find("thousandths"), std::string::npos) << grid.text();
}

}  // namespace
}  // namespace tallyfs::view
