// The texts of metrics, type by type. A statistic `s` of interface `web`.
//
// Longer than most: the texts of all types are read beside each other.
#include "core/statistics/exposition/metrics.h"

#include <gtest/gtest.h>

#include "core/statistics/interface/interface.h"
#include "tests/unit/fake_clock.h"

namespace tallyfs::statistics {
namespace {

struct MetricsFixture {
  explicit MetricsFixture(std::string_view text) { create("s", text); }

  Statistic* create(std::string_view name, std::string_view text) {
    return interface->create_statistic(name, text, clock.now()).value();
  }
  void add(std::int64_t x, std::uint64_t y = 1, std::string_view name = "s") {
    const Sample sample{.x = x, .y = y, .time = clock.now().monotonic};
    const Run run{interface->find(name), {&sample, 1}};
    interface->add({&run, 1}, clock.now());
  }
  void pass_us(std::int64_t us) { clock.advance(std::chrono::microseconds(us)); }

  // Without what it says of itself, and without comments.
  std::string samples(MetricsFormat format = MetricsFormat::kProm) {
    Metrics metrics(format, options, clock.now());
    std::vector<StatisticCopy> copies;
    CellBudget budget(CellBudget::Of::kAll);
    interface->copy(copies, clock.now(), budget);
    metrics.add("web", copies);
    omitted = metrics.omitted();
    std::string lines;
    const std::string text = metrics.finish({});
    for (std::string_view rest = text; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n') + 1);
      rest.remove_prefix(line.size());
      if (!line.starts_with("#") && !line.starts_with("tally_metrics_")) lines.append(line);
    }
    return lines;
  }
  std::string whole(MetricsFormat format) {
    Metrics metrics(format, options, clock.now());
    std::vector<StatisticCopy> copies;
    CellBudget budget(CellBudget::Of::kAll);
    interface->copy(copies, clock.now(), budget);
    metrics.add("web", copies);
    return metrics.finish({});
  }

  FakeClock clock;
  Ledger ledger{Ledger::Limits{}};
  std::unique_ptr<Interface> interface = Interface::create(ledger, 1000, clock.now()).value();
  MetricsOptions options;
  MetricsOmitted omitted;
};

TEST(MetricsTest, ACounterOfIncrements) {
  MetricsFixture fixture("on=1 units=microseconds/requests");
  fixture.add(17, 3);
  EXPECT_EQ(fixture.samples(), "tally_s_requests_total{interface=\"web\"} 3\n");
  EXPECT_EQ(fixture.whole(MetricsFormat::kProm).substr(0, 120),
            "# HELP tally_s_requests_total Total of a statistic of tallyfs.\n"
            "# TYPE tally_s_requests_total counter\n"
            "tally_s_requests_to");
  EXPECT_TRUE(fixture.whole(MetricsFormat::kOpenMetrics)
                  .starts_with("# HELP tally_s_requests Total of a statistic of tallyfs.\n"
                               "# TYPE tally_s_requests counter\n"
                               "# UNIT tally_s_requests requests\n"
                               "tally_s_requests_total{interface=\"web\"} 3\n"));
  EXPECT_TRUE(fixture.whole(MetricsFormat::kOpenMetrics).ends_with("# EOF\n"));
}

TEST(MetricsTest, XWithDecimalsIsTheDecimalInItsBaseUnit) {
  MetricsFixture last("on=1 type=last decimals=3 units=seconds/jobs");
  last.add(250);
  EXPECT_EQ(last.samples(), "tally_s_last_seconds{interface=\"web\"} 0.250\n");
  MetricsFixture sum("on=1 mode=products decimals=2 units=minutes/jobs");
  sum.add(150, 2);
  EXPECT_EQ(sum.samples(), "tally_s_summed_seconds_total{interface=\"web\"} 180.00\n");
  MetricsFixture list("on=1 type=list entries_max=3 decimals=1 units=euros/sales");
  list.add(995);
  EXPECT_EQ(list.samples(),
            "tally_s_sales_total{interface=\"web\",value=\"99.5\"} 1\n"
            "tally_hits_missed_total{interface=\"web\",statistic=\"s\"} 0\n");
  MetricsFixture array(
      "on=1 type=array scale=lin base_interval=0.5 range_min=0 range_max=0.5 decimals=1");
  array.add(3);
  EXPECT_EQ(array.samples(),
            "tally_s_value_bucket{interface=\"web\",le=\"0.0\"} 0\n"
            "tally_s_value_bucket{interface=\"web\",le=\"0.5\"} 1\n"
            "tally_s_value_bucket{interface=\"web\",le=\"+Inf\"} 1\n"
            "tally_s_value_sum{interface=\"web\"} 0.3\n"
            "tally_s_value_count{interface=\"web\"} 1\n"
            "tally_hits_out_of_range_total{interface=\"web\",statistic=\"s\"} 0\n");
}

TEST(MetricsTest, AnAverageOfDecimalsHasThreePlacesMore) {
  MetricsFixture fixture("on=1 type=history mode=range period=1000000 entries_max=3 decimals=1");
  fixture.add(15);
  fixture.pass_us(1'000'000);
  const std::string samples = fixture.samples();
  EXPECT_NE(samples.find("tally_s_period_min{interface=\"web\"} 1.5\n"), samples.npos) << samples;
  EXPECT_NE(samples.find("tally_s_period_avg{interface=\"web\"} 1.5000\n"), samples.npos);
}

TEST(MetricsTest, PercentilesWithDecimalsHaveTheBucketsOfTheBaseUnit) {
  MetricsFixture micros("on=1 type=quantiles precision=3 quantiles=50 units=microseconds/jobs");
  MetricsFixture seconds(
      "on=1 type=quantiles precision=3 quantiles=50 decimals=6 units=seconds/jobs");
  for (const std::int64_t x : {1, 250, 777'777}) {
    micros.add(x);
    seconds.add(x);
  }
  for (const MetricsFormat format : {MetricsFormat::kProm, MetricsFormat::kProtobuf}) {
    EXPECT_EQ(micros.whole(format), seconds.whole(format));
  }
}

TEST(MetricsTest, TheHelpOfAFamilyIsThatOfItsStatistics) {
  MetricsFixture fixture("on=1 range_min=0 help=a%20%22b%22%5C%0A");
  EXPECT_TRUE(
      fixture.whole(MetricsFormat::kProm).starts_with("# HELP tally_s_total a \"b\"\\\\%0A\n"));
  EXPECT_TRUE(fixture.whole(MetricsFormat::kOpenMetrics)
                  .starts_with("# HELP tally_s a \\\"b\\\"\\\\%0A\n"));
  EXPECT_NE(fixture.whole(MetricsFormat::kProtobuf).find("a \"b\"\\%0A"), std::string::npos);
  EXPECT_NE(fixture.whole(MetricsFormat::kProm)
                .find("# HELP tally_hits_out_of_range_total Total of a statistic of tallyfs.\n"),
            std::string::npos);
}

TEST(MetricsTest, ProductsAreACounterUntilAnXIsBelowZero) {
  MetricsFixture fixture("on=1 mode=products units=microseconds/requests");
  fixture.add(1500, 2);
  EXPECT_EQ(fixture.samples(), "tally_s_summed_seconds_total{interface=\"web\"} 0.003\n");
  fixture.add(-1000);
  EXPECT_EQ(fixture.samples(), "tally_s_net_seconds{interface=\"web\"} 0.002\n");
  ASSERT_TRUE(fixture.interface->define("data=reset", fixture.clock.now()));
  EXPECT_EQ(fixture.samples(), "tally_s_summed_seconds_total{interface=\"web\"} 0\n");
}

TEST(MetricsTest, AListIsACounterForEachX) {
  MetricsFixture fixture("on=1 type=list entries_max=2 units=size/requests");
  fixture.add(-7);
  fixture.add(9, 5);
  fixture.add(10);
  EXPECT_EQ(fixture.samples(),
            "tally_s_requests_total{interface=\"web\",value=\"9\"} 5\n"
            "tally_s_requests_total{interface=\"web\",value=\"-7\"} 1\n"
            "tally_hits_missed_total{interface=\"web\",statistic=\"s\"} 1\n");
}

TEST(MetricsTest, AnArrayIsAHistogramInTheBaseUnit) {
  MetricsFixture fixture(
      "on=1 type=array base_interval=250 scale=lin range_min=0 range_max=500 "
      "units=microseconds/requests");
  for (const std::int64_t x : {-0, 100, 300, 400, 1000}) fixture.add(x);
  const std::string wanted =
      "tally_s_seconds_bucket{interface=\"web\",le=\"0.0\"} 1\n"
      "tally_s_seconds_bucket{interface=\"web\",le=\"0.00025\"} 2\n"
      "tally_s_seconds_bucket{interface=\"web\",le=\"0.0005\"} 4\n"
      "tally_s_seconds_bucket{interface=\"web\",le=\"+Inf\"} 5\n"
      "tally_s_seconds_sum{interface=\"web\"} 0.0018\n"
      "tally_s_seconds_count{interface=\"web\"} 5\n";
  const std::string hits = "tally_hits_out_of_range_total{interface=\"web\",statistic=\"s\"} ";
  EXPECT_EQ(fixture.samples(), wanted + hits + "1\n");
  EXPECT_EQ(fixture.samples(MetricsFormat::kOpenMetrics), wanted + hits + "1\n");
  // With an X below 0, OpenMetrics has the buckets alone.
  fixture.add(-5);
  EXPECT_EQ(fixture.samples(MetricsFormat::kOpenMetrics).find("_sum"), std::string::npos);
  EXPECT_NE(fixture.samples().find("_sum{interface=\"web\"} 0.001795\n"), std::string::npos);
}

TEST(MetricsTest, ARangeIsAHistogramOfOneBucketAndTwoGauges) {
  MetricsFixture fixture("on=1 type=range units=bytes/reads");
  EXPECT_EQ(fixture.samples(),
            "tally_s_bytes_bucket{interface=\"web\",le=\"+Inf\"} 0\n"
            "tally_s_bytes_sum{interface=\"web\"} 0\n"
            "tally_s_bytes_count{interface=\"web\"} 0\n");
  fixture.add(5);
  fixture.add(9, 3);
  EXPECT_EQ(fixture.samples(),
            "tally_s_bytes_bucket{interface=\"web\",le=\"+Inf\"} 4\n"
            "tally_s_bytes_sum{interface=\"web\"} 32\n"
            "tally_s_bytes_count{interface=\"web\"} 4\n"
            "tally_s_min_bytes{interface=\"web\"} 5\n"
            "tally_s_max_bytes{interface=\"web\"} 9\n");
}

TEST(MetricsTest, PercentilesAreAHistogramAtPowersOfTwo) {
  MetricsFixture fixture(
      "on=1 type=quantiles precision=3 quantiles=50 range_min=0 range_max=25 "
      "units=seconds/requests");
  const auto bucket = [](const std::string& le, int count) {
    return std::string("tally_s_seconds_bucket{interface=\"web\",le=\"")
        .append(le)
        .append("\"} ")
        .append(std::to_string(count))
        .append("\n");
  };
  const auto buckets = [&] {
    const std::string text = fixture.samples();
    return text.substr(0, text.find("tally_s_seconds_sum"));
  };
  EXPECT_EQ(buckets(), bucket("0.0", 0) + bucket("1.0", 0) + bucket("2.0", 0) + bucket("4.0", 0) +
                           bucket("8.0", 0) + bucket("16.0", 0) + bucket("32.0", 0) +
                           bucket("+Inf", 0));
  for (const std::int64_t x : {0, 3, 4, 5, 20}) fixture.add(x);
  EXPECT_EQ(buckets(), bucket("0.0", 1) + bucket("1.0", 1) + bucket("2.0", 1) + bucket("4.0", 3) +
                           bucket("8.0", 4) + bucket("16.0", 4) + bucket("32.0", 5) +
                           bucket("+Inf", 5));
}

// The texts of `le`, but `+Inf`.
std::vector<std::string> bounds_of(MetricsFixture& fixture) {
  std::vector<std::string> bounds;
  const std::string text = fixture.samples();
  constexpr std::string_view kLe = "le=\"";
  for (std::size_t at = 0; (at = text.find(kLe, at)) != text.npos;) {
    at += kLe.size();
    bounds.push_back(text.substr(at, text.find('"', at) - at));
  }
  EXPECT_EQ(bounds.back(), "+Inf");
  bounds.pop_back();
  return bounds;
}

TEST(MetricsTest, BoundsOfPercentilesFollowFromTheDefinitionAlone) {
  const std::string head = "on=1 type=quantiles precision=4 quantiles=50 units=microseconds/n ";
  struct Case {
    std::string range;
    std::size_t bounds;
    std::string first;
    std::string last;
  };
  const Case cases[] = {{"", 42, "0.0", "2.097152e+06"},
                        {"range_min=0", 42, "0.0", "2.097152e+06"},
                        {"range_min=0 range_max=1000000", 21, "0.0", "1.0"},
                        {"range_min=0 range_max=1000001", 22, "0.0", "2.0"},
                        {"range_min=1 range_max=1000000", 21, "9.5367431640625e-07", "1.0"},
                        {"range_min=1000000 range_max=1500000", 3, "0.5", "2.0"},
                        {"range_min=-9 range_max=0", 1, "0.0", "0.0"}};
  for (const Case& each : cases) {
    SCOPED_TRACE(each.range);
    MetricsFixture fixture(head + each.range);
    const auto bounds = bounds_of(fixture);
    ASSERT_EQ(bounds.size(), each.bounds);
    EXPECT_EQ(bounds.front(), each.first);
    EXPECT_EQ(bounds.back(), each.last);
    for (const std::int64_t x : {-7, 0, 3, 1000, 1'000'000, 1'400'000}) fixture.add(x);
    EXPECT_EQ(bounds_of(fixture), bounds);
  }
}

TEST(MetricsTest, PercentilesCountWhatLiesBeyondTheirBounds) {
  MetricsFixture fixture("on=1 type=quantiles precision=4 quantiles=50");
  for (const std::int64_t x :
       {std::int64_t{-9}, std::int64_t{0}, std::int64_t{1} << 40, (std::int64_t{1} << 40) + 1}) {
    fixture.add(x);
  }
  const std::string text = fixture.samples();
  EXPECT_NE(text.find("le=\"0.0\"} 2\n"), text.npos);
  EXPECT_NE(text.find("le=\"1.099511627776e+12\"} 3\n"), text.npos);
  EXPECT_NE(text.find("le=\"+Inf\"} 4\n"), text.npos);
}

TEST(MetricsTest, AGaugeIsThereAfterItsFirstSample) {
  MetricsFixture fixture("on=1 type=last units=celsius/readings");
  EXPECT_EQ(fixture.samples(), "");
  fixture.add(-40);
  EXPECT_EQ(fixture.samples(), "tally_s_last_celsius{interface=\"web\"} -40\n");
}

TEST(MetricsTest, HistoriesShowTheNewestCompletePeriod) {
  MetricsFixture fixture(
      "on=1 type=history mode=quantiles precision=8 quantiles=50,99.5 entries_max=9 period=1000 "
      "units=milliseconds/requests");
  EXPECT_EQ(fixture.samples(), "");
  fixture.add(4);
  fixture.add(5);
  fixture.pass_us(1000);
  EXPECT_EQ(fixture.samples(),
            "tally_s_period_samples{interface=\"web\"} 2\n"
            "tally_s_period_min_seconds{interface=\"web\"} 0.004\n"
            "tally_s_period_avg_seconds{interface=\"web\"} 0.0045\n"
            "tally_s_period_max_seconds{interface=\"web\"} 0.005\n"
            "tally_s_period_quantile_seconds{interface=\"web\",q=\"0.5\"} 0.004\n"
            "tally_s_period_quantile_seconds{interface=\"web\",q=\"0.995\"} 0.005\n"
            "tally_history_period_end_seconds{interface=\"web\",statistic=\"s\"} "
            "1700000000.001\n");
  fixture.pass_us(1000);
  EXPECT_EQ(fixture.samples(),
            "tally_s_period_samples{interface=\"web\"} 0\n"
            "tally_history_period_end_seconds{interface=\"web\",statistic=\"s\"} "
            "1700000000.002\n");
}

TEST(MetricsTest, HistoriesOfSumsAndRanges) {
  const std::string head = "on=1 type=history entries_max=9 period=1000 units=bytes/reads mode=";
  const auto first_line = [&](const std::string& mode) {
    MetricsFixture fixture(head + mode);
    fixture.add(4, 2);
    fixture.pass_us(1000);
    const std::string text = fixture.samples();
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(first_line("increments"), "tally_s_reads_per_period{interface=\"web\"} 2");
  EXPECT_EQ(first_line("products"), "tally_s_bytes_per_period{interface=\"web\"} 8");
  EXPECT_EQ(first_line("range"), "tally_s_period_samples{interface=\"web\"} 2");
}

TEST(MetricsTest, RawIsLeftOutAndCounted) {
  MetricsFixture fixture("on=1 type=raw entries_max=9 range_max=5");
  EXPECT_EQ(fixture.samples(), "");
  EXPECT_EQ(fixture.omitted.raw, 1u);
  EXPECT_NE(fixture.whole(MetricsFormat::kProm).find("tally_metrics_omitted{reason=\"raw\"} 1\n"),
            std::string::npos);
}

TEST(MetricsTest, OfTwoThatSayTheSameTheFirstStands) {
  MetricsFixture fixture("on=1");
  fixture.create("a.b", "on=1");
  fixture.create("a_b", "on=1");
  fixture.create("a-b{x:1}", "on=1");  // other labels
  fixture.create("s_min", "on=1 type=last");
  fixture.create("a.b_last", "on=1");
  fixture.add(1, 7, "a.b");
  EXPECT_EQ(fixture.samples(),
            "tally_s_total{interface=\"web\"} 0\n"
            "tally_a_b_total{interface=\"web\"} 7\n"
            "tally_a_b_total{interface=\"web\",x=\"1\"} 0\n"
            "tally_a_b_last_total{interface=\"web\"} 0\n");
  EXPECT_EQ(fixture.omitted.duplicate, 1u);
  EXPECT_EQ(fixture.omitted.first_duplicate, "web/a_b");
  EXPECT_EQ(fixture.omitted.taken_by, "web/a.b");
}

TEST(MetricsTest, NoStatisticTakesTheNamesOfTheTextItself) {
  MetricsFixture fixture("on=1");
  fixture.create("metrics_series", "on=1");
  EXPECT_EQ(fixture.omitted.duplicate, 0u);
  EXPECT_EQ(fixture.samples(), "tally_s_total{interface=\"web\"} 0\n");
  EXPECT_EQ(fixture.omitted.duplicate, 1u);
  EXPECT_EQ(fixture.omitted.taken_by, "");
  EXPECT_NE(fixture.whole(MetricsFormat::kProm).find("\ntally_metrics_series 1\n"),
            std::string::npos);
}

TEST(MetricsTest, OfTwoKindsOfAFamilyTheFirstStands) {
  MetricsFixture fixture("on=1");
  fixture.create("t", "on=1 type=range");
  fixture.create("t_value", "on=1");
  EXPECT_EQ(fixture.samples().find("tally_t_value_total"), std::string::npos);
  EXPECT_EQ(fixture.omitted.duplicate, 1u);
  EXPECT_EQ(fixture.omitted.first_duplicate, "web/t_value");
  EXPECT_EQ(fixture.omitted.taken_by, "web/t");
}

TEST(MetricsTest, BeyondTheLimitWholeStatisticsAreLeftOut) {
  MetricsFixture fixture("on=1");
  fixture.create("h", "on=1 type=array base_interval=1 scale=lin range_min=0 range_max=9");
  fixture.create("t", "on=1");
  fixture.options.series_max = 5;
  EXPECT_EQ(fixture.samples(), "tally_s_total{interface=\"web\"} 0\n");
  EXPECT_EQ(fixture.omitted.limit, 2u);
  EXPECT_EQ(fixture.omitted.first_beyond, "web/h");
  EXPECT_NE(fixture.whole(MetricsFormat::kProm).find("tally_metrics_series 1\n"),
            std::string::npos);
}

TEST(MetricsTest, BeyondTheLimitNothingNeedsToBeCopied) {
  MetricsFixture fixture("on=1");
  fixture.options.series_max = 1;
  Metrics metrics(MetricsFormat::kProm, fixture.options, fixture.clock.now());
  std::vector<StatisticCopy> copies;
  CellBudget budget(CellBudget::Of::kAll);
  fixture.interface->copy(copies, fixture.clock.now(), budget);
  metrics.add("empty", {});
  metrics.add("first", copies);
  EXPECT_FALSE(metrics.is_full());
  metrics.add("second", copies);
  EXPECT_TRUE(metrics.is_full());
  metrics.leave_out(7);
  metrics.add("third", copies);
  EXPECT_EQ(metrics.omitted().limit, 9u);
  EXPECT_EQ(metrics.omitted().first_beyond, "second/s");
  EXPECT_NE(metrics.finish({}).find("tally_metrics_omitted{reason=\"limit\"} 9\n"),
            std::string::npos);
}

TEST(MetricsTest, MoreThan256BoundsAreThinnedOut) {
  MetricsFixture fixture("on=1 type=array base_interval=1 scale=lin range_min=0 range_max=1000");
  const std::string text = fixture.samples();
  std::size_t buckets = 0;
  for (std::size_t at = 0; (at = text.find("_bucket{", at)) != text.npos; ++at) ++buckets;
  EXPECT_LE(buckets, 257u);  // +Inf
  EXPECT_NE(text.find("le=\"0.0\""), text.npos);
  EXPECT_NE(text.find("le=\"1000.0\""), text.npos);
}

TEST(MetricsTest, ValuesOfLabelsAreEscaped) {
  MetricsFixture fixture("on=1");
  fixture.create("a{k:%22%5C%0A}", "on=1");
  EXPECT_NE(fixture.samples().find("tally_a_total{interface=\"web\",k=\"\\\"\\\\\\n\"} 0\n"),
            std::string::npos);
}

TEST(MetricsTest, CreatedIsShownOnRequestAndNewAfterAReset) {
  MetricsFixture fixture("on=1");
  fixture.options.created = ShowCreated::kYes;
  fixture.pass_us(2'000'000);
  EXPECT_EQ(fixture.samples(MetricsFormat::kOpenMetrics),
            "tally_s_total{interface=\"web\"} 0\n"
            "tally_s_created{interface=\"web\"} 1700000000\n");
  ASSERT_TRUE(fixture.interface->define("data=reset", fixture.clock.now()));
  EXPECT_EQ(fixture.samples(MetricsFormat::kOpenMetrics),
            "tally_s_total{interface=\"web\"} 0\n"
            "tally_s_created{interface=\"web\"} 1700000002\n");
  EXPECT_EQ(fixture.samples(), "tally_s_total{interface=\"web\"} 0\n");
}

}  // namespace
}  // namespace tallyfs::statistics
