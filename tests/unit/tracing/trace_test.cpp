// What enabled events leave behind, and how it is shown: trace, snapshot, per_cpu.
#include <algorithm>
#include <string>

#include "tests/unit/tracing/fixture.h"

namespace tallyfs::tracing {
namespace {

class TraceTest : public EventFixture {};

TEST_F(TraceTest, TracesWhatIsEnabledAndPasses) {
  ASSERT_TRUE(set.switches.write(waking, "1"));
  ASSERT_TRUE(set.filters.write(waking, "prio == 19"));
  pid = 2103;
  cpu = 5;
  comm = "cyclictest";
  feed(waking, 309873125, {{"comm", "wget"}, {"pid", 7}, {"prio", 19}, {"target_cpu", -1}});
  feed(waking, 309873126, {{"comm", "wget"}, {"prio", 18}});
  feed(switched, 309873127, {});
  set.trace.set_on(false);
  feed(waking, 309873128, {{"prio", 19}});
  const std::string text = set.trace.copy().render(NoSymbols());
  EXPECT_EQ(text.substr(0, text.find("   #P")),
            "# tracer: nop\n#\n# entries-in-buffer/entries-written: 1/1");
  EXPECT_EQ(text.substr(text.find("|         |\n") + 12),
            "      cyclictest-2103    [005] .....   309.873125: sched_waking: comm=wget pid=7 "
            "prio=19 target_cpu=-1\n");
  set.trace.clear();
  EXPECT_EQ(set.trace.copy().render(NoSymbols()).find("sched_waking"), std::string::npos);
}

TEST_F(TraceTest, TracesStacksOnRequest) {
  trigger(kmalloc, "stacktrace:1");
  EXPECT_TRUE(set.demands.of(kmalloc).stack);
  stack = {0x10, 0x20};
  feed(kmalloc, 1, {});
  feed(kmalloc, 2, {});
  const std::string text = set.trace.copy().render(NoSymbols());
  EXPECT_NE(text.find(" <stack trace>\n => 0x10\n => 0x20\n"), text.npos);
  EXPECT_NE(text.find("entries-written: 1/1"), text.npos);
}

TEST_F(TraceTest, KeepsASnapshotOfTheTrace) {
  EXPECT_NE(set.trace.copy_snapshot().render(NoSymbols()).find("Snapshot is freed"),
            std::string::npos);
  ASSERT_TRUE(set.switches.write(waking, "1"));
  trigger(kmalloc, "snapshot:1");
  EXPECT_NE(set.trace.copy_snapshot().render(NoSymbols()).find("Snapshot is allocated"),
            std::string::npos);
  feed(waking, 1, {{"comm", "before"}});
  feed(kmalloc, 2, {});
  feed(waking, 3, {{"comm", "behind"}});
  const std::string text = set.trace.copy_snapshot().render(NoSymbols());
  EXPECT_NE(text.find("comm=before"), text.npos);
  EXPECT_EQ(text.find("comm=behind"), text.npos);
  EXPECT_EQ(set.trace.copy().render(NoSymbols()).find("comm=before"), text.npos) << "it moved";
  EXPECT_NE(set.trace.copy().render(NoSymbols()).find("comm=behind"), text.npos);
  set.trace.clear_snapshot();
  EXPECT_NE(set.trace.copy_snapshot().render(NoSymbols()).find("Snapshot is allocated"),
            std::string::npos);
  set.trace.free_snapshot();
  EXPECT_NE(set.trace.copy_snapshot().render(NoSymbols()).find("Snapshot is freed"),
            std::string::npos);
  set.trace.clear_snapshot();
  EXPECT_NE(set.trace.copy_snapshot().render(NoSymbols()).find("Snapshot is freed"),
            std::string::npos);
  trigger(waking, "hist:keys=pid:p=prio:onmax($p).snapshot()");
  EXPECT_TRUE(set.trace.copy_snapshot()
                  .render(NoSymbols())
                  .starts_with("# tracer: nop\n#\n#\n# * Snapshot is allocated *\n#\n"));
}

TEST_F(TraceTest, ForgetsTheOldestTraces) {
  EventSet small({.trace_bytes_max = 4096});
  const EventNumber event = small.events.define_event("sched", kSchedWaking).value();
  ASSERT_TRUE(small.switches.write(event, "1"));
  for (std::int64_t i = 0; i < 1000; ++i) {
    const std::string bytes = bytes_of(waking, {{"pid", i}});
    small.feed({.event = event, .time_ns = 1, .bytes = bytes, .comm = "x"});
    const std::string text = small.trace.copy().render(NoSymbols());
    ASSERT_NE(text.find(" pid=" + std::to_string(i) + " "), text.npos) << i;
    const auto lines = std::count(text.begin(), text.end(), '\n') - 12;
    ASSERT_EQ(static_cast<std::uint64_t>(lines) + small.counts().trace_overwritten,
              static_cast<std::uint64_t>(i) + 1);
    ASSERT_TRUE(i <= 100 || lines > 20);
  }
}

TEST_F(TraceTest, TracesSomeProcessesOnlyAndTriggersSeeAll) {
  trigger(kmalloc, "hist:keys=common_pid");
  ASSERT_TRUE(set.switches.write(kmalloc, "1"));
  ASSERT_TRUE(set.selection.write_pids("42 7\n"));
  ASSERT_TRUE(set.selection.write_pids("7 8"));
  EXPECT_EQ(TraceSelection::text(set.selection.pids()), "7\n8\n42\n");
  EXPECT_EQ(described(set.selection.write_pids("9 x")),
            "set_event_pid: Not a process id (0 to 4194303)\n9 x\n  ^\n");
  for (const int who : {7, 9, 42}) {
    pid = who;
    feed(kmalloc, 1, {});
  }
  EXPECT_NE(hist(kmalloc).find("Hits: 3\n"), std::string::npos);
  EXPECT_EQ(set.counts().records_of_others, 1u);
  EXPECT_NE(set.trace.copy().render(NoSymbols()).find("entries-written: 2/2"), std::string::npos);
  ASSERT_TRUE(set.selection.write_notrace_pids("42"));
  EXPECT_EQ(TraceSelection::text(set.selection.notrace_pids()), "42\n");
  feed(kmalloc, 1, {});
  EXPECT_EQ(set.counts().records_of_others, 2u);
  set.selection.clear_notrace_pids();
  set.selection.clear_pids();
  EXPECT_EQ(TraceSelection::text(set.selection.pids()), "");
  pid = 9;
  feed(kmalloc, 1, {});
  EXPECT_NE(set.trace.copy().render(NoSymbols()).find("entries-written: 3/3"), std::string::npos);
}

TEST_F(TraceTest, TakesTheOldestRecordsOutOfTheTrace) {
  ASSERT_TRUE(set.switches.write(kmalloc, "1"));
  comm = "make";
  pid = 42;
  for (cpu = 0; cpu < 3; ++cpu) feed(kmalloc, 1, {{"bytes_req", cpu}});
  EXPECT_EQ(set.trace.copy().render_saved_cmdlines({}, 128), "42 make\n");
  const std::string first = set.trace.take(1).render(NoSymbols(), {.header = false});
  EXPECT_NE(first.find("bytes_req=0"), std::string::npos) << first;
  EXPECT_EQ(std::ranges::count(first, '\n'), 1);
  const std::string others = set.trace.take(1 << 16).render(NoSymbols(), {.header = false});
  EXPECT_EQ(std::ranges::count(others, '\n'), 2);
  EXPECT_FALSE(!set.trace.is_empty());
  EXPECT_NE(set.trace.copy().render(NoSymbols()).find("entries-in-buffer/entries-written: 0/0"),
            std::string::npos);
  feed(kmalloc, 1, {});
  EXPECT_TRUE(!set.trace.is_empty());
}

TEST_F(TraceTest, SaysOfEachCpuHowManyRecordsThereAre) {
  ASSERT_TRUE(set.switches.write(kmalloc, "1"));
  for (cpu = 0; cpu < 2; ++cpu) feed(kmalloc, 5 + cpu, {{"bytes_req", cpu}});
  feed(kmalloc, 7, {});
  (void)set.trace.take(1);
  cpu = 1;
  feed(kmalloc, 8, {{"bytes_req", 8}});
  const auto stats = set.trace.copy().render_stats(1, 2'000'000'000);
  EXPECT_EQ(stats.substr(0, stats.find("bytes")), "entries: 2\noverrun: 0\ncommit overrun: 0\n");
  EXPECT_NE(stats.find("oldest event ts:     0.000006\nnow ts:     2.000000\n"), stats.npos)
      << stats;
  EXPECT_NE(set.trace.copy().render_stats(0, 0).find("read events: 1\n"), stats.npos);
  const std::string text = set.trace.copy().render(NoSymbols(), {.cpus = 2, .only_cpu = 1});
  EXPECT_NE(text.find("#P:2\n"), text.npos);
  EXPECT_NE(text.find("bytes_req=8"), text.npos);
  EXPECT_EQ(text.find("bytes_req=0"), text.npos);
}

TEST_F(TraceTest, AMarkOfWhatWasLostIsNoEntry) {
  const auto counted = [this] {
    const std::string text = set.trace.copy().render(NoSymbols());
    const std::string key = "entries-written: ";
    const std::size_t at = text.find(key) + key.size();
    return text.substr(at, text.find(' ', at) - at);
  };
  const auto stats = [this] { return set.trace.copy().render_stats(0, 0); };
  set.trace.add_gap(1, 2);
  set.trace.add_gap(2, 2);
  EXPECT_NE(set.trace.copy().render(NoSymbols()).find("CPU:1 [LOST EVENTS]\n"), std::string::npos);
  EXPECT_EQ(counted(), "0/0");
  EXPECT_NE(stats().find("entries: 0\noverrun: 0\n"), std::string::npos) << stats();
  (void)set.trace.take(1 << 20);
  EXPECT_FALSE(!set.trace.is_empty());
  EXPECT_NE(stats().find("read events: 0\n"), std::string::npos) << stats();
  set.trace.resize(8 * 1024);
  for (std::uint64_t i = 0; i < 1'000; ++i) set.trace.add_gap(3 + i, 1);
  EXPECT_EQ(counted(), "0/0") << "those that gave way";
  EXPECT_NE(stats().find("entries: 0\noverrun: 0\n"), std::string::npos) << stats();
}

// Whatever has happened to the ring: what is copied is what is in it.
TEST_F(TraceTest, ACopyHasWhatIsThereAndTakesNoMoreRoom) {
  ASSERT_TRUE(set.switches.write(waking, "1"));
  EXPECT_EQ(set.trace.kept_bytes(), 0u);
  set.trace.resize(4'096);
  std::uint64_t fed = 0, first = 0;
  const auto shown = [this] {
    std::vector<std::string> pids;
    const std::string text = set.trace.copy().render(NoSymbols());
    for (std::size_t at = text.find(" pid="); at != text.npos; at = text.find(" pid=", at + 1)) {
      pids.push_back(text.substr(at + 5, text.find(' ', at + 1) - at - 5));
    }
    return pids;
  };
  for (int turn = 0; turn < 300; ++turn) {
    fed += 1;
    feed(waking, fed, {{"comm", "x"}, {"pid", static_cast<int>(fed)}});
    if (turn % 7 == 6) {
      const auto before = shown();
      (void)set.trace.take(turn % 2 == 0 ? 600 : 1);
      const auto behind = shown();
      ASSERT_LT(behind.size(), before.size());
    }
    const auto pids = shown();
    first = fed - pids.size() + 1;
    for (const std::string& each : pids)
      ASSERT_EQ(each, std::to_string(first++)) << "turn " << turn;
    ASSERT_LE(set.trace.kept_bytes(), 4'096u);
    ASSERT_LE(set.trace.kept_bytes(), pids.size() * 256);
    ASSERT_GE(set.trace.kept_bytes(), pids.size() * 32);
  }
  set.trace.clear();
  EXPECT_EQ(set.trace.kept_bytes(), 0u) << "though its room is there";
}

TEST_F(TraceTest, KeepsTheNewestRecordsInASmallerBuffer) {
  ASSERT_TRUE(set.switches.write(kmalloc, "1"));
  for (std::int64_t i = 0; i < 1000; ++i) feed(kmalloc, 1, {{"bytes_req", i}});
  set.trace.resize(8192);
  EXPECT_EQ(set.trace.bytes(), 8192u);
  const std::string text = set.trace.copy().render(NoSymbols());
  EXPECT_NE(text.find("bytes_req=999"), text.npos);
  EXPECT_EQ(text.find("bytes_req=1 "), text.npos);
  EXPECT_GT(set.counts().trace_overwritten, 800u);
  set.trace.resize(1 << 20);
  EXPECT_NE(set.trace.copy().render(NoSymbols()).find("bytes_req=999"), text.npos);
}

TEST_F(TraceTest, NamesTheLastProcessesOnly) {
  ASSERT_TRUE(set.switches.write(kmalloc, "1"));
  for (const char* const name : {"make", "cc", "ld", "make"}) {
    comm = name;
    pid = name[0];
    feed(kmalloc, 1, {});
  }
  EXPECT_EQ(set.trace.copy().render_saved_cmdlines({}, 2), "108 ld\n109 make\n");
  EXPECT_EQ(set.trace.copy().render_saved_cmdlines({}, 3), "99 cc\n108 ld\n109 make\n");
}

// common_flags, common_preempt_count and the letters that the kernel's documentation has for them.
TEST_F(TraceTest, ShowsWhatTheProcessorWasIn) {
  ASSERT_TRUE(set.switches.write(kmalloc, "1"));
  struct Case {
    int flags, depths;
    const char* shown;
  };
  for (const auto& [flags, depths, shown] : {
           Case{0x00, 0x00, "....."},
           Case{0x01, 0x01, "d..1."},
           Case{0x80, 0x00, "b...."},
           Case{0x81, 0x00, "D...."},
           Case{0x04, 0x00, ".n..."},
           Case{0x20, 0x00, ".p..."},
           Case{0x24, 0x00, ".N..."},
           Case{0x02, 0x00, ".l..."},
           Case{0x06, 0x00, ".b..."},
           Case{0x22, 0x00, ".L..."},
           Case{0x26, 0x00, ".B..."},
           Case{0x08, 0x00, "..h.."},
           Case{0x10, 0x00, "..s.."},
           Case{0x18, 0x00, "..H.."},
           Case{0x40, 0x00, "..z.."},
           Case{0x48, 0x00, "..Z.."},
           Case{0x19, 0x3c, "d.Hc3"},
           Case{0x01, 0xf0, "d...f"},
       }) {
    set.trace.clear();
    feed(kmalloc, 1, {{"common_flags", flags}, {"common_preempt_count", depths}});
    EXPECT_NE(set.trace.copy()
                  .render(NoSymbols())
                  .find(std::string("[000] ") + shown + "     0.000001: "),
              std::string::npos)
        << shown << " for " << flags;
  }
}

TEST_F(TraceTest, ASyntheticEventHappensWhereItsCauseDoes) {
  const EventNumber wakeup = synthetic("wakeup pid_t pid");
  ASSERT_TRUE(set.switches.write(wakeup, "1"));
  trigger(waking, "hist:keys=pid:p=pid:onmatch(sched.sched_waking).wakeup($p)");
  feed(waking, 1, {{"pid", 7}, {"common_flags", 1}, {"common_preempt_count", 2}});
  EXPECT_NE(set.trace.copy().render(NoSymbols()).find(" d..2.     0.000001: wakeup: pid=7\n"),
            std::string::npos)
      << set.trace.copy().render(NoSymbols());
}

TEST_F(TraceTest, ShowsATextAsLongAsItIs) {
  ASSERT_TRUE(set.switches.write(exec, "1"));
  ASSERT_TRUE(set.filters.write(exec, "filename ~ \"*end\""));
  const std::string path = std::string(1000, 'x') + "end";
  feed(exec, 1, {{"filename", path}});
  EXPECT_NE(set.trace.copy().render(NoSymbols()).find("filename=" + path + " pid=0"),
            std::string::npos);
}

TEST_F(TraceTest, CountsWhatGaveWaySinceItWasCleared) {
  const auto counts = [this](const TraceBuffer::View& view) {
    const std::string text = set.trace.copy().render(NoSymbols(), view);
    const std::size_t at = text.find("written: ") + 9;
    return text.substr(at, text.find(' ', at) - at);
  };
  ASSERT_TRUE(set.switches.write(kmalloc, "1"));
  set.trace.resize(8192);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    cpu = i % 2;
    feed(kmalloc, 1, {});
  }
  const std::string all = counts({}), second = counts({.only_cpu = 1});
  EXPECT_TRUE(all.ends_with("/1000")) << all;
  EXPECT_TRUE(second.ends_with("/500")) << second;
  set.trace.clear(1);
  EXPECT_EQ(counts({.only_cpu = 1}), "0/0");
  set.trace.clear();
  EXPECT_EQ(counts({}), "0/0");
  feed(kmalloc, 1, {});
  EXPECT_EQ(counts({}), "1/1");
  EXPECT_NE(set.trace.copy().render_stats(1, 0).find("overrun: 0\n"), std::string::npos);
}

}  // namespace
}  // namespace tallyfs::tracing
