// Triggers other than hist, enable and filter files, set_event, trace and snapshot, and what is
// asked of the sources of events.
#include "core/event/event_set.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/event/stand.h"

namespace tally {
namespace {

class EventSetTest : public EventStand {};

TEST_F(EventSetTest, ListsEventsBySystemAndName) {
  EXPECT_EQ(set.render_available_events(),
            "ftrace:print\nkmem:kmalloc\nraw_syscalls:sys_enter\nsched:sched_process_exec\n"
            "sched:sched_switch\nsched:sched_waking\n");
  EXPECT_EQ(set.render_id(kmalloc), "374\n");
  EXPECT_EQ(set.render_format(kmalloc), kKmalloc);
  EXPECT_EQ(set.find("kmem", "kmalloc"), kmalloc);
  EXPECT_FALSE(set.find("kmem", "kfree"));
}

TEST_F(EventSetTest, RedefinesAnEventThatNobodyUses) {
  EXPECT_EQ(set.define_event("kmem", kKmalloc).value(), kmalloc);
  const std::string other =
      format_of("kmalloc", 375, "\tfield:int x;\toffset:8;\tsize:4;\tsigned:1;\n");
  EXPECT_EQ(set.define_event("kmem", other).value(), kmalloc);
  trigger(kmalloc, "hist:keys=x");
  EXPECT_EQ(set.define_event("kmem", kKmalloc).error().code, ErrorCode::kExists);
  EXPECT_EQ(set.define_event("a/b", kKmalloc).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(set.define_event("kmem", "junk").error().code, ErrorCode::kInvalid);
}

TEST_F(EventSetTest, EnablesEventsAloneAndTogether) {
  EXPECT_EQ(set.render_enable(waking), "0\n");
  EXPECT_EQ(set.render_enable("sched"), "0\n");
  ASSERT_TRUE(set.write_enable(waking, "1\n"));
  EXPECT_EQ(set.render_enable(waking), "1\n");
  EXPECT_EQ(set.render_enable("sched"), "X\n");
  EXPECT_EQ(set.render_enable(""), "X\n");
  EXPECT_EQ(set.render_set_event(), "sched:sched_waking\n");
  ASSERT_TRUE(set.write_enable("sched", "1"));
  EXPECT_EQ(set.render_enable("sched"), "1\n");
  EXPECT_EQ(code_of(set.write_enable(waking, "2")), ErrorCode::kInvalid);
  ASSERT_TRUE(set.write_set_event("!sched:* kmem:kmalloc"));
  EXPECT_EQ(set.render_set_event(), "kmem:kmalloc\n");
  ASSERT_TRUE(set.write_set_event("sched_switch"));
  EXPECT_EQ(set.render_set_event(), "kmem:kmalloc\nsched:sched_switch\n");
  EXPECT_FALSE(set.write_set_event("junk"));
  set.truncate_set_event();
  EXPECT_EQ(set.render_set_event(), "");
}

TEST_F(EventSetTest, EnablesAnEventByAnother) {
  trigger(exec, "enable_event:sched:sched_waking:1 if filename == \"x\"");
  EXPECT_EQ(set.render_enable(waking), "0*\n");
  EXPECT_EQ(set.render_trigger(exec),
            "enable_event:sched:sched_waking:count=1 if filename == \"x\"\n");
  feed(exec, 1, {{"filename", "y"}});
  EXPECT_EQ(set.render_enable(waking), "0*\n");
  feed(exec, 1, {{"filename", "x"}});
  EXPECT_EQ(set.render_enable(waking), "1*\n");
  EXPECT_EQ(set.render_trigger(exec),
            "enable_event:sched:sched_waking:count=0 if filename == \"x\"\n");
  trigger(switched, "disable_event:sched:sched_waking");
  EXPECT_EQ(set.render_trigger(switched), "disable_event:sched:sched_waking:unlimited\n");
  feed(switched, 1, {});
  EXPECT_EQ(set.render_enable(waking), "0*\n");
  feed(exec, 1, {{"filename", "x"}});
  EXPECT_EQ(set.render_enable(waking), "0*\n") << "only once";
  trigger(exec, "!enable_event:sched:sched_waking");
  trigger(switched, "!disable_event:sched:sched_waking");
  EXPECT_EQ(set.render_enable(waking), "0\n");
}

TEST_F(EventSetTest, StartsAndStopsHistogramsByEvents) {
  trigger(kmalloc, "hist:keys=call_site:vals=bytes_req:pause");
  trigger(exec, "enable_hist:kmem:kmalloc if filename==/usr/bin/wget");
  trigger(switched, "disable_hist:kmem:kmalloc if prev_comm==wget");
  const auto paused = [&] {
    return set.render_trigger(kmalloc).find("[paused]") != std::string::npos;
  };
  EXPECT_TRUE(paused());
  feed(exec, 1, {{"filename", "/usr/bin/wget"}});
  EXPECT_FALSE(paused());
  feed(kmalloc, 2, {{"call_site", 1}});
  feed(switched, 3, {{"prev_comm", "wget"}});
  EXPECT_TRUE(paused());
  feed(kmalloc, 4, {{"call_site", 1}});
  EXPECT_NE(hist(kmalloc).find("Hits: 1\n"), std::string::npos);
}

TEST_F(EventSetTest, StopsAndStartsTracing) {
  trigger(kmalloc, "traceoff:1 if bytes_req > 100");
  trigger(kmalloc, "traceon if bytes_req == 7");
  EXPECT_EQ(set.render_trigger(kmalloc),
            "traceon:unlimited if bytes_req == 7\ntraceoff:count=1 if bytes_req > 100\n");
  feed(kmalloc, 1, {{"bytes_req", 50}});
  EXPECT_TRUE(set.tracing_on());
  feed(kmalloc, 1, {{"bytes_req", 101}});
  EXPECT_FALSE(set.tracing_on());
  feed(kmalloc, 1, {{"bytes_req", 7}});
  EXPECT_TRUE(set.tracing_on());
  feed(kmalloc, 1, {{"bytes_req", 101}});
  EXPECT_TRUE(set.tracing_on()) << "it was to do so once";
  trigger(kmalloc, "!traceoff");
  trigger(kmalloc, "!traceon if whatever == 1 && false");
}

TEST_F(EventSetTest, CountsHistogramsWhileTracingIsOff) {
  trigger(kmalloc, "hist:keys=call_site");
  set.stop_tracing();
  feed(kmalloc, 1, {{"call_site", 1}});
  EXPECT_NE(hist(kmalloc).find("Hits: 1\n"), std::string::npos);
}

TEST_F(EventSetTest, FiltersWhatIsTraced) {
  EXPECT_EQ(set.render_filter(waking), "none\n");
  ASSERT_TRUE(set.write_filter(waking, "prio < 100\n"));
  EXPECT_EQ(set.render_filter(waking), "prio < 100\n");
  EXPECT_EQ(described(set.write_filter(waking, "prio < 100 && junk == 3")),
            "event filter parse error: Field not found\nprio < 100 && junk == 3\n"
            "              ^\n");
  EXPECT_EQ(set.render_filter(waking),
            "prio < 100 && junk == 3\n              ^\nparse_error: Field not found\n");
  ASSERT_TRUE(set.write_filter(waking, "0"));
  EXPECT_EQ(set.render_filter(waking), "none\n");
  EXPECT_EQ(set.render_system_filter("sched").substr(0, 21), "### global filter ###");
  ASSERT_TRUE(set.write_filter("sched", "prio == 3"));
  EXPECT_EQ(set.render_system_filter("sched"), "prio == 3\n");
  EXPECT_EQ(set.render_filter(waking), "prio == 3\n");
  EXPECT_EQ(set.render_filter(switched), "none\n") << "it has no such field";
  EXPECT_FALSE(set.write_filter("sched", "junk == 3"));
}

TEST_F(EventSetTest, TracesWhatIsEnabledAndPasses) {
  ASSERT_TRUE(set.write_enable(waking, "1"));
  ASSERT_TRUE(set.write_filter(waking, "prio == 19"));
  pid = 2103;
  cpu = 5;
  comm = "cyclictest";
  feed(waking, 309873125, {{"comm", "wget"}, {"pid", 7}, {"prio", 19}, {"target_cpu", -1}});
  feed(waking, 309873126, {{"comm", "wget"}, {"prio", 18}});
  feed(switched, 309873127, {});
  set.stop_tracing();
  feed(waking, 309873128, {{"prio", 19}});
  const std::string text = set.render_trace(NoSymbols());
  EXPECT_EQ(text.substr(0, text.find("   #P")),
            "# tracer: nop\n#\n# entries-in-buffer/entries-written: 1/1");
  EXPECT_EQ(text.substr(text.find("|         |\n") + 12),
            "      cyclictest-2103    [005] .....   309.873125: sched_waking: comm=wget pid=7 "
            "prio=19 target_cpu=-1\n");
  set.clear_trace();
  EXPECT_EQ(set.render_trace(NoSymbols()).find("sched_waking"), std::string::npos);
}

TEST_F(EventSetTest, TracesStacksOnRequest) {
  trigger(kmalloc, "stacktrace:1");
  EXPECT_TRUE(set.demand(kmalloc).stack);
  stack = {0x10, 0x20};
  feed(kmalloc, 1, {});
  feed(kmalloc, 2, {});
  const std::string text = set.render_trace(NoSymbols());
  EXPECT_NE(text.find(" <stack trace>\n => 0x10\n => 0x20\n"), text.npos);
  EXPECT_NE(text.find("entries-written: 1/1"), text.npos);
}

TEST_F(EventSetTest, KeepsASnapshotOfTheTrace) {
  EXPECT_NE(set.render_snapshot(NoSymbols()).find("Snapshot is freed"), std::string::npos);
  ASSERT_TRUE(set.write_enable(waking, "1"));
  trigger(kmalloc, "snapshot:1");
  feed(waking, 1, {{"comm", "before"}});
  feed(kmalloc, 2, {});
  feed(waking, 3, {{"comm", "behind"}});
  const std::string text = set.render_snapshot(NoSymbols());
  EXPECT_NE(text.find("comm=before"), text.npos);
  EXPECT_EQ(text.find("comm=behind"), text.npos);
  EXPECT_EQ(set.render_trace(NoSymbols()).find("comm=before"), text.npos) << "it moved";
  EXPECT_NE(set.render_trace(NoSymbols()).find("comm=behind"), text.npos);
  set.clear_snapshot();
  EXPECT_NE(set.render_snapshot(NoSymbols()).find("Snapshot is freed"), std::string::npos);
}

TEST_F(EventSetTest, ForgetsTheOldestTraces) {
  EventSet small({.trace_bytes_max = 4096});
  const EventNumber event = small.define_event("sched", kSchedWaking).value();
  ASSERT_TRUE(small.write_enable(event, "1"));
  for (std::int64_t i = 0; i < 1000; ++i) {
    const std::string bytes = bytes_of(waking, {{"pid", i}});
    small.feed({.event = event, .time_ns = 1, .bytes = bytes, .comm = "x"});
    const std::string text = small.render_trace(NoSymbols());
    ASSERT_NE(text.find(" pid=" + std::to_string(i) + " "), text.npos) << i;
    const auto lines = std::count(text.begin(), text.end(), '\n') - 12;
    ASSERT_EQ(static_cast<std::uint64_t>(lines) + small.counts().trace_overwritten,
              static_cast<std::uint64_t>(i) + 1);
    ASSERT_TRUE(i <= 100 || lines > 20);
  }
}

TEST_F(EventSetTest, AsksOfTheSourcesOnlyWhatIsNeeded) {
  EXPECT_TRUE(set.take_changed_demands().empty());
  trigger(waking, "hist:keys=pid if prio < 100");
  EXPECT_EQ(set.take_changed_demands(), std::vector<EventNumber>{waking});
  EXPECT_EQ(set.demand(waking), (Demand{.on = true, .filter = "prio < 100"}));
  trigger(waking, "hist:keys=prio if prio < 100");
  EXPECT_TRUE(set.take_changed_demands().empty());
  trigger(waking, "hist:keys=common_stacktrace,common_comm");
  EXPECT_EQ(set.demand(waking), (Demand{.on = true, .stack = true, .comm = true}));
  set.truncate_trigger(waking);
  EXPECT_EQ(set.demand(waking), Demand{});
  EXPECT_EQ(set.take_changed_demands(), std::vector<EventNumber>{waking});
  trigger(exec, "enable_event:sched:sched_waking");
  EXPECT_TRUE(set.demand(waking).on) << "it may be wanted from one event to the next";
}

TEST_F(EventSetTest, TakesInRecordsOfSomeProcessesOnly) {
  trigger(kmalloc, "hist:keys=common_pid");
  ASSERT_TRUE(set.write_set_event_pid("42 7\n"));
  ASSERT_TRUE(set.write_set_event_pid("7 8"));
  EXPECT_EQ(set.render_set_event_pid(), "7\n8\n42\n");
  EXPECT_EQ(described(set.write_set_event_pid("9 x")),
            "set_event_pid: Not a process id\n9 x\n  ^\n");
  for (const int who : {7, 9, 42}) {
    pid = who;
    feed(kmalloc, 1, {});
  }
  EXPECT_NE(hist(kmalloc).find("Hits: 2\n"), std::string::npos);
  EXPECT_EQ(set.counts().records_of_others, 1u);
  set.truncate_set_event_pid();
  EXPECT_EQ(set.render_set_event_pid(), "");
  feed(kmalloc, 1, {});
  EXPECT_NE(hist(kmalloc).find("Hits: 3\n"), std::string::npos);
}

TEST_F(EventSetTest, RefusesATriggerTwice) {
  trigger(kmalloc, "traceoff");
  EXPECT_EQ(code_of(set.write_trigger(kmalloc, "traceoff:3")), ErrorCode::kExists);
  trigger(kmalloc, "enable_event:sched:sched_waking");
  trigger(kmalloc, "enable_event:sched:sched_switch");
  EXPECT_EQ(code_of(set.write_trigger(kmalloc, "enable_event:sched:sched_switch:5")),
            ErrorCode::kExists);
  set.truncate_trigger(kmalloc);
  EXPECT_EQ(set.render_trigger(kmalloc)[0], '#');
}

}  // namespace
}  // namespace tally
