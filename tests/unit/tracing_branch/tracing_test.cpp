#include "core/tracing/branch/tracing.h"

#include <algorithm>

#include "tests/unit/tracing_branch/tracing_fixture.h"

namespace tallyfs::tracing {
namespace {

const std::string kHist = "hist:keys=pid";

std::string error_of(const Result<void>& done) {
  return done ? "nothing"
              : done.error().location + "|" + done.error().reason + "|" + done.error().text;
}

TEST_F(TracingTest, EntersSystemsAndEventsAtALookup) {
  ASSERT_TRUE(offer(kernel_, "sched_waking", kWaking));
  const auto events = tree_.lookup(directory_, "events").value();
  EXPECT_EQ(events.subdirectories, 0u);
  EXPECT_EQ(list("events"),
            (std::vector<std::string>{"enable", "header_event", "header_page", "ftrace", "sched"}));
  EXPECT_EQ(list("events/sched"), (std::vector<std::string>{"enable", "filter", "sched_waking"}));
  EXPECT_EQ(list("events/sched/sched_waking"),
            (std::vector<std::string>{"enable", "filter", "format", "hist", "hist.json", "id",
                                      "trigger"}));
  EXPECT_EQ(list("events/ftrace/print"),
            (std::vector<std::string>{"format", "hist", "hist.json", "id", "trigger"}));
  EXPECT_EQ(list("events/ftrace"), (std::vector<std::string>{"kernel_stack", "print", "raw_data"}));
  ASSERT_TRUE(offer(kernel_, "sched_switch", kSwitch));
  EXPECT_EQ(list("events/sched").back(), "sched_switch");
}

TEST_F(TracingTest, AsksTheSourceBeforeATriggersWriteReturns) {
  ASSERT_TRUE(offer(kernel_, "sched_waking", kWaking));
  EXPECT_EQ(kernel_.orders, 0);
  ASSERT_TRUE(write("events/sched/sched_waking/trigger", kHist + " if prio < 100\n"));
  EXPECT_EQ(kernel_.is_wanted,
            (std::vector<WantedEvent>{{kWaking, {.on = true, .filter = "prio < 100"}}}));
  ASSERT_TRUE(write("events/sched/sched_waking/trigger", "!" + kHist + " if prio < 100\n"));
  EXPECT_TRUE(kernel_.is_wanted.empty());
}

TEST_F(TracingTest, TakesATriggerOffAgainThatTheSourceRefuses) {
  ASSERT_TRUE(offer(kernel_, "sched_waking", kWaking));
  kernel_.answer = Error{ErrorCode::kNoDevice, "no feeder"};
  const auto done = write("events/sched/sched_waking/trigger", kHist);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kNoDevice);
  EXPECT_EQ(read("events/sched/sched_waking/trigger").substr(0, 20), "# Available triggers");
  EXPECT_TRUE(kernel_.is_wanted.empty());
  EXPECT_FALSE(write("events/sched/sched_waking/enable", "1"));
  EXPECT_EQ(read("events/sched/sched_waking/enable"), "0\n");
  EXPECT_FALSE(write("events/sched/enable", "1"));
  EXPECT_EQ(read("events/enable"), "0\n");
  EXPECT_FALSE(write("set_event", "sched:*"));
  EXPECT_EQ(read("set_event"), "");
}

TEST_F(TracingTest, SaysWhereTheKernelsEventsComeFromWhereThereAreNone) {
  const auto reason = [&] { return write("set_event", "sched:sched_switch").error().reason; };
  EXPECT_EQ(reason(), "No such event (the kernel's are there with tallyfs -o tracefs)");
  ASSERT_TRUE(offer(kernel_, "sched_waking", kWaking));
  EXPECT_EQ(reason(), "No such event");
}

TEST_F(TracingTest, ASourceThatIsGoneDoesNotKeepThingsTurnedOn) {
  ASSERT_TRUE(offer(kernel_, "sched_waking", kWaking));
  ASSERT_TRUE(write("events/sched/sched_waking/enable", "1"));
  kernel_.answer = Error{ErrorCode::kNoDevice, "no feeder"};
  EXPECT_TRUE(write("events/sched/sched_waking/enable", "0"));
  EXPECT_EQ(read("events/sched/sched_waking/enable"), "0\n");
}

TEST_F(TracingTest, FeedsOnlyWhatIsAskedFor) {
  ASSERT_TRUE(offer(kernel_, "sched_waking", kWaking));
  feed(kernel_, kWaking, 7, 1);
  ASSERT_TRUE(write("events/sched/sched_waking/trigger", kHist));
  feed(kernel_, kWaking, 7, 1);
  feed(kernel_, kSwitch, 7, 1);
  EXPECT_NE(
      read("events/sched/sched_waking/hist").find("{ pid:          7 } hitcount:          1\n"),
      std::string::npos);
}

TEST_F(TracingTest, DrainsTheSourceBeforeWhatItShows) {
  ASSERT_TRUE(offer(kernel_, "sched_waking", kWaking));
  read("trace");
  EXPECT_EQ(kernel_.drains, 0) << "nothing is asked of it";
  ASSERT_TRUE(write("events/sched/sched_waking/trigger", kHist));
  for (const char* const path : {"events/sched/sched_waking/hist", "trace", "tracing_on",
                                 "snapshot", "events/sched/sched_waking/enable", "events/enable"}) {
    const int before = kernel_.drains;
    read(path);
    EXPECT_EQ(kernel_.drains, before + 1) << path;
  }
  const int before = kernel_.drains;
  read("events/sched/sched_waking/trigger");
  read("events/sched/sched_waking/format");
  EXPECT_EQ(kernel_.drains, before);
}

TEST_F(TracingTest, KeepsEventsOfAWithdrawnSourceThatTriggersAreSetOn) {
  ASSERT_TRUE(offer(kernel_, "sched_waking", kWaking));
  ASSERT_TRUE(offer(kernel_, "sched_switch", kSwitch));
  ASSERT_TRUE(write("events/sched/sched_waking/trigger", kHist + " if prio == 1"));
  feed(kernel_, kWaking, 7, 1);
  tracing_.withdraw(kernel_, clock_.now());
  EXPECT_EQ(read("available_events"), "sched:sched_waking\n");
  EXPECT_EQ(write("events/sched/sched_waking/enable", "1").error().code, ErrorCode::kNoDevice);
  EXPECT_EQ(read("events/sched/sched_waking/enable"), "0\n");
  // The next one that offers it is asked for what waits.
  FakeSource next;
  ASSERT_TRUE(offer(next, "sched_waking", kWaking));
  EXPECT_EQ(next.is_wanted,
            (std::vector<WantedEvent>{{kWaking, {.on = true, .filter = "prio == 1"}}}));
  feed(next, kWaking, 7, 1);
  EXPECT_NE(read("events/sched/sched_waking/hist").find("hitcount:          2\n"),
            std::string::npos);
  tracing_.withdraw(next, clock_.now());
}

TEST_F(TracingTest, AnEventIsOneSourcesOnly) {
  ASSERT_TRUE(offer(kernel_, "sched_waking", kWaking));
  FakeSource other;
  EXPECT_EQ(offer(other, "sched_waking", 1).error().code, ErrorCode::kExists);
  EXPECT_TRUE(offer(kernel_, "sched_waking", kWaking));
  EXPECT_FALSE(offer(other, "print", 5, "ftrace"));
  EXPECT_FALSE(offer(other, "wakeup_latency", 5, "synthetic"));
  EXPECT_EQ(offer(other, "far", Tracing::kSourceIdsMax).error().code, ErrorCode::kNoSpace);
}

TEST_F(TracingTest, AnOfferThatIsRefusedChangesNothing) {
  ASSERT_TRUE(offer(kernel_, "sched_waking", kWaking));
  const std::string before = read("events/sched/sched_waking/format");
  FakeSource other;
  const auto define = [&](std::string_view fields) {
    return tracing_.offer(
        other,
        {.system = "sched", .form = EventOffer::Form::kFields, .text = fields, .source_id = 1},
        clock_.now());
  };
  EXPECT_EQ(define("sched_waking u64 lat").error().code, ErrorCode::kExists);
  EXPECT_EQ(read("events/sched/sched_waking/format"), before);
  EXPECT_FALSE(define("other junk lat"));
  EXPECT_EQ(read("available_events"), "sched:sched_waking\n");
  // Nor while the kernel's feeder is being started again.
  ASSERT_TRUE(write("events/sched/sched_waking/trigger", kHist));
  tracing_.withdraw(kernel_, clock_.now());
  EXPECT_EQ(define("sched_waking u64 lat").error().code, ErrorCode::kExists);
  EXPECT_EQ(read("events/sched/sched_waking/format"), before);
  ASSERT_TRUE(offer(kernel_, "sched_waking", kWaking));
}

TEST_F(TracingTest, WhatIsInUseInAnInstanceIsRedefinedInNone) {
  ASSERT_TRUE(offer(kernel_, "sched_waking", kWaking));
  const auto instances = tree_.rules(node("instances").value().id).value();
  ASSERT_TRUE(instances->make_directory("foo", clock_.now()));
  ASSERT_TRUE(write("instances/foo/events/sched/sched_waking/trigger", kHist));
  const std::string before = read("events/sched/sched_waking/format");
  EXPECT_EQ(offer(kernel_, "sched_waking", kWaking + 1).error().code, ErrorCode::kExists);
  EXPECT_EQ(read("events/sched/sched_waking/format"), before);
  EXPECT_TRUE(offer(kernel_, "sched_waking", kWaking));
}

TEST_F(TracingTest, NothingIsKeptOfAnUnusedEventWithoutASource) {
  ASSERT_TRUE(offer(kernel_, "sched_waking", kWaking));
  ASSERT_TRUE(offer(kernel_, "sched_switch", kSwitch));
  ASSERT_TRUE(write("events/sched/sched_waking/trigger", kHist));
  ASSERT_TRUE(write("events/ftrace/print/trigger", "enable_hist:sched:sched_switch"));
  tracing_.withdraw(kernel_, clock_.now());
  EXPECT_EQ(read("available_events"), "sched:sched_switch\nsched:sched_waking\n");
  ASSERT_TRUE(write("events/sched/sched_waking/trigger", "!" + kHist));
  EXPECT_EQ(read("available_events"), "sched:sched_switch\n");
  EXPECT_FALSE(node("events/sched/sched_waking"));
  // As `echo > trigger` does; the write after the truncation finds its file.
  ASSERT_TRUE(truncate("events/ftrace/print/trigger"));
  EXPECT_EQ(read("available_events"), "sched:sched_switch\n");
  ASSERT_TRUE(write("events/ftrace/print/trigger", "\n"));
  EXPECT_EQ(read("available_events"), "");
  EXPECT_FALSE(node("events/sched"));
}

TEST_F(TracingTest, AnEventWithoutASourceGoesWithTheInstanceThatUsedIt) {
  ASSERT_TRUE(offer(kernel_, "sched_waking", kWaking));
  const auto instances = tree_.rules(node("instances").value().id).value();
  ASSERT_TRUE(instances->make_directory("foo", clock_.now()));
  ASSERT_TRUE(write("instances/foo/events/sched/sched_waking/trigger", kHist));
  tracing_.withdraw(kernel_, clock_.now());
  EXPECT_EQ(read("available_events"), "sched:sched_waking\n");
  ASSERT_TRUE(instances->remove_directory("foo", clock_.now()));
  EXPECT_EQ(read("available_events"), "");
}

TEST_F(TracingTest, ShowsRefusalsWithTheKernelsWords) {
  ASSERT_TRUE(offer(kernel_, "sched_waking", kWaking));
  EXPECT_EQ(error_of(write("events/sched/sched_waking/trigger", "hist:keys=pid:vals=junk\n")),
            "hist:sched:sched_waking|Couldn't find field|hist:keys=pid:vals=junk");
  ASSERT_TRUE(write("events/sched/sched_waking/trigger", kHist));
  EXPECT_EQ(write("events/sched/sched_waking/trigger", kHist).error().code, ErrorCode::kExists);
  EXPECT_EQ(write("events/sched/sched_waking/format", "x").error().code, ErrorCode::kNoAccess);
}

TEST_F(TracingTest, InstancesAreSetsOfTheirOwn) {
  ASSERT_TRUE(offer(kernel_, "sched_waking", kWaking));
  const auto instances = tree_.rules(node("instances").value().id).value();
  ASSERT_TRUE(instances->make_directory("foo", clock_.now()));
  EXPECT_EQ(instances->make_directory("foo", clock_.now()).error().code, ErrorCode::kExists);
  ASSERT_TRUE(write("instances/foo/events/sched/sched_waking/trigger", kHist));
  ASSERT_TRUE(write("events/sched/sched_waking/trigger", "hist:keys=prio if prio == 3"));
  EXPECT_EQ(kernel_.is_wanted, (std::vector<WantedEvent>{{kWaking, {.on = true}}}));
  feed(kernel_, kWaking, 7, 3);
  EXPECT_NE(read("instances/foo/events/sched/sched_waking/hist").find("{ pid:          7 }"),
            std::string::npos);
  EXPECT_NE(read("events/sched/sched_waking/hist").find("{ prio:          3 }"), std::string::npos);
  ASSERT_TRUE(instances->remove_directory("foo", clock_.now()));
  EXPECT_EQ(kernel_.is_wanted,
            (std::vector<WantedEvent>{{kWaking, {.on = true, .filter = "prio == 3"}}}));
  EXPECT_FALSE(node("instances/foo"));
  feed(kernel_, kWaking, 7, 3);
}

TEST_F(TracingTest, AnInstanceStaysAsLongAsAFileOfItIsOpen) {
  const auto instances = tree_.rules(node("instances").value().id).value();
  ASSERT_TRUE(instances->make_directory("foo", clock_.now()));
  auto held = file("instances/foo/tracing_on")->hold(File::Access::kWrite, {});
  ASSERT_TRUE(held);
  EXPECT_EQ(instances->remove_directory("foo", clock_.now()).error().code, ErrorCode::kBusy);
  held.value().reset();
  EXPECT_TRUE(instances->remove_directory("foo", clock_.now()));
}

// A write that had found its file when the directory went must leave nothing behind that records
// are fed to.
TEST_F(TracingTest, AFileOfAnInstanceThatWentChangesNothing) {
  ASSERT_TRUE(offer(kernel_, "sched_waking", kWaking));
  const auto instances = tree_.rules(node("instances").value().id).value();
  ASSERT_TRUE(instances->make_directory("foo", clock_.now()));
  auto trigger = file("instances/foo/events/sched/sched_waking/trigger");
  const auto events = tree_.rules(node("instances/foo/events").value().id).value();
  ASSERT_TRUE(instances->remove_directory("foo", clock_.now()));
  EXPECT_EQ(trigger->write_line(kHist, clock_.now()).error().code, ErrorCode::kStale);
  EXPECT_EQ(trigger->truncate(clock_.now()).error().code, ErrorCode::kStale);
  EXPECT_EQ(trigger->hold(File::Access::kWrite, {}).error().code, ErrorCode::kStale);
  events->entered(clock_.now());
  EXPECT_TRUE(kernel_.is_wanted.empty());
  trigger.reset();
  feed(kernel_, kWaking, 7, 3);
  ASSERT_TRUE(offer(kernel_, "sched_switch", kSwitch));
}

TEST_F(TracingTest, SyntheticEventsAreThoseOfAllInstances) {
  ASSERT_TRUE(offer(kernel_, "sched_waking", kWaking));
  const auto instances = tree_.rules(node("instances").value().id).value();
  ASSERT_TRUE(write("synthetic_events", "one u64 lat; pid_t pid\n# a comment\n\ntwo u64 lat\n"));
  ASSERT_TRUE(instances->make_directory("foo", clock_.now()));
  ASSERT_TRUE(write("dynamic_events", "s:synthetic/three u64 lat"));
  EXPECT_EQ(list("instances/foo/events/synthetic"),
            (std::vector<std::string>{"enable", "filter", "one", "three", "two"}));
  ASSERT_TRUE(write("instances/foo/events/synthetic/two/trigger", "hist:keys=lat"));
  EXPECT_EQ(write("synthetic_events", "!two u64 lat").error().code, ErrorCode::kBusy);
  EXPECT_EQ(truncate("synthetic_events").error().code, ErrorCode::kBusy);
  EXPECT_EQ(read("synthetic_events"), "one\tu64 lat; pid_t pid\ntwo\tu64 lat\nthree\tu64 lat\n");
  ASSERT_TRUE(truncate("instances/foo/events/synthetic/two/trigger"));
  ASSERT_TRUE(truncate("synthetic_events"));
  EXPECT_EQ(read("synthetic_events"), "");
  EXPECT_FALSE(node("instances/foo/events/synthetic"));
}

TEST_F(TracingTest, LeavesOutTheDaemonsOwnThreads) {
  ASSERT_TRUE(offer(kernel_, "sched_waking", kWaking));
  ASSERT_TRUE(offer(kernel_, "other", 9, "kmem"));
  tracing_.leave_out({500, 501});
  ASSERT_TRUE(write("events/sched/sched_waking/trigger", "hist:keys=pid"));
  ASSERT_TRUE(write("events/kmem/other/trigger", "hist:keys=pid"));
  feed(kernel_, kWaking, 500, 1, 7);  // wakes one of them
  feed(kernel_, kWaking, 7, 1, 500);  // one of them wakes another task
  feed(kernel_, 9, 7, 1, 501);        // what one of them does
  EXPECT_NE(read("events/sched/sched_waking/hist").find("Hits: 0\n"), std::string::npos);
  EXPECT_NE(read("events/kmem/other/hist").find("Hits: 0\n"), std::string::npos);
}

TEST_F(TracingTest, CountsWhatAnInterruptDoesWhileOneOfTheDaemonsThreadsRuns) {
  ASSERT_TRUE(offer(kernel_, "sched_waking", kWaking));
  tracing_.leave_out({500});
  ASSERT_TRUE(write("events/sched/sched_waking/trigger", "hist:keys=pid"));
  feed_in_interrupt(kernel_, kWaking, 7, 500, 0x08);
  feed_in_interrupt(kernel_, kWaking, 8, 500, 0x11);
  feed_in_interrupt(kernel_, kWaking, 500, 500, 0x08);
  const std::string waking = read("events/sched/sched_waking/hist");
  EXPECT_NE(waking.find("{ pid:          7 }"), std::string::npos);
  EXPECT_NE(waking.find("{ pid:          8 }"), std::string::npos);
  EXPECT_EQ(waking.find("{ pid:        500 }"), std::string::npos);
}

// A trigger counts a switch for the task that its keys name.
TEST_F(TracingTest, LeavesOutOfASwitchTheTaskThatIsTheDaemons) {
  ASSERT_TRUE(offer_switch(kernel_, kSwitch));
  tracing_.leave_out({500, 501});
  const auto hits = [&](const std::string& keys) {
    const std::string trigger = "hist:keys=" + keys;
    EXPECT_TRUE(write("events/sched/sched_switch/trigger", trigger));
    feed_switch(kernel_, kSwitch, 7, 8);
    feed_switch(kernel_, kSwitch, 500, 8);
    feed_switch(kernel_, kSwitch, 7, 501);
    feed_switch(kernel_, kSwitch, 500, 501);
    const std::string text = read("events/sched/sched_switch/hist");
    EXPECT_TRUE(write("events/sched/sched_switch/trigger", "!" + trigger));
    EXPECT_EQ(text.find(" 50"), std::string::npos) << text;
    return text.substr(text.find("Hits: "), 7);
  };
  EXPECT_EQ(hits("next_pid"), "Hits: 2") << "8 came twice";
  EXPECT_EQ(hits("prev_pid"), "Hits: 2") << "7 went twice";
  EXPECT_EQ(hits("common_pid"), "Hits: 2");
  EXPECT_EQ(hits("prev_pid,next_pid"), "Hits: 1");
  EXPECT_EQ(hits("common_cpu"), "Hits: 1");
  ASSERT_TRUE(write("events/sched/sched_switch/enable", "1"));
  feed_switch(kernel_, kSwitch, 500, 8);
  feed_switch(kernel_, kSwitch, 7, 501);
  EXPECT_EQ(read("trace").find("sched_switch:"), std::string::npos);
  feed_switch(kernel_, kSwitch, 7, 8);
  EXPECT_NE(read("trace").find("sched_switch:"), std::string::npos);
}

class SmallLedgerTest : public TracingTest {
 protected:
  SmallLedgerTest()
      : TracingTest({.per_uid = {.interfaces = 100, .statistics = 100, .bytes = 2u << 20}}) {}
};

TEST_F(SmallLedgerTest, HistogramsAndInstancesStandInTheLedger) {
  ASSERT_TRUE(offer(kernel_, "sched_waking", kWaking));
  const auto instances = tree_.rules(node("instances").value().id).value();
  EXPECT_EQ(instances->make_directory("foo", clock_.now()).error().code, ErrorCode::kNoSpace);
  const auto refused = write("events/sched/sched_waking/trigger", kHist + ":size=131072");
  EXPECT_EQ(refused.error().code, ErrorCode::kNoSpace);
  EXPECT_EQ(read("events/sched/sched_waking/trigger").substr(0, 20), "# Available triggers");
  const auto before = ledger_.total().bytes;
  EXPECT_EQ(write("buffer_size_kb", "8192").error().code, ErrorCode::kNoSpace);
  EXPECT_EQ(read("buffer_size_kb"), "4096\n");
  ASSERT_TRUE(write("buffer_size_kb", "4608"));
  EXPECT_EQ(ledger_.total().bytes, before + (1u << 20)) << "with a snapshot";
  ASSERT_TRUE(write("buffer_size_kb", "64"));
  EXPECT_EQ(ledger_.total().bytes, before);
  ASSERT_TRUE(write("events/sched/sched_waking/trigger", kHist));
  EXPECT_GT(ledger_.total().bytes, before);
  ASSERT_TRUE(write("events/sched/sched_waking/trigger", "!" + kHist));
  EXPECT_EQ(ledger_.total().bytes, before);
}

TEST_F(TracingTest, NewsOfAHistogramAreItsHits) {
  ASSERT_TRUE(offer(kernel_, "sched_waking", kWaking));
  ASSERT_TRUE(write("events/sched/sched_waking/trigger", kHist));
  const auto hist = file("events/sched/sched_waking/hist");
  const auto before = hist->news(clock_.now());
  feed(kernel_, kWaking, 7, 3);
  EXPECT_NE(hist->news(clock_.now()), before);
  EXPECT_FALSE(file("trace")->news(clock_.now()));
}

TEST_F(TracingTest, FilesThatAreAlwaysSoSayWhatElseIsRefused) {
  EXPECT_EQ(read("current_tracer"), "nop\n");
  EXPECT_TRUE(write("current_tracer", "nop\n"));
  EXPECT_FALSE(write("current_tracer", "function\n"));
  EXPECT_TRUE(write("trace_clock", "mono\n"));
  EXPECT_EQ(read("trace_clock"), "local global [mono] perf\n");
  EXPECT_FALSE(write("trace_clock", "counter\n"));
  EXPECT_EQ(
      error_of(write("events/ftrace/print/trigger", "hist:keys=common_timestamp:clock=counter")),
      "hist:ftrace:print|Couldn't set trace_clock|hist:keys=common_timestamp:clock=counter");
  EXPECT_TRUE(write("options/stacktrace", "1"));
  EXPECT_EQ(read("options/stacktrace"), "1\n");
  EXPECT_FALSE(write("options/event-fork", "1")) << "no event tells of forks";
  EXPECT_EQ(read("options/event-fork"), "0\n");
  EXPECT_TRUE(write("tracing_on", "0"));
  EXPECT_EQ(read("tracing_on"), "0\n");
  EXPECT_FALSE(write("tracing_on", "junk"));
  EXPECT_NE(read("README").find("hist:keys=<field1[,field2,...]>"), std::string::npos);
}

}  // namespace
}  // namespace tallyfs::tracing
