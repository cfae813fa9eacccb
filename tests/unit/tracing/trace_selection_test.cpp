// Which records are traced: by process, by CPU, while the trace pauses, and when it is full.
#include <string>

#include "tests/unit/tracing/fixture.h"

namespace tallyfs::tracing {
namespace {

class TraceSelectionTest : public EventFixture {};

TEST_F(TraceSelectionTest, TracesSwitchesAndWakeupsOfTheListedProcesses) {
  ASSERT_TRUE(set.switches.write(switched, "1"));
  ASSERT_TRUE(set.switches.write(waking, "1"));
  ASSERT_TRUE(set.selection.write_pids("7"));
  pid = 9;
  feed(switched, 1, {{"next_pid", 7}});
  feed(switched, 2, {{"next_pid", 8}});
  feed(waking, 3, {{"pid", 7}});
  feed(waking, 4, {{"pid", 8}});
  EXPECT_NE(set.trace.copy().render(NoSymbols()).find("entries-written: 2/2"), std::string::npos);
}

TEST_F(TraceSelectionTest, FollowsForks) {
  EXPECT_EQ(code_of(set.follower.set_on(true)), ErrorCode::kInvalid) << "no such events";
  const auto fork =
      set.events.define_fields("sched", "sched_process_fork pid_t parent_pid; pid_t child_pid");
  const auto exit = set.events.define_fields("sched", "sched_process_exit pid_t pid");
  ASSERT_TRUE(fork && exit);
  ASSERT_TRUE(set.selection.write_pids("7"));
  ASSERT_TRUE(set.selection.write_notrace_pids("8"));
  feed(fork.value(), 1, {{"parent_pid", 7}, {"child_pid", 70}});
  ASSERT_TRUE(set.follower.set_on(true));
  EXPECT_TRUE(set.demands.of(fork.value()).on);
  EXPECT_TRUE(set.demands.of(exit.value()).on);
  feed(fork.value(), 2, {{"parent_pid", 7}, {"child_pid", 71}});
  feed(fork.value(), 3, {{"parent_pid", 71}, {"child_pid", 72}});
  feed(fork.value(), 4, {{"parent_pid", 8}, {"child_pid", 80}});
  feed(fork.value(), 5, {{"parent_pid", 9}, {"child_pid", 90}});
  EXPECT_EQ(TraceSelection::text(set.selection.pids()), "7\n71\n72\n");
  EXPECT_EQ(TraceSelection::text(set.selection.notrace_pids()), "8\n80\n");
  feed(exit.value(), 6, {{"pid", 71}});
  feed(exit.value(), 7, {{"pid", 80}});
  EXPECT_EQ(TraceSelection::text(set.selection.pids()), "7\n72\n");
  EXPECT_EQ(TraceSelection::text(set.selection.notrace_pids()), "8\n");
  // What it still does on its way counts as before, until another process gets its id.
  ASSERT_TRUE(set.switches.write(kmalloc, "1"));
  const auto written = [&] {
    const std::string text = set.trace.copy().render_stats(0, 0);
    return text.substr(0, text.find('\n'));
  };
  pid = 71;
  feed(kmalloc, 8, {});
  EXPECT_EQ(written(), "entries: 1");
  feed(fork.value(), 9, {{"parent_pid", 9}, {"child_pid", 71}});
  feed(kmalloc, 10, {});
  EXPECT_EQ(written(), "entries: 1");
  for (const int who : {7, 72}) feed(exit.value(), 10, {{"pid", who}});
  pid = 1;
  feed(kmalloc, 10, {});
  EXPECT_EQ(written(), "entries: 1") << "a list whose processes have all ended still counts";
  ASSERT_TRUE(set.selection.write_pids("7 72"));
  ASSERT_TRUE(set.follower.set_on(false));
  EXPECT_FALSE(set.demands.of(fork.value()).on);
  feed(fork.value(), 11, {{"parent_pid", 7}, {"child_pid", 73}});
  EXPECT_EQ(TraceSelection::text(set.selection.pids()), "7\n72\n");
}

TEST_F(TraceSelectionTest, LeavesOutWhatHappensWhileItPauses) {
  ASSERT_TRUE(set.switches.write(kmalloc, "1"));
  trigger(kmalloc, "hist:keys=common_pid");
  set.trace.begin_pause(100'000);
  set.trace.begin_pause(110'000);
  feed(kmalloc, 99, {});
  feed(kmalloc, 100, {});
  set.trace.end_pause(120'000);
  feed(kmalloc, 130, {});
  set.trace.end_pause(140'000);
  feed(kmalloc, 139, {});
  feed(kmalloc, 140, {});
  EXPECT_NE(set.trace.copy().render(NoSymbols()).find("entries-written: 2/2"), std::string::npos);
  EXPECT_EQ(set.trace.left_out(), 3u);
  EXPECT_NE(hist(kmalloc).find("Hits: 5\n"), std::string::npos) << "triggers go on";
  set.trace.begin_pause(200'000);
  feed(kmalloc, 139, {});
  EXPECT_EQ(set.trace.left_out(), 3u) << "only the last pause counts";
  set.trace.end_pause(210'000);
  set.trace.clear();
  EXPECT_EQ(set.trace.left_out(), 0u);
}

TEST_F(TraceSelectionTest, KeepsTheOldestIfTheyAreNotOverwritten) {
  EventSet small({.trace_bytes_max = 4096});
  const EventNumber event = small.events.define_event("sched", kSchedWaking).value();
  ASSERT_TRUE(small.switches.write(event, "1"));
  small.trace.set_overwrites(false);
  const auto feed_pid = [&](std::int64_t who) {
    const std::string bytes = bytes_of(waking, {{"pid", who}});
    small.feed({.event = event, .time_ns = 1, .bytes = bytes});
  };
  for (std::int64_t i = 0; i < 1000; ++i) feed_pid(i);
  const TraceCopy full = small.trace.copy();
  EXPECT_NE(full.render(NoSymbols()).find(" pid=0 "), std::string::npos);
  const std::string stats = full.render_stats(0, 0);
  EXPECT_NE(stats.find("overrun: 0\n"), std::string::npos) << stats;
  const auto kept = std::stoul(stats.substr(stats.find("entries: ") + 9));
  EXPECT_NE(stats.find("dropped events: " + std::to_string(1000 - kept) + "\n"), stats.npos);
  // What is read makes room, also at the start of the ring.
  (void)small.trace.take(1024);
  feed_pid(5000);
  EXPECT_NE(small.trace.copy().render(NoSymbols()).find(" pid=5000 "), std::string::npos);
  small.trace.take_snapshot();
  for (std::int64_t i = 0; i < 1000; ++i) feed_pid(i);
  EXPECT_NE(small.trace.copy().render(NoSymbols()).find(" pid=0 "), std::string::npos);
}

TEST_F(TraceSelectionTest, TracesSomeCpusOnly) {
  ASSERT_TRUE(set.switches.write(kmalloc, "1"));
  EXPECT_EQ(TraceSelection::cpumask_text(set.selection.left_out_cpus(), 4), "f\n");
  EXPECT_EQ(TraceSelection::cpumask_text(set.selection.left_out_cpus(), 34), "3,ffffffff\n");
  ASSERT_TRUE(set.selection.write_cpumask("2\n", 4));
  EXPECT_EQ(TraceSelection::cpumask_text(set.selection.left_out_cpus(), 4), "2\n");
  for (cpu = 0; cpu < 3; ++cpu) feed(kmalloc, 1, {});
  EXPECT_NE(set.trace.copy().render(NoSymbols()).find("entries-written: 1/1"), std::string::npos);
  trigger(kmalloc, "hist:keys=common_cpu");
  for (const char* const none : {"0", "0,00000000\n"}) {
    ASSERT_TRUE(set.selection.write_cpumask(none, 4)) << none;
    EXPECT_EQ(TraceSelection::cpumask_text(set.selection.left_out_cpus(), 4), "0\n");
  }
  for (cpu = 0; cpu < 3; ++cpu) feed(kmalloc, 1, {});
  EXPECT_NE(set.trace.copy().render(NoSymbols()).find("entries-written: 1/1"), std::string::npos);
  EXPECT_NE(hist(kmalloc).find("Hits: 0\n"), std::string::npos) << "no CPU, no count";
  for (const char* const bad : {"", "10", "g", "1,", "123456789", "0x3"}) {
    EXPECT_EQ(code_of(set.selection.write_cpumask(bad, 4)), ErrorCode::kInvalid) << bad;
  }
  ASSERT_TRUE(set.selection.write_cpumask("1,00000003", 64));
  EXPECT_EQ(TraceSelection::cpumask_text(set.selection.left_out_cpus(), 64), "00000001,00000003\n");
}

}  // namespace
}  // namespace tallyfs::tracing
