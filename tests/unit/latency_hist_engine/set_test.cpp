// What the files of a directory say, byte for byte.
#include "core/latency_hist/engine/set.h"

#include <gtest/gtest.h>

namespace tallyfs::latency_hist {
namespace {

using namespace std::chrono_literals;

std::string header_of(const std::string& text) {
  return text.substr(0, text.find("\n     0\t") + 1);
}

std::string rows_with_samples(const std::string& text) {
  std::string out;
  for (std::size_t at = header_of(text).size(); at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    if (!line.ends_with(" 0")) out += line + "\n";
    at = end + 1;
  }
  return out;
}

Timestamp at(std::chrono::nanoseconds time) { return {.monotonic = time}; }

Record record(std::chrono::nanoseconds latency, unsigned cpu = 0, pid_t pid = 1) {
  return {
      .cpu = cpu, .latency = latency, .victim = {.pid = pid, .priority = 19, .name = {'r', 't'}}};
}

TEST(LatencyHistogramTest, IsWrittenAsTheManualShowsIt) {
  Histogram histogram;
  for (const auto latency : {3'999ns, 3'000ns, 4'000ns, 10'239'999ns}) histogram.add(latency);
  std::string text;
  histogram.append_to(text, "");
  EXPECT_EQ(header_of(text),
            "#Minimum latency: 3 microseconds\n"
            "#Average latency: 2562 microseconds\n"
            "#Maximum latency: 10239 microseconds\n"
            "#Total samples: 4\n"
            "#There are 0 samples lower than 0 microseconds.\n"
            "#There are 0 samples greater or equal than 10240 microseconds.\n"
            "#usecs\t         samples\n");
  EXPECT_EQ(rows_with_samples(text),
            "     3\t               2\n"
            "     4\t               1\n"
            " 10239\t               1\n");
  EXPECT_EQ(std::ranges::count(text, '\n'), 7 + 10'240);
}

TEST(LatencyHistogramTest, SaysUndefWhenItIsEmpty) {
  std::string text;
  Histogram().append_to(text, "");
  EXPECT_EQ(header_of(text),
            "#Minimum latency: <undef>\n"
            "#Average latency: <undef>\n"
            "#Maximum latency: <undef>\n"
            "#Total samples: 0\n"
            "#There are 0 samples lower than 0 microseconds.\n"
            "#There are 0 samples greater or equal than 10240 microseconds.\n"
            "#usecs\t         samples\n");
  EXPECT_EQ(std::ranges::count(text, '\n'), 7 + 10'240);
}

TEST(LatencyHistogramTest, CountsSamplesOutsideTheRowsInEverythingElse) {
  Histogram histogram;
  for (const auto latency : {-1'000ns, -999ns, 10'240'000ns}) histogram.add(latency);
  std::string text;
  histogram.append_to(text, "");
  EXPECT_EQ(header_of(text),
            "#Minimum latency: -1 microseconds\n"
            "#Average latency: 3413 microseconds\n"
            "#Maximum latency: 10240 microseconds\n"
            "#Total samples: 3\n"
            "#There are 1 samples lower than 0 microseconds.\n"
            "#There are 1 samples greater or equal than 10240 microseconds.\n"
            "#usecs\t         samples\n");
  EXPECT_EQ(rows_with_samples(text), "     0\t               1\n");
}

TEST(LatencyHistogramTest, FindsPercentilesByNearestRank) {
  Histogram histogram;
  for (int us = 1; us <= 1000; ++us) histogram.add(std::chrono::microseconds(us));
  EXPECT_EQ(histogram.percentile_us(5'000), 500);
  EXPECT_EQ(histogram.percentile_us(9'990), 999);
  EXPECT_EQ(histogram.percentile_us(9'999), 1000);
  histogram.add(1s);
  EXPECT_EQ(histogram.percentile_us(9'999), 1'000'000) << "beyond the rows it is the maximum";
}

TEST(LatencySnapshotTest, SumsUpAllCpus) {
  Set set(4, at(0s));
  set.add(record(3us), at(0s));
  set.add(record(5us, 2), at(0s));
  set.add(record(20ms, 3), at(0s));
  Record bound = record(7us, 3);
  bound.is_bound = true;
  set.add(bound, at(0s));
  set.count_lost(7, 2, at(0s));
  set.count_lost(1, Set::kNoCpu, at(0s));
  set.count_unmatched(2, 3, at(0s));
  EXPECT_EQ(set.snapshot().summary(),
            "samples 4\nmin 3\navg 5003.750\np50 5\np90 20000\np99 20000\np99.9 20000\n"
            "p99.99 20000\nmax 20000\nlost 8\nunmatched 2\nbounded 1\n"
            "CPU0 samples 1 bounded 0 unmatched 0 lost 0\n"
            "CPU2 samples 1 bounded 0 unmatched 0 lost 7\n"
            "CPU3 samples 2 bounded 1 unmatched 2 lost 0\n");
  EXPECT_EQ(Snapshot().summary(),
            "samples 0\nmin <undef>\navg <undef>\np50 <undef>\np90 <undef>\np99 <undef>\n"
            "p99.9 <undef>\np99.99 <undef>\nmax <undef>\nlost 0\nunmatched 0\n"
            "bounded 0\n");
}

TEST(LatencySnapshotTest, ShowsAnArrayAsStatisticsDo) {
  Set set(1, at(0s));
  for (const auto latency : {-5us, 0us, 1us, 3us, 4us, 5us, 8'192us, 8'193us, 90'000us}) {
    set.add(record(latency), at(0s));
  }
  EXPECT_EQ(set.snapshot().data("wakeup"),
            "wakeup <=0 2\nwakeup <=1 1\nwakeup <=2 0\nwakeup <=4 2\nwakeup <=8 1\nwakeup <=16 0\n"
            "wakeup <=32 0\nwakeup <=64 0\nwakeup <=128 0\nwakeup <=256 0\nwakeup <=512 0\n"
            "wakeup <=1024 0\nwakeup <=2048 0\nwakeup <=4096 0\nwakeup <=8192 1\nwakeup >8192 2\n");
}

TEST(LatencySnapshotTest, TellsEverythingOfTheCpusThatHaveSamples) {
  Set set(4, at(0s));
  set.add(record(3us, 2), at(0s));
  std::string histogram;
  set.histogram(2).append_to(histogram, "");
  EXPECT_EQ(set.snapshot().everything(),
            "#samples 1\n#min 3\n#avg 3.000\n#p50 3\n#p90 3\n#p99 3\n#p99.9 3\n#p99.99 3\n#max 3\n"
            "#lost 0\n#unmatched 0\n#bounded 0\n#CPU2 samples 1 bounded 0 unmatched 0 lost 0\n"
            "#CPU2\n" +
                histogram);
}

TEST(ShortfallTest, IsToldAboveOneInAHundredOfWhatBegan) {
  EXPECT_EQ(shortfall_line(Kind::kWakeups, {}), "");
  EXPECT_EQ(shortfall_line(Kind::kWakeups, {.samples = 99, .unmatched = 1}), "");
  EXPECT_EQ(shortfall_line(Kind::kWakeups, {.samples = 98, .unmatched = 1}),
            "#1 of 99 wakeups are not in this histogram: 1 without an event that shows the task "
            "running\n");
  EXPECT_EQ(shortfall_line(Kind::kTimers, {.unmatched = 3, .lost = 20}),
            "#23 of 23 timers are not in this histogram: 3 without their start or their wakeup, 20 "
            "events lost\n");
  EXPECT_EQ(shortfall_line(Kind::kFed, {.samples = 1, .lost = UINT64_MAX}),
            "#18446744073709551615 of 18446744073709551616 latencies are not in this histogram: "
            "18446744073709551615 dropped by the program\n");
}

TEST(ShortfallTest, CountsALossThatMayHaveBeenOnThisCpu) {
  Set set(2, at(0s), Kind::kWakeups);
  set.add(record(5us), at(0s));
  set.count_lost(2, Set::kNoCpu, at(0s));
  set.count_lost(3, 1, at(0s));
  EXPECT_EQ(set.counts(0).lost, 2u);
  EXPECT_EQ(set.counts(1).lost, 5u);
  const std::string all = set.snapshot().everything();
  EXPECT_NE(all.find("samples\n#2 of 3 wakeups are not in this histogram: 2 events lost\n     0"),
            std::string::npos);
}

TEST(LatencySetTest, KeepsTheTenHighest) {
  Set set(2, at(0s));
  for (int i = 1; i <= 12; ++i) {
    set.add(record(std::chrono::microseconds(i), static_cast<unsigned>(i % 2), i), at(0s));
  }
  const std::string top = set.top();
  EXPECT_EQ(std::ranges::count(top, '\n'), 10);
  EXPECT_TRUE(top.starts_with("CPU0 12 80 12 rt\nCPU1 11 80 11 rt\n")) << top;
  EXPECT_TRUE(top.ends_with("CPU1 3 80 3 rt\n")) << top;
}

TEST(LatencySetTest, ReplacesTheHighestByAStrictlyGreaterOneOnly) {
  Set set(1, at(0s));
  set.add(record(5'100ns, 0, 1), at(0s));
  set.add(record(5'900ns, 0, 2), at(0s));
  EXPECT_EQ(set.max_latency(0), "1 80 5 rt\n");
  set.add(record(6'000ns, 0, 3), at(0s));
  EXPECT_EQ(set.max_latency(0), "3 80 6 rt\n");
}

TEST(LatencySetTest, ResetClearsAllThatWasGathered) {
  Set set(1, at(0s));
  set.add(record(5us), at(0s));
  set.count_lost(1, 0, at(0s));
  set.count_lost(1, Set::kNoCpu, at(0s));
  set.count_unmatched(1, 0, at(0s));
  set.reset(at(1s));
  EXPECT_EQ(set.snapshot().summary(), Snapshot().summary());
  EXPECT_EQ(set.max_latency(0), "(none)\n");
  EXPECT_EQ(set.top(), "");
  EXPECT_EQ(set.maxima(2h), "");
}

TEST(LatencySetTest, ShowsTheIntervalsThatAreOver) {
  Set set(2, at(0s));
  set.add(record(5us), at(10s));
  set.add(record(7us), at(20s));
  set.add(record(9us, 1), at(301s));
  EXPECT_EQ(set.maxima(299s), "");
  EXPECT_EQ(set.maxima(901s),
            "CPU0 [300.000000] 2 5 6.000 7\nCPU0 [600.000000] 0 0 0.000 0\n"
            "CPU0 [900.000000] 0 0 0.000 0\nCPU1 [600.000000] 1 9 9.000 9\n"
            "CPU1 [900.000000] 0 0 0.000 0\n");
}

TEST(LatencySetTest, KeepsADayOfFiveMinutesUnlessToldOtherwise) {
  Set set(1, at(0s));
  set.add(record(5us), at(0s));
  const std::string day = set.maxima(24h * 2);
  EXPECT_EQ(std::ranges::count(day, '\n'), 288);
  ASSERT_TRUE(set.define_maxima("period=1000000 entries_max=2", at(0s)));
  set.add(record(5us), at(500ms));
  EXPECT_EQ(set.maxima(1s), "CPU0 [1.000000] 1 5 5.000 5\n");
  const std::string two = set.maxima(9s);
  EXPECT_EQ(std::ranges::count(two, '\n'), 2);
}

TEST(LatencySetTest, RefusesIntervalsThatCannotBe) {
  Set set(1, at(0s));
  for (const char* const line : {"", "period=999", "period=", "entries_max=0", "entries_max=2017",
                                 "period=1000 x=1", "period", "=", "period=86400000001"}) {
    const auto done = set.define_maxima(line, at(0s));
    ASSERT_FALSE(done) << line;
    EXPECT_EQ(done.error().code, ErrorCode::kInvalid);
  }
  EXPECT_EQ(set.define_maxima("period=1000 x=1", at(0s)).error().token_at, 12u);
}

TEST(LatencyRecordTest, EscapesWhatACommandMayHold) {
  std::string out;
  append_record(out, {.latency = 1us, .victim = {.name = {'a', '\n', 'b', ' ', 'c'}}});
  EXPECT_EQ(out, "0 -21 1 a\\x0ab c");
}

}  // namespace
}  // namespace tallyfs::latency_hist
