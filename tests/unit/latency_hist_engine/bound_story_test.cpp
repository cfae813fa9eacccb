// docs/latency-histograms.md, "Switches that the kernel leaves out": what a task does first bounds
// its wakeup, and what is missing even so is told.
#include "tests/unit/latency_hist_engine/story.h"

namespace tallyfs::latency_hist {
namespace {

class BoundStory : public StoryTest {
 protected:
  BoundStory() { on(Measuring::kWakeup); }
};

// Of a CPU that sleeps the kernel may leave out switches from its idle task. The task's first sign
// of life is then an upper bound.
TEST_F(BoundStory, BoundsAWakeupWhoseSwitchWasNotSeenByWhatTheTaskDoesFirst) {
  replay(R"(
    90  cpu=0 switch rt:10:20 -> idle:0:120
    100 cpu=0 wakeup rt:10:20
    150 cpu=0 switch rt:10:20 -> idle:0:120
    200 cpu=0 wakeup rt:10:20
    203 cpu=0 ran 10
    230 cpu=0 switch rt:10:20 -> idle:0:120
    300 cpu=0 wakeup rt:10:20
    308 cpu=0 start a0 expires=1000 by 10
    330 cpu=0 switch rt:10:20 -> idle:0:120
    400 cpu=0 wakeup rt:10:20
    411 cpu=1 wakeup other:11:20 by 10
    430 cpu=0 switch rt:10:20 -> idle:0:120
    460 cpu=0 wakeup rt:10:20
    465 cpu=0 switch idle:0:120 -> rt:10:20
    470 cpu=0 ran 10
  )");
  EXPECT_EQ(measured(), "wakeup CPU0 3 5 8 11 50\n");
  EXPECT_EQ(bounded(Latencies::kWakeup), 4u);
  EXPECT_EQ(unmatched(Latencies::kWakeup), 0u);
}

TEST_F(BoundStory, BoundsSharedWakeupsAmongTheShared) {
  replay(R"(
    90  cpu=0 switch idle:0:120 -> one:10:20
    110 cpu=0 wakeup two:11:20
    120 cpu=0 ran 11
  )");
  EXPECT_EQ(measured(), "sharedprio CPU0 10\n");
  EXPECT_EQ(bounded(Latencies::kWakeupShared), 1u);
  EXPECT_EQ(bounded(Latencies::kWakeup), 0u);
}

TEST_F(BoundStory, KnowsOfATaskThatWasBoundedThatItRuns) {
  replay(R"(
    90  cpu=0 switch other:7:120 -> idle:0:120
    100 cpu=0 wakeup high:10:10
    103 cpu=0 ran 10
    110 cpu=0 wakeup low:11:20
    120 cpu=0 switch high:10:10 -> low:11:20
  )");
  EXPECT_EQ(measured(), "wakeup CPU0 3\n") << "low had to wait for high";
}

TEST_F(BoundStory, TakesNoBoundFromATaskThatHadNotGoneWhenItWasWoken) {
  replay(R"(
    90  cpu=0 switch idle:0:120 -> rt:10:20
    100 cpu=0 wakeup rt:10:20
    105 cpu=0 ran 10
    150 cpu=0 switch rt:10:20 -> idle:0:120
  )");
  EXPECT_EQ(measured(), "");
  EXPECT_EQ(unmatched(Latencies::kWakeup), 0u);
}

TEST_F(BoundStory, TakesNoBoundWhereNothingWasKnownOfWhatRan) {
  replay(R"(
    100 cpu=0 wakeup rt:10:20
    110 cpu=0 ran 10
  )");
  EXPECT_EQ(measured(), "");
  EXPECT_EQ(unmatched(Latencies::kWakeup), 1u);
}

TEST_F(BoundStory, TakesNoBoundOfASecond) {
  replay(R"(
    90      cpu=0 switch other:7:120 -> idle:0:120
    100     cpu=0 wakeup rt:10:20
    1000100 cpu=0 ran 10
  )");
  EXPECT_EQ(measured(), "");
  EXPECT_EQ(unmatched(Latencies::kWakeup), 1u);
}

TEST_F(BoundStory, CountsWhatIsMissingOnTheCpuWhereItIs) {
  replay(R"(
    90  cpu=0 switch other:7:120 -> idle:0:120
    90  cpu=1 switch other:8:120 -> idle:0:120
    100 cpu=1 wakeup rt:10:20
    200 cpu=1 wakeup rt:10:20
    205 cpu=1 ran 10
    300 cpu=0 lost 17
  )");
  const CpuCounts one = latencies_.set(Latencies::kWakeup).counts(1);
  EXPECT_EQ(one.samples, 1u);
  EXPECT_EQ(one.bounded, 1u);
  EXPECT_EQ(one.unmatched, 1u);
  EXPECT_EQ(one.lost, 0u);
  EXPECT_EQ(latencies_.set(Latencies::kWakeup).counts(0).lost, 17u);
}

// A CPU of a kernel that leaves out the switches from idle, with signs of life or without: 200
// wakeups, of which every fifth finds the CPU busy.
std::string sleepy_cpu(bool has_exits) {
  std::string story = "90 cpu=1 switch rt:10:20 -> idle:0:120\n";
  for (int i = 0; i < 200; ++i) {
    const std::string at = std::to_string(1 + i);
    if (i % 5 == 0) story += at + "010 cpu=1 switch idle:0:120 -> busy:7:120\n";
    story += at + "100 cpu=1 wakeup rt:10:20\n";
    if (i % 5 == 0) story += at + "107 cpu=1 switch busy:7:120 -> rt:10:20\n";
    if (has_exits) story += at + "109 cpu=1 ran 10\n";
    if (i % 5 == 0 || has_exits) story += at + "120 cpu=1 switch rt:10:20 -> idle:0:120\n";
  }
  return story;
}

TEST_F(BoundStory, SaysOnceInTheLogThatSwitchesAreLeftOut) {
  replay(sleepy_cpu(true));
  const Histogram histogram = latencies_.set(Latencies::kWakeup).histogram(1);
  EXPECT_EQ(histogram.row(7), 40u);
  EXPECT_EQ(histogram.row(9), 160u);
  EXPECT_EQ(latencies_.set(Latencies::kWakeup).counts(1).bounded, 160u);
  EXPECT_EQ(latencies_.take_warning(),
            "tracing/latency_hist/wakeup/CPU1: the kernel leaves out switches to tasks that wake; "
            "such a latency is taken as the time until the task's first later event (bounded in "
            "summary)");
  EXPECT_EQ(latencies_.take_warning(), "");
}

TEST_F(BoundStory, SaysOnceInTheLogThatAHistogramFallsShort) {
  replay(sleepy_cpu(false));
  const std::string warning = latencies_.take_warning();
  EXPECT_NE(warning.find("tracing/latency_hist/wakeup/CPU1: 159 of 199 wakeups are not in this "
                         "histogram: 159 without an event that shows the task running"),
            std::string::npos)
      << warning;
  EXPECT_EQ(latencies_.take_warning(), "");
}

}  // namespace
}  // namespace tallyfs::latency_hist
