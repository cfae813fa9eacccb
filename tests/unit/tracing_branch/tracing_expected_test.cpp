// The kernel's events in the server that takes over in a reload, while their feeder starts anew.
#include <string>

#include "tests/unit/tracing_branch/tracing_daemon.h"

namespace tallyfs::tracing {
namespace {

constexpr const char* kWakingAt = "events/sched/sched_waking/";

std::string waking(const char* file) { return std::string(kWakingAt).append(file); }
std::string other(const char* file) {
  return std::string("events/sched/sched_other/").append(file);
}

class TracingExpectedTest : public testing::Test {
 protected:
  TracingExpectedTest() {
    offer_all(before_);
    EXPECT_TRUE(before_.make_directory("instances/deep"));
    EXPECT_TRUE(before_.write("events/sched/sched_switch/trigger", "hist:keys=pid"));
    hand_over(before_, next_);
  }
  static void hand_over(TracingDaemon& from, TracingDaemon& to) {
    SavedObjects left;
    from.branch().save_for_successor(left, from.now());
    to.branch().tracing().expect(to.kernel());
    EXPECT_TRUE(to.load(left));
  }
  static void offer_all(TracingDaemon& daemon) {
    EXPECT_TRUE(daemon.offer("sched_waking", kWaking));
    EXPECT_TRUE(daemon.offer("sched_switch", kSwitch));
  }

  FakeClock clock_;
  TracingDaemon before_{clock_}, next_{clock_};
  Tracing& tracing_ = next_.branch().tracing();
};

TEST_F(TracingExpectedTest, AllFilesAreThereAtOnce) {
  for (const char* const file : {"format", "id", "hist", "trigger", "enable", "filter"}) {
    EXPECT_NE(next_.read(waking(file)), "(none)") << file;
    EXPECT_EQ(next_.read(waking(file)), before_.read(waking(file))) << file;
    const std::string deep = "instances/deep/" + waking(file);
    EXPECT_EQ(next_.read(deep), before_.read(deep)) << file;
  }
  EXPECT_EQ(next_.read("available_events"), before_.read("available_events"));
  EXPECT_EQ(next_.kernel().orders, 0);
}

TEST_F(TracingExpectedTest, TheyGoOnWhenTheyAreOffered) {
  EXPECT_TRUE(tracing_.misses_expected());
  ASSERT_TRUE(next_.offer("sched_waking", kWaking));
  EXPECT_TRUE(tracing_.misses_expected());
  ASSERT_TRUE(next_.offer("sched_switch", kSwitch));
  EXPECT_FALSE(tracing_.misses_expected());
  tracing_.end_expecting(clock_.now());
  EXPECT_EQ(next_.read("available_events"), before_.read("available_events"));
  next_.feed(kSwitch, 7, 1);
  before_.feed(kSwitch, 7, 1);
  EXPECT_EQ(next_.read("events/sched/sched_switch/hist"),
            before_.read("events/sched/sched_switch/hist"));
}

TEST_F(TracingExpectedTest, RecordsOfTheFeederBeforeCount) {
  next_.feed(kSwitch, 7, 1);
  before_.feed(kSwitch, 7, 1);
  EXPECT_NE(next_.read("events/sched/sched_switch/hist").find("Hits: 1"), std::string::npos);
  EXPECT_EQ(next_.read("events/sched/sched_switch/hist"),
            before_.read("events/sched/sched_switch/hist"));
  tracing_.end_expecting(clock_.now());
  next_.feed(kSwitch, 7, 1);
  EXPECT_EQ(next_.read("events/sched/sched_switch/hist"),
            before_.read("events/sched/sched_switch/hist"))
      << "nothing leads from its id any more";
}

TEST_F(TracingExpectedTest, AnotherIdOfAnExpectedEventTakesTheFirstOnesPlace) {
  ASSERT_TRUE(next_.offer("sched_switch", kSwitch + 100));
  ASSERT_TRUE(next_.offer("sched_other", kSwitch));
  next_.feed(kSwitch, 7, 1);
  EXPECT_EQ(next_.read("events/sched/sched_switch/hist").find("Hits: 1"), std::string::npos);
  next_.feed(kSwitch + 100, 7, 1);
  EXPECT_NE(next_.read("events/sched/sched_switch/hist").find("Hits: 1"), std::string::npos);
}

TEST_F(TracingExpectedTest, AnIdOfAnEventThatWentIsThatOfTheOneThatHasItNow) {
  before_.branch().tracing().withdraw(before_.kernel(), clock_.now());
  ASSERT_TRUE(before_.offer("sched_other", kSwitch));
  ASSERT_TRUE(before_.write(other("trigger"), "hist:keys=pid"));
  TracingDaemon after(clock_), last(clock_);
  hand_over(before_, after);
  hand_over(after, last);
  for (TracingDaemon* const each : {&after, &last}) {
    each->feed(kSwitch, 7, 1);
    EXPECT_NE(each->read(other("hist")).find("Hits: 1"), std::string::npos);
    EXPECT_EQ(each->read("events/sched/sched_switch/hist").find("Hits: 1"), std::string::npos);
  }
}

TEST_F(TracingExpectedTest, TheEndLeavesAnIdThatAnotherEventHasNow) {
  ASSERT_TRUE(next_.offer("sched_other", kSwitch));
  ASSERT_TRUE(next_.write(other("trigger"), "hist:keys=pid"));
  tracing_.end_expecting(clock_.now());
  next_.feed(kSwitch, 7, 1);
  EXPECT_NE(next_.read(other("hist")).find("Hits: 1"), std::string::npos);
}

TEST_F(TracingExpectedTest, ARefusedWriteLeavesAnIdThatAnotherEventHasNow) {
  ASSERT_TRUE(next_.offer("sched_other", kWaking));
  ASSERT_TRUE(next_.write(other("trigger"), "hist:keys=pid"));
  EXPECT_EQ(next_.write(waking("enable"), "1").error().code, ErrorCode::kNoDevice);
  next_.feed(kWaking, 7, 1);
  EXPECT_NE(next_.read(other("hist")).find("Hits: 1"), std::string::npos);
}

TEST_F(TracingExpectedTest, AWriteWaitsForTheOffer) {
  next_.kernel().answer = Error{ErrorCode::kNoDevice, "it has not started yet"};
  next_.kernel().at_want = [this] {
    if (next_.kernel().orders != 2) return;
    next_.kernel().at_want = {};
    next_.kernel().answer = {};
    offer_all(next_);
  };
  const auto written = next_.write(waking("enable"), "1");
  EXPECT_TRUE(written) << written.error().reason;
  ASSERT_EQ(next_.kernel().is_wanted.size(), 2u);
  EXPECT_EQ(next_.kernel().is_wanted[1].source_id, kWaking);
  EXPECT_EQ(next_.read(waking("enable")), "1\n");
}

TEST_F(TracingExpectedTest, AWriteIsRefusedIfTheOfferDoesNotCome) {
  next_.kernel().answer = Error{ErrorCode::kNoDevice, "it has not started yet"};
  next_.kernel().at_want = [this] {
    if (next_.kernel().orders == 2) tracing_.end_expecting(clock_.now());
  };
  EXPECT_EQ(next_.write(waking("enable"), "1").error().code, ErrorCode::kNoDevice);
  EXPECT_EQ(next_.read(waking("enable")), "(none)") << "nothing is set on it";
}

TEST_F(TracingExpectedTest, AWriteIsRefusedWhenTheWaitsEndAndTheEventsStay) {
  next_.kernel().answer = Error{ErrorCode::kNoDevice, "it has not started yet"};
  next_.kernel().at_want = [this] {
    if (next_.kernel().orders == 2) tracing_.end_waits();
    if (next_.kernel().orders == 9) tracing_.end_expecting(clock_.now());
  };
  EXPECT_EQ(next_.write(waking("enable"), "1").error().code, ErrorCode::kNoDevice);
  EXPECT_EQ(next_.read("available_events"), before_.read("available_events"));
  EXPECT_EQ(next_.read(waking("enable")), "0\n");
}

TEST_F(TracingExpectedTest, AWriteIsRefusedIfTheSourceHasAnotherEventOnly) {
  next_.kernel().at_want = [this] {
    next_.kernel().at_want = {};
    ASSERT_TRUE(next_.offer("sched_switch", kSwitch));
  };
  EXPECT_EQ(next_.write(waking("enable"), "1").error().code, ErrorCode::kNoDevice);
}

TEST_F(TracingExpectedTest, WritesToOthersRemoveNone) {
  ASSERT_TRUE(next_.write("trace_marker", "text\n"));
  ASSERT_TRUE(next_.write("events/sched/sched_switch/trigger", "!hist:keys=pid"));
  EXPECT_EQ(next_.read("available_events"), before_.read("available_events"));
}

TEST_F(TracingExpectedTest, WhatIsNotOfferedIsGoneAtTheEndUnlessItIsInUse) {
  tracing_.end_expecting(clock_.now());
  EXPECT_EQ(next_.read(waking("format")), "(none)");
  EXPECT_EQ(next_.read("instances/deep/" + waking("format")), "(none)");
  EXPECT_EQ(next_.read("events/sched/sched_switch/trigger"),
            before_.read("events/sched/sched_switch/trigger"));
  EXPECT_FALSE(tracing_.misses_expected());
}

TEST_F(TracingExpectedTest, AReloadMeanwhileLosesNone) {
  TracingDaemon third(clock_);
  hand_over(next_, third);
  EXPECT_EQ(third.read("available_events"), before_.read("available_events"));
}

}  // namespace
}  // namespace tallyfs::tracing
