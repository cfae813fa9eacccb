// docs/latency-histograms.md: missed timer offsets and timerandwakeup, a story for each rule.
#include "tests/unit/latency_hist_engine/story.h"

namespace tallyfs::latency_hist {
namespace {

class TimerStory : public StoryTest {
 protected:
  TimerStory() {
    on(Measuring::kMissedTimerOffsets);
    on(Measuring::kWakeup);
    on(Measuring::kTimerAndWakeup);
  }
};

TEST_F(TimerStory, AddsTheTimersDelayToTheWakeups) {
  replay(R"(
    0    cpu=0 switch idle:0:120 -> rt:10:20
    10   cpu=0 start a0 expires=1000 by 10
    20   cpu=0 switch rt:10:20 -> idle:0:120
    1007 cpu=0 expire a0 at=1006 during 0
    1008 cpu=0 wakeup rt:10:20
    1011 cpu=0 switch idle:0:120 -> rt:10:20
  )");
  EXPECT_EQ(measured(), "wakeup CPU0 3\nmissed_timer_offsets CPU0 6\ntimerandwakeup CPU0 11\n");
  EXPECT_EQ(latencies_.set(Latencies::kTimerAndWakeup).max_latency(0),
            "10 79 11 (8) rt <- 0 -21 idle 0.001011\n");
  EXPECT_EQ(latencies_.set(Latencies::kMissedTimerOffsets).max_latency(0),
            "10 79 6 (6) rt <- 0 -21 idle 0.001007\n");
}

TEST_F(TimerStory, LeavesTheCulpritOutWhereItIsNotKnown) {
  replay(R"(
    10   cpu=0 start a0 expires=1000 by 10
    20   cpu=0 switch rt:10:20 -> idle:0:120
    1007 cpu=0 expire a0 at=1006 during 4711
    1008 cpu=0 wakeup rt:10:20
  )");
  EXPECT_EQ(latencies_.set(Latencies::kMissedTimerOffsets).max_latency(0), "10 79 6 rt\n");
}

TEST_F(TimerStory, MissesNothingWhenTheTimerExpiresInTime) {
  replay(R"(
    10   cpu=0 start a0 expires=1000 by 10
    20   cpu=0 switch rt:10:20 -> idle:0:120
    1000 cpu=0 expire a0 at=1000 during 0
    1001 cpu=0 wakeup rt:10:20
    1003 cpu=0 switch idle:0:120 -> rt:10:20
  )");
  EXPECT_EQ(measured(), "wakeup CPU0 2\ntimerandwakeup CPU0 3\n");
}

TEST_F(TimerStory, PassesOverSleepersThatAreNotRealTime) {
  replay(R"(
    10   cpu=0 start a0 expires=1000 by 10
    20   cpu=0 switch usual:10:120 -> idle:0:120
    1007 cpu=0 expire a0 at=1006 during 0
    1008 cpu=0 wakeup usual:10:120
    1011 cpu=0 switch idle:0:120 -> usual:10:120
  )");
  EXPECT_EQ(measured(), "");
}

TEST_F(TimerStory, PassesOverSleepersOfNoHigherPriorityThanWhatRuns) {
  replay(R"(
    10   cpu=0 start a0 expires=1000 by 10
    11   cpu=0 start b0 expires=1000 by 11
    20   cpu=0 switch rt:10:20 -> equal:12:20
    1007 cpu=0 expire a0 at=1006 during 12
    1008 cpu=0 wakeup rt:10:20
    1009 cpu=0 expire b0 at=1006 during 12
    1010 cpu=0 wakeup low:11:30
  )");
  EXPECT_EQ(measured(), "");
}

TEST_F(TimerStory, KnowsTimersOfOtherClocks) {
  replay(R"(
    10   cpu=0 start a0 expires=7000000000 by 10
    20   cpu=0 switch rt:10:20 -> idle:0:120
    1007 cpu=0 expire a0 at=7000000006 during 0
    1008 cpu=0 wakeup rt:10:20
    1011 cpu=0 switch idle:0:120 -> rt:10:20
  )");
  EXPECT_EQ(measured(), "wakeup CPU0 3\nmissed_timer_offsets CPU0 6\ntimerandwakeup CPU0 10\n");
}

TEST_F(TimerStory, TakesTheLastStartOfATimer) {
  replay(R"(
    10   cpu=0 start a0 expires=500 by 99
    20   cpu=0 start a0 expires=1000 by 10
    1007 cpu=0 expire a0 at=1006 during 0
    1008 cpu=0 wakeup rt:10:20
  )");
  EXPECT_EQ(measured(), "missed_timer_offsets CPU0 6\n");
}

constexpr char kCancelled[] = R"(
    10   cpu=0 start a0 expires=1000 by 10
    500  cpu=0 cancel a0
    1007 cpu=0 expire a0 at=1006 during 0
    1008 cpu=0 wakeup rt:10:20
    1011 cpu=0 switch idle:0:120 -> rt:10:20
  )";

TEST_F(TimerStory, ForgetsACancelledTimer) {
  replay(kCancelled);
  EXPECT_EQ(measured(), "wakeup CPU0 3\n");
  EXPECT_EQ(unmatched(Latencies::kMissedTimerOffsets), 1u);
}

TEST_F(TimerStory, ForgetsAnExpiredTimer) {
  replay(R"(
    10   cpu=0 start a0 expires=1000 by 10
    1007 cpu=0 expire a0 at=1006 during 0
    1008 cpu=0 wakeup rt:10:20
    2007 cpu=0 expire a0 at=2006 during 0
    2008 cpu=0 wakeup rt:10:20
  )");
  EXPECT_EQ(measured(), "missed_timer_offsets CPU0 6\n");
  EXPECT_EQ(unmatched(Latencies::kMissedTimerOffsets), 1u);
}

TEST_F(TimerStory, TellsWhatIsMissingOfTimersWithTheirWakeups) {
  replay(kCancelled);
  const Set& both = latencies_.set(Latencies::kTimerAndWakeup);
  EXPECT_EQ(unmatched(Latencies::kWakeup), 0u) << "the wakeup is complete, its timer is not";
  EXPECT_EQ(shortfall_line(both.kind(), both.counts(0)),
            "#1 of 1 timers with their wakeups are not in this histogram: 1 without the timer's "
            "start, its wakeup or an event that shows the task running\n");
}

TEST_F(TimerStory, ATimerThatWasArmedBeforeTheFirstLookIsNoUnmatchedOne) {
  replay(R"(
    1007 cpu=0 expire a0 at=1006 during 0
    1008 cpu=0 wakeup rt:10:20
    1010 cpu=0 expire b0 at=1009 during 0
    1200 cpu=0 start a0 expires=2000 by 10
    1500 cpu=0 lost 3
    2007 cpu=0 expire a0 at=2006 during 0
  )");
  EXPECT_EQ(unmatched(Latencies::kMissedTimerOffsets), 0u) << "nor in a gap";
  replay(R"(
    3007 cpu=0 expire a0 at=3006 during 0
  )");
  EXPECT_EQ(unmatched(Latencies::kMissedTimerOffsets), 1u) << "by now its start should be known";
}

TEST_F(TimerStory, ATimerIsNewAfterTheMeasuringWasOff) {
  replay(R"(
    10   cpu=0 start a0 expires=1000 by 10
    1007 cpu=0 expire a0 at=1006 during 0
    1008 cpu=0 wakeup rt:10:20
  )");
  off(Measuring::kMissedTimerOffsets);
  on(Measuring::kMissedTimerOffsets);
  replay(R"(
    2007 cpu=0 expire a0 at=2006 during 0
  )");
  EXPECT_EQ(unmatched(Latencies::kMissedTimerOffsets), 0u);
}

TEST_F(TimerStory, DoesNotBlameATimerForAWakeupThatItDidNotBring) {
  replay(R"(
    10     cpu=0 start a0 expires=1000 by 10
    1007   cpu=0 expire a0 at=1006 during 10
    900000 cpu=0 wakeup rt:10:20
    900004 cpu=0 switch idle:0:120 -> rt:10:20
  )");
  EXPECT_EQ(measured(), "wakeup CPU0 4\n");
  EXPECT_EQ(unmatched(Latencies::kMissedTimerOffsets), 1u);
}

TEST_F(TimerStory, ForgetsAnExpiryThatWokeNoTaskWhenItsTaskGoes) {
  replay(R"(
    0     cpu=0 switch idle:0:120 -> rt:10:20
    10    cpu=0 start a0 expires=1000 by 10
    1007  cpu=0 expire a0 at=1006 during 10
    1100  cpu=0 switch rt:10:20 -> idle:0:120
    50000 cpu=0 wakeup rt:10:20
    50004 cpu=0 switch idle:0:120 -> rt:10:20
  )");
  EXPECT_EQ(measured(), "wakeup CPU0 4\n");
  EXPECT_EQ(unmatched(Latencies::kMissedTimerOffsets), 1u);
  EXPECT_EQ(unmatched(Latencies::kTimerAndWakeup), 1u);
}

TEST_F(TimerStory, ForgetsAnExpiryThatWokeNoTaskWhenItsTaskStartsAnotherTimer) {
  replay(R"(
    0     cpu=0 switch idle:0:120 -> rt:10:20
    10    cpu=0 start a0 expires=1000 by 10
    1007  cpu=0 expire a0 at=1006 during 10
    1050  cpu=0 start b0 expires=60000 by 10
    50000 cpu=0 wakeup rt:10:20
    50004 cpu=0 switch idle:0:120 -> rt:10:20
  )");
  EXPECT_EQ(measured(), "wakeup CPU0 4\n");
  EXPECT_EQ(unmatched(Latencies::kMissedTimerOffsets), 1u);
}

TEST_F(TimerStory, CountsAnExpiryWhoseWakeupNeverComes) {
  replay(R"(
    0      cpu=0 switch idle:0:120 -> rt:10:20
    10     cpu=0 start a0 expires=1000 by 10
    1007   cpu=0 expire a0 at=1006 during 10
    900000 cpu=1 switch idle:0:120 -> other:12:20
  )");
  EXPECT_EQ(unmatched(Latencies::kMissedTimerOffsets), 1u);
}

TEST_F(TimerStory, SleepsOfTasksThatAreNotMeasuredCrowdOutNoOthersAndCountAsNothing) {
  constexpr std::int64_t kPause = 50'000;
  for (std::size_t i = 0; i < 2 * TimerTracker::kTimersMax; ++i) {
    const auto pid = static_cast<pid_t>(1'000 + i);
    const std::int64_t time = kPause * static_cast<std::int64_t>(i);
    const KernelEvent events[] = {
        {.time_ns = time, .kind = KernelEventKind::kTimerStart, .number = i, .task = {.pid = pid}},
        {.time_ns = time + 1, .kind = KernelEventKind::kTimerExpire, .number = i}};
    latencies_.take(events, {.monotonic = std::chrono::nanoseconds(time + 1)});
  }
  EXPECT_EQ(unmatched(Latencies::kMissedTimerOffsets), 0u);
}

TEST_F(TimerStory, CountsWakeupsOfTimersThatAreGivenUpWhereTheyAreMissing) {
  replay(R"(
    0    cpu=0 switch rt:10:20 -> idle:0:120
    10   cpu=0 start a0 expires=1000 by 10
    1007 cpu=0 expire a0 at=1006 during 0
    1008 cpu=0 wakeup rt:10:20
    1100 cpu=0 wakeup rt:10:20
  )");
  EXPECT_EQ(measured(), "missed_timer_offsets CPU0 6\n");
  EXPECT_EQ(unmatched(Latencies::kWakeup), 1u);
  EXPECT_EQ(unmatched(Latencies::kTimerAndWakeup), 1u);
  EXPECT_EQ(unmatched(Latencies::kMissedTimerOffsets), 0u);
}

TEST_F(TimerStory, FeedsTimerAndWakeupFromExclusiveWakeupsOnly) {
  replay(R"(
    0    cpu=0 switch idle:0:120 -> other:12:120
    10   cpu=0 start a0 expires=1000 by 10
    1007 cpu=0 expire a0 at=1006 during 12
    1008 cpu=0 wakeup rt:10:20
    1009 cpu=0 switch other:12:120 -> equal:13:20
    1019 cpu=0 switch equal:13:20 -> rt:10:20
  )");
  EXPECT_EQ(measured(), "sharedprio CPU0 11\nmissed_timer_offsets CPU0 6\n");
}

TEST_F(TimerStory, CountsTheOffsetWhereTheTimerExpiresAndTheWakeupWhereTheTaskRuns) {
  replay(R"(
    10   cpu=0 start a0 expires=1000 by 10
    1007 cpu=0 expire a0 at=1006 during 0
    1008 cpu=1 wakeup rt:10:20
    1018 cpu=1 switch idle:0:120 -> rt:10:20
  )");
  EXPECT_EQ(measured(), "wakeup CPU1 10\nmissed_timer_offsets CPU0 6\ntimerandwakeup CPU1 18\n");
}

TEST_F(TimerStory, MeasuresTheSelectedSleeperWhateverItsPriority) {
  latencies_.select(Measuring::kMissedTimerOffsets, 10);
  replay(R"(
    0    cpu=0 switch idle:0:120 -> high:12:5
    10   cpu=0 start a0 expires=1000 by 10
    20   cpu=0 start b0 expires=1000 by 11
    1007 cpu=0 expire a0 at=1006 during 12
    1008 cpu=0 wakeup usual:10:120
    1009 cpu=0 expire b0 at=1008 during 12
    1010 cpu=0 wakeup rt:11:4
  )");
  EXPECT_EQ(measured(), "missed_timer_offsets CPU0 6\n");
}

TEST_F(TimerStory, ForgetsTimersAtALoss) {
  replay(R"(
    10   cpu=0 start a0 expires=1000 by 10
    500  cpu=0 lost 3
    1007 cpu=0 expire a0 at=1006 during 0
    1008 cpu=0 wakeup rt:10:20
    1011 cpu=0 switch idle:0:120 -> rt:10:20
  )");
  EXPECT_EQ(measured(), "wakeup CPU0 3\n");
  EXPECT_EQ(lost(Latencies::kTimerAndWakeup), 3u);
}

TEST_F(TimerStory, HoldsABoundedNumberOfTimersAndCountsThoseItForgets) {
  std::vector<KernelEvent> events(TimerTracker::kTimersMax + 1,
                                  {.kind = KernelEventKind::kTimerStart});
  for (std::size_t i = 0; i < events.size(); ++i) events[i].number = i;
  latencies_.take(events, Timestamp());
  EXPECT_EQ(unmatched(Latencies::kMissedTimerOffsets), TimerTracker::kTimersMax);
}

TEST_F(TimerStory, BoundsWakeupsOfTimersToo) {
  replay(R"(
    0    cpu=0 switch rt:10:20 -> idle:0:120
    10   cpu=0 start a0 expires=1000 by 10
    1007 cpu=0 expire a0 at=1006 during 0
    1008 cpu=0 wakeup rt:10:20
    1012 cpu=0 ran 10
    1020 cpu=0 start a0 expires=2000 by 10
  )");
  EXPECT_EQ(measured(), "wakeup CPU0 4\nmissed_timer_offsets CPU0 6\ntimerandwakeup CPU0 12\n");
  EXPECT_EQ(bounded(Latencies::kTimerAndWakeup), 1u);
  EXPECT_EQ(bounded(Latencies::kMissedTimerOffsets), 0u);
}

TEST_F(TimerStory, GoesOnGivingUpTimersAfterATimeFromTheFarFuture) {
  const Timestamp now{.monotonic = std::chrono::seconds(50)};
  for (const std::int64_t far : {kEventTimeMaxNs, kEventTimeMaxNs - 1, INT64_MAX, INT64_MIN}) {
    const KernelEvent event{.time_ns = far, .kind = KernelEventKind::kTimerExpire, .number = 7};
    latencies_.take({&event, 1}, now);
  }
  replay(R"(
    51000000 cpu=0 switch idle:0:120 -> rt:10:20
    51000010 cpu=0 start a0 expires=51001000 by 10
    51000020 cpu=0 switch rt:10:20 -> idle:0:120
    51001007 cpu=0 expire a0 at=51001006 during 0
    51200000 cpu=0 switch idle:0:120 -> other:11:20
  )");
  EXPECT_EQ(unmatched(Latencies::kMissedTimerOffsets), 2u)
      << "and of timer 7, that it expired twice";
}

TEST_F(TimerStory, TakesALatenessOfYearsAsADay) {
  const Task rt{.pid = 10, .priority = 20};
  const KernelEvent events[] = {
      {.kind = KernelEventKind::kTimerStart, .number = 1, .clock_ns = 0, .task = rt},
      {.kind = KernelEventKind::kTimerExpire, .number = 1, .clock_ns = INT64_MAX},
      {.kind = KernelEventKind::kWakeup, .task = rt}};
  latencies_.take(events, Timestamp());
  EXPECT_EQ(latencies_.set(Latencies::kMissedTimerOffsets).histogram(0).max_us(),
            std::chrono::microseconds(std::chrono::hours(24)).count());
}

TEST_F(TimerStory, TimerAndWakeupNeedsBothOthersOnAndGoesOffWithEither) {
  off(Measuring::kWakeup);
  EXPECT_FALSE(latencies_.is_on(Measuring::kTimerAndWakeup));
  EXPECT_EQ(latencies_.enable(Measuring::kTimerAndWakeup, 1).error().code, ErrorCode::kInvalid);
  on(Measuring::kWakeup);
  on(Measuring::kTimerAndWakeup);
  off(Measuring::kMissedTimerOffsets);
  EXPECT_FALSE(latencies_.is_on(Measuring::kTimerAndWakeup));
  EXPECT_TRUE(latencies_.is_on(Measuring::kWakeup));
  EXPECT_EQ(latencies_.enable(Measuring::kTimerAndWakeup, 1).error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(latencies_.enable(Measuring::kTimerAndWakeup, 0));
}

}  // namespace
}  // namespace tallyfs::latency_hist
