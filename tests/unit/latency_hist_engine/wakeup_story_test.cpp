// docs/latency-histograms.md, "Wakeup latency, exactly", a story for each rule.
#include "tests/unit/latency_hist_engine/story.h"

namespace tallyfs::latency_hist {
namespace {

class WakeupStory : public StoryTest {
 protected:
  WakeupStory() { on(Measuring::kWakeup); }
};

TEST_F(WakeupStory, MeasuresFromTheWakeupToTheSwitchToTheTask) {
  replay(R"(
    90  cpu=0 switch other:7:120 -> idle:0:120
    100 cpu=0 wakeup rt:10:19
    130 cpu=0 switch idle:0:120 -> rt:10:19
  )");
  EXPECT_EQ(measured(), "wakeup CPU0 30\n");
}

TEST_F(WakeupStory, PassesOverATaskThatIsNotRealTime) {
  replay(R"(
    100 cpu=0 wakeup usual:10:120
    130 cpu=0 switch idle:0:120 -> usual:10:120
    200 cpu=0 wakeup usual:10:100
    230 cpu=0 switch idle:0:120 -> usual:10:100
  )");
  EXPECT_EQ(measured(), "");
}

TEST_F(WakeupStory, PassesOverATaskOfLowerPriorityThanThePendingOne) {
  replay(R"(
    100 cpu=0 wakeup high:10:10
    110 cpu=0 wakeup low:11:20
    130 cpu=0 switch idle:0:120 -> high:10:10
    150 cpu=0 switch high:10:10 -> low:11:20
  )");
  EXPECT_EQ(measured(), "wakeup CPU0 30\n");
}

TEST_F(WakeupStory, PassesOverATaskOfLowerPriorityThanWhatRunsThere) {
  replay(R"(
    90  cpu=0 switch idle:0:120 -> high:10:10
    110 cpu=0 wakeup low:11:20
    150 cpu=0 switch high:10:10 -> low:11:20
  )");
  EXPECT_EQ(measured(), "");
}

TEST_F(WakeupStory, GoesOnWithATaskOfHigherPriorityThanThePendingOne) {
  replay(R"(
    100 cpu=0 wakeup low:11:20
    110 cpu=0 wakeup high:10:10
    130 cpu=0 switch idle:0:120 -> high:10:10
    150 cpu=0 switch high:10:10 -> low:11:20
  )");
  EXPECT_EQ(measured(), "wakeup CPU0 20\n");
}

TEST_F(WakeupStory, SharesWhenThePendingTaskHasTheSamePriority) {
  replay(R"(
    100 cpu=0 wakeup one:10:20
    110 cpu=0 wakeup two:11:20
    130 cpu=0 switch idle:0:120 -> one:10:20
    150 cpu=0 switch one:10:20 -> two:11:20
  )");
  EXPECT_EQ(measured(), "sharedprio CPU0 40\n");
}

TEST_F(WakeupStory, SharesWhenWhatRunsThereHasTheSamePriority) {
  replay(R"(
    90  cpu=0 switch idle:0:120 -> one:10:20
    110 cpu=0 wakeup two:11:20
    150 cpu=0 switch one:10:20 -> two:11:20
  )");
  EXPECT_EQ(measured(), "sharedprio CPU0 40\n");
}

TEST_F(WakeupStory, SharesWhenAnotherOfTheSamePriorityComesFirst) {
  replay(R"(
    100 cpu=0 wakeup one:10:20
    120 cpu=0 switch idle:0:120 -> two:11:20
    150 cpu=0 switch two:11:20 -> one:10:20
  )");
  EXPECT_EQ(measured(), "sharedprio CPU0 50\n");
}

TEST_F(WakeupStory, DropsAWakeupWhenAnotherOfHigherPriorityComesFirst) {
  replay(R"(
    100 cpu=0 wakeup low:10:20
    120 cpu=0 switch idle:0:120 -> high:11:10
    150 cpu=0 switch high:11:10 -> low:10:20
  )");
  EXPECT_EQ(measured(), "");
  EXPECT_EQ(unmatched(Latencies::kWakeup), 0u);
}

TEST_F(WakeupStory, WaitsOnWhenAnotherOfLowerPriorityComesFirst) {
  replay(R"(
    100 cpu=0 wakeup high:10:20
    120 cpu=0 switch idle:0:120 -> low:11:30
    150 cpu=0 switch low:11:30 -> high:10:20
  )");
  EXPECT_EQ(measured(), "wakeup CPU0 50\n");
}

TEST_F(WakeupStory, DropsAWakeupOfATaskThatHadNotYetGone) {
  replay(R"(
    90  cpu=0 switch idle:0:120 -> rt:10:20
    100 cpu=0 wakeup rt:10:20
    150 cpu=0 switch rt:10:20 -> idle:0:120
    160 cpu=0 switch idle:0:120 -> rt:10:20
  )");
  EXPECT_EQ(measured(), "");
  EXPECT_EQ(unmatched(Latencies::kWakeup), 0u);
}

TEST_F(WakeupStory, CountsSharedWakeupsThatAreGivenUpAmongTheShared) {
  replay(R"(
    90   cpu=0 switch idle:0:120 -> one:10:20
    110  cpu=0 wakeup two:11:20
    1100 cpu=0 wakeup two:11:20
    1150 cpu=0 switch one:10:20 -> two:11:20
  )");
  EXPECT_EQ(measured(), "sharedprio CPU0 50\n");
  EXPECT_EQ(unmatched(Latencies::kWakeupShared), 1u);
  EXPECT_EQ(unmatched(Latencies::kWakeup), 0u);
}

TEST_F(WakeupStory, FollowsATaskThatMigrates) {
  replay(R"(
    100 cpu=0 wakeup rt:10:20
    110 cpu=0 migrate rt:10:20 to 1
    140 cpu=1 switch idle:0:120 -> rt:10:20
    150 cpu=0 switch idle:0:120 -> other:11:20
  )");
  EXPECT_EQ(measured(), "wakeup CPU1 40\n");
}

TEST_F(WakeupStory, LeavesThePendingTaskWhenAnotherMigrates) {
  replay(R"(
    100 cpu=0 wakeup rt:10:20
    110 cpu=0 migrate other:11:20 to 1
    140 cpu=0 switch idle:0:120 -> rt:10:20
  )");
  EXPECT_EQ(measured(), "wakeup CPU0 40\n");
}

TEST_F(WakeupStory, HoldsAMigratedTaskToTheConditionsOfWhereItArrives) {
  replay(R"(
    100 cpu=1 switch idle:0:120 -> equal:12:20
    100 cpu=0 wakeup rt:10:20
    110 cpu=0 migrate rt:10:20 to 1
    140 cpu=1 switch equal:12:20 -> rt:10:20

    200 cpu=1 switch rt:10:20 -> high:13:5
    210 cpu=0 wakeup rt:10:20
    220 cpu=0 migrate rt:10:20 to 1
    240 cpu=1 switch high:13:5 -> rt:10:20
  )");
  EXPECT_EQ(measured(), "sharedprio CPU1 40\n");
}

TEST_F(WakeupStory, KeepsCpusApart) {
  replay(R"(
    100 cpu=0 wakeup a:10:20
    105 cpu=1 wakeup b:11:20
    130 cpu=1 switch idle:0:120 -> b:11:20
    140 cpu=0 switch idle:0:120 -> a:10:20
  )");
  EXPECT_EQ(measured(), "wakeup CPU0 40\nwakeup CPU1 25\n");
}

TEST_F(WakeupStory, JudgesByThePreviousTaskWhereNothingWasKnownOfWhatRan) {
  replay(R"(
    100 cpu=0 wakeup low:10:20
    130 cpu=0 switch high:11:10 -> low:10:20
    200 cpu=1 wakeup one:12:20
    230 cpu=1 switch two:13:20 -> one:12:20
  )");
  EXPECT_EQ(measured(), "sharedprio CPU1 30\n");
}

TEST_F(WakeupStory, MeasuresTheSelectedTaskWhateverItsPriority) {
  latencies_.select(Measuring::kWakeup, 10);
  replay(R"(
    90  cpu=0 switch idle:0:120 -> high:12:5
    100 cpu=0 wakeup usual:10:120
    110 cpu=0 wakeup rt:11:20
    130 cpu=0 switch high:12:5 -> rt:11:20
    160 cpu=0 switch rt:11:20 -> usual:10:120
  )");
  EXPECT_EQ(measured(), "wakeup CPU0 60\n");
}

TEST_F(WakeupStory, ForgetsWhatIsPendingWhenATaskIsSelected) {
  replay("100 cpu=0 wakeup rt:11:20");
  latencies_.select(Measuring::kWakeup, 10);
  replay("130 cpu=0 switch idle:0:120 -> rt:11:20");
  latencies_.select(Measuring::kWakeup, 0);
  replay(R"(
    200 cpu=0 wakeup rt:11:20
    230 cpu=0 switch rt:12:120 -> rt:11:20
  )");
  EXPECT_EQ(measured(), "wakeup CPU0 30\n");
}

TEST_F(WakeupStory, GivesUpAWakeupWhoseSwitchWasNeverSeen) {
  replay(R"(
    100     cpu=0 wakeup rt:10:20
    1000099 cpu=1 switch idle:0:120 -> other:12:20
  )");
  EXPECT_EQ(unmatched(Latencies::kWakeup), 0u);
  replay(R"(
    1000100 cpu=1 switch other:12:20 -> idle:0:120
    5000000 cpu=0 switch idle:0:120 -> rt:10:20
  )");
  EXPECT_EQ(measured(), "");
  EXPECT_EQ(unmatched(Latencies::kWakeup), 1u);
}

TEST_F(WakeupStory, NeverRecordsSecondsWhenTheSwitchIsAllThatTellsOfTheTime) {
  replay(R"(
    100     cpu=0 wakeup rt:10:20
    1000100 cpu=0 switch idle:0:120 -> rt:10:20
  )");
  EXPECT_EQ(measured(), "");
  EXPECT_EQ(unmatched(Latencies::kWakeup), 1u);
}

TEST_F(WakeupStory, CountsAWakeupAfterWhichTheTaskIsWokenAgainAsUnmatched) {
  replay(R"(
    100 cpu=0 wakeup rt:10:20
    1100 cpu=1 wakeup rt:10:20
    1130 cpu=1 switch idle:0:120 -> rt:10:20
  )");
  EXPECT_EQ(measured(), "wakeup CPU1 30\n");
  EXPECT_EQ(unmatched(Latencies::kWakeup), 1u);
}

TEST_F(WakeupStory, DropsEverythingUnderWayAtALoss) {
  replay(R"(
    90  cpu=0 switch idle:0:120 -> high:12:5
    100 cpu=0 wakeup rt:10:4
    110 cpu=1 lost 17
    130 cpu=0 switch high:12:5 -> rt:10:4
    200 cpu=0 switch rt:10:4 -> idle:0:120
    210 cpu=0 wakeup rt:10:20
    215 cpu=0 switch idle:0:120 -> rt:10:20
  )");
  EXPECT_EQ(measured(), "wakeup CPU0 5\n");
  EXPECT_EQ(lost(Latencies::kWakeup), 17u);
  EXPECT_EQ(lost(Latencies::kWakeupShared), 17u);
  EXPECT_EQ(lost(Latencies::kMissedTimerOffsets), 0u) << "which is off";
}

TEST_F(WakeupStory, MeasuresNothingWhileItIsOffAndKeepsWhatItHas) {
  replay(R"(
    100 cpu=0 wakeup rt:10:20
    130 cpu=0 switch idle:0:120 -> rt:10:20
    200 cpu=0 wakeup rt:10:20
  )");
  off(Measuring::kWakeup);
  replay(R"(
    230 cpu=0 switch idle:0:120 -> rt:10:20
    300 cpu=0 wakeup rt:10:20
    330 cpu=0 switch idle:0:120 -> rt:10:20
  )");
  EXPECT_EQ(measured(), "wakeup CPU0 30\n");
}

TEST_F(WakeupStory, CountsEventsThatCannotBeAsLost) {
  replay(R"(
    100 cpu=0 wakeup rt:10:20
    130 cpu=7 switch idle:0:120 -> rt:10:20
    140 cpu=0 switch idle:0:120 -> rt:10:20
  )");
  EXPECT_EQ(measured(), "");
  EXPECT_EQ(lost(Latencies::kWakeup), 1u);
}

TEST_F(WakeupStory, TakesNoHarmFromTimesThatCannotBe) {
  on(Measuring::kMissedTimerOffsets);
  on(Measuring::kTimerAndWakeup);
  constexpr std::int64_t kTimes[] = {INT64_MIN, -1, 0, kEventTimeMaxNs, INT64_MAX};
  for (const std::int64_t time : kTimes) {
    for (const std::int64_t clock : kTimes) {
      const Task rt{.pid = 10, .priority = 20};
      const KernelEvent events[] = {
          {.time_ns = 0, .kind = KernelEventKind::kTimerStart, .clock_ns = clock, .task = rt},
          {.time_ns = time, .kind = KernelEventKind::kTimerExpire, .clock_ns = clock},
          {.time_ns = time, .kind = KernelEventKind::kWakeup, .task = rt},
          {.time_ns = 0, .kind = KernelEventKind::kSwitch, .task = rt},
          {.time_ns = 0, .kind = KernelEventKind::kLost, .number = UINT64_MAX}};
      latencies_.take(events, Timestamp());
    }
  }
  EXPECT_EQ(lost(Latencies::kWakeup), UINT64_MAX) << "where a counter stays";
}

TEST_F(WakeupStory, NamesVictimAndCulpritOfTheHighestLatency) {
  replay(R"(
    1000100 cpu=0 wakeup rt:10:19
    1000130 cpu=0 switch hog:7:120 -> rt:10:19
    1000200 cpu=0 wakeup late:11:9
    1000230 cpu=0 switch hog:8:120 -> late:11:9
  )");
  Set& set = latencies_.set(Latencies::kWakeup);
  EXPECT_EQ(set.max_latency(0), "10 80 30 (0) rt <- 7 -21 hog 1.000130\n") << "30 is not above 30";
  EXPECT_EQ(set.max_latency(1), "(none)\n");
  EXPECT_EQ(set.top(),
            "CPU0 10 80 30 (0) rt <- 7 -21 hog 1.000130\n"
            "CPU0 11 90 30 (0) late <- 8 -21 hog 1.000230\n");
}

}  // namespace
}  // namespace tallyfs::latency_hist
