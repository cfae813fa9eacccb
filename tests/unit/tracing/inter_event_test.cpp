// Variables, references by key, synthetic events, handlers and actions: the examples of the
// inter-event documentation on records made by hand, and the rules behind them.
#include <gtest/gtest.h>

#include "tests/unit/tracing/wakeups.h"

namespace tallyfs::tracing {
namespace {

class InterEventTest : public WakeupFixture {};

TEST_F(InterEventTest, MeasuresWakeupLatencyAsTheDocumentationDoes) {
  const EventNumber latency = synthetic("wakeup_latency u64 lat; pid_t pid; int prio");
  trigger(waking,
          "hist:keys=$saved_pid:saved_pid=pid:ts0=common_timestamp.usecs \\\n"
          "   if comm==\"cyclictest\"");
  trigger(switched,
          "hist:keys=next_pid:wakeup_lat=common_timestamp.usecs-$ts0:\\\n"
          "  onmatch(sched.sched_waking).wakeup_latency($wakeup_lat,\\\n"
          "      $saved_pid,next_prio) if next_comm==\"cyclictest\"");
  trigger(latency, "hist:keys=pid,prio,lat:sort=pid,lat");
  wake(100, 2255);
  wake(103, 2256);
  wake(104, 99, "other");
  run(107, 2255);
  run(120, 2256);
  run(121, 99, "other");
  wake(200, 2255);
  run(207, 2255);
  EXPECT_EQ(entries(latency),
            "{ pid:       2255, prio:         19, lat:          7 } hitcount:          2\n"
            "{ pid:       2256, prio:         19, lat:         17 } hitcount:          1\n");
  EXPECT_EQ(triggers_text(set.triggers.lines(waking)),
            "hist:keys=pid:vals=hitcount:saved_pid=pid,ts0=common_timestamp.usecs:sort=hitcount:"
            "size=2048:clock=global if comm==\"cyclictest\" [active]\n");
  EXPECT_EQ(triggers_text(set.triggers.lines(switched)),
            "hist:keys=next_pid:vals=hitcount:wakeup_lat=common_timestamp.usecs-$ts0:sort=hitcount:"
            "size=2048:clock=global:onmatch(sched.sched_waking).wakeup_latency($wakeup_lat,"
            "$saved_pid,next_prio) if next_comm==\"cyclictest\" [active]\n");
}

TEST_F(InterEventTest, KeepsTheContextOfTheLargestLatency) {
  trigger(waking, "hist:keys=pid:ts0=common_timestamp.usecs if comm==\"cyclictest\"");
  trigger(switched,
          "hist:keys=next_pid:wakeup_lat=common_timestamp.usecs-$ts0:"
          "onmax($wakeup_lat).save(next_comm,prev_pid,prev_prio,prev_comm) "
          "if next_comm==\"cyclictest\"");
  wake(100, 2255);
  run(127, 2255);
  wake(200, 2255);
  run(203, 2255);
  EXPECT_EQ(entries(switched),
            "{ next_pid:       2255 } hitcount:          2\n"
            "\tmax:         27  next_comm: cyclictest                        prev_pid:          0"
            "  prev_prio:        120  prev_comm: swapper/1                       \n");
}

TEST_F(InterEventTest, TakesASnapshotAtTheLargestOfAll) {
  trigger(waking, "hist:keys=pid:ts0=common_timestamp.usecs");
  trigger(switched,
          "hist:keys=next_pid:wakeup_lat=common_timestamp.usecs-$ts0:"
          "onmax($wakeup_lat).save(next_prio):onmax($wakeup_lat).snapshot()");
  wake(100, 2101);
  run(152, 2101);
  wake(200, 2103);
  run(772, 2103);
  wake(900, 2101);
  run(974, 2101);
  const std::string text = entries(switched);
  EXPECT_NE(text.find("\nSnapshot taken (see tracing/snapshot).  Details:\n"
                      "\ttriggering value { onmax($wakeup_lat) }:        572"
                      "\ttriggered by event with key: { next_pid:       2103 }\n"),
            text.npos)
      << text;
  EXPECT_NE(text.find("{ next_pid:       2101 } hitcount:          2\n\tmax:         74"
                      "  next_prio:         19\n"),
            text.npos);
}

TEST_F(InterEventTest, TellsWhenAValueChanges) {
  trigger(waking, "hist:keys=pid:p=prio:onchange($p).save(comm):onchange($p).snapshot()");
  feed(waking, 1, {{"pid", 7}, {"prio", 0}, {"comm", "zero"}});
  EXPECT_EQ(entries(waking).find("Snapshot"), std::string::npos) << "it starts at 0";
  feed(waking, 2, {{"pid", 7}, {"prio", 10}, {"comm", "first"}});
  feed(waking, 3, {{"pid", 7}, {"prio", 10}, {"comm", "second"}});
  EXPECT_EQ(entries(waking),
            "{ pid:          7 } hitcount:          3\n\tchanged:         10  comm: first" +
                std::string(27, ' ') +
                "\n\nSnapshot taken (see tracing/snapshot).  Details:\n"
                "\ttriggering value { onchange($p) }:         10"
                "\ttriggered by event with key: { pid:          7 }\n");
}

TEST_F(InterEventTest, ComparesTrackedValuesWithoutSign) {
  trigger(waking, "hist:keys=pid:p=prio:onmax($p).save(comm)");
  feed(waking, 1, {{"pid", 7}, {"prio", -1}, {"comm", "minus"}});
  feed(waking, 2, {{"pid", 7}, {"prio", 100}, {"comm", "plus"}});
  EXPECT_NE(entries(waking).find("max: 18446744073709551615  comm: minus"), std::string::npos);
}

TEST_F(InterEventTest, ReadsAVariableOnceInAnExpression) {
  trigger(waking, "hist:keys=pid:ts0=common_timestamp.usecs");
  trigger(switched, "hist:keys=next_pid:lat=common_timestamp.usecs-$ts0");
  wake(1, 7);
  run(2, 7);
  run(3, 7);
  EXPECT_EQ(entries(switched), "{ next_pid:          7 } hitcount:          1\n");
}

TEST_F(InterEventTest, ReadsAVariableAsOftenAsAskedOutsideOfExpressions) {
  trigger(waking, "hist:keys=pid:p=prio");
  trigger(switched, "hist:keys=next_pid:vals=$p:sort=next_pid");
  run(1, 7);
  wake(1, 7);
  run(2, 7);
  run(3, 7);
  EXPECT_EQ(entries(switched), "{ next_pid:          7 } hitcount:          2  p:         38\n");
}

TEST_F(InterEventTest, DoesNotCountWhatOneReferenceIsMissingFor) {
  trigger(waking, "hist:keys=pid:p=prio");
  trigger(kmalloc, "hist:keys=bytes_req:a=bytes_alloc");
  trigger(switched, "hist:keys=next_pid:vals=$p,$a");
  wake(1, 7);
  run(2, 7);
  EXPECT_EQ(entries(switched), "");
  feed(kmalloc, 3, {{"bytes_req", 7}, {"bytes_alloc", 8}});
  run(4, 7);
  EXPECT_EQ(entries(switched),
            "{ next_pid:          7 } hitcount:          1  p:         19  a:          8\n");
}

TEST_F(InterEventTest, SumsVariablesOfItsOwn) {
  trigger(kmalloc, "hist:keys=call_site:vals=$a,$b:a=bytes_req,b=bytes_alloc");
  feed(kmalloc, 1, {{"call_site", 1}, {"bytes_req", 10}, {"bytes_alloc", 16}});
  EXPECT_EQ(entries(kmalloc),
            "{ call_site:          1 } hitcount:          1  bytes_req:         10"
            "  bytes_alloc:         16\n");
  trigger(kmalloc, "hist:keys=call_site:waste=bytes_alloc-bytes_req:vals=$waste");
  feed(kmalloc, 1, {{"call_site", 1}, {"bytes_req", 10}, {"bytes_alloc", 16}});
  EXPECT_NE(entries(kmalloc).find("{ call_site:          1 } hitcount:          1  waste:       "
                                  "   6\n"),
            std::string::npos);
}

TEST_F(InterEventTest, TakesAKeyByTheNameOfAVariable) {
  trigger(kmalloc, "hist:timer_pid=common_pid:key=timer_pid");
  EXPECT_EQ(triggers_text(set.triggers.lines(kmalloc)),
            "hist:keys=common_pid:vals=hitcount:timer_pid=common_pid:sort=hitcount:size=2048 "
            "[active]\n");
}

TEST_F(InterEventTest, GeneratesEventsOfTheEventItself) {
  const EventNumber test = synthetic("wakeup_new_test pid_t pid");
  trigger(waking,
          "hist:keys=$testpid:testpid=pid:onmatch(sched.sched_waking).wakeup_new_test($testpid) "
          "if comm==\"cyclictest\"");
  trigger(test, "hist:keys=pid:sort=pid");
  wake(1, 7);
  wake(2, 8, "other");
  EXPECT_EQ(entries(test), "{ pid:          7 } hitcount:          1\n");
}

TEST_F(InterEventTest, TakesTheTraceKeyword) {
  const EventNumber test = synthetic("wakeup_new_test pid_t pid");
  const std::string command =
      "hist:keys=pid:testpid=pid:onmatch(sched.sched_waking).trace(wakeup_new_test,$testpid)";
  trigger(waking, command);
  trigger(test, "hist:keys=pid");
  wake(1, 7);
  EXPECT_EQ(entries(test), "{ pid:          7 } hitcount:          1\n");
  EXPECT_NE(triggers_text(set.triggers.lines(waking))
                .find(":onmatch(sched.sched_waking).trace(wakeup_new_test,$testpid) [active]\n"),
            std::string::npos);
  trigger(test, "!hist:keys=pid");
  trigger(waking, "!" + command);
  EXPECT_EQ(hist(waking), "");
}

TEST_F(InterEventTest, ChainsHistograms) {
  const EventNumber wakeup = synthetic("wakeup_latency u64 lat; pid_t pid");
  const EventNumber both = synthetic("wakeupswitch u64 lat; pid_t pid");
  trigger(waking, "hist:keys=pid:ts0=common_timestamp.usecs");
  trigger(switched,
          "hist:keys=next_pid:lat=common_timestamp.usecs-$ts0:"
          "onmatch(sched.sched_waking).wakeup_latency($lat,next_pid)");
  trigger(wakeup, "hist:keys=pid:wakeup_lat=lat");
  trigger(kmalloc, "hist:keys=common_pid:switchtime_lat=bytes_req");
  trigger(sys_enter,
          "hist:keys=common_pid:total=$wakeup_lat+$switchtime_lat:"
          "onmatch(synthetic.wakeup_latency).wakeupswitch($total,common_pid)");
  trigger(both, "hist:keys=lat,pid");
  pid = 7;
  wake(100, 7);
  run(140, 7);
  feed(kmalloc, 141, {{"bytes_req", 2}});
  feed(sys_enter, 142, {});
  feed(sys_enter, 143, {});
  EXPECT_EQ(entries(both), "{ lat:         42, pid:          7 } hitcount:          1\n");
}

TEST_F(InterEventTest, MakesAHiddenHistogramForAFieldOfTheMatchingEvent) {
  const EventNumber test = synthetic("test int prio; int target");
  trigger(waking, "hist:keys=pid:ts0=common_timestamp.usecs if comm==\"cyclictest\"");
  const std::string command =
      "hist:keys=next_pid:lat=common_timestamp.usecs-$ts0:"
      "onmatch(sched.sched_waking).test(next_prio,sched.sched_waking.target_cpu)";
  trigger(switched, command);
  trigger(test, "hist:keys=prio,target");
  EXPECT_EQ(triggers_text(set.triggers.lines(waking)),
            "hist:keys=pid:vals=hitcount:synthetic_target_cpu=target_cpu:sort=hitcount:size=2048 "
            "if comm==\"cyclictest\" [active]\n"
            "hist:keys=pid:vals=hitcount:ts0=common_timestamp.usecs:sort=hitcount:size=2048:"
            "clock=global if comm==\"cyclictest\" [active]\n");
  feed(waking, 1, {{"pid", 7}, {"comm", "cyclictest"}, {"target_cpu", 5}});
  run(3, 7);
  EXPECT_EQ(entries(test), "{ prio:         19, target:          5 } hitcount:          1\n");
  EXPECT_EQ(code_of(set.commands.write(
                waking, "!hist:keys=pid:synthetic_target_cpu=target_cpu if comm==\"cyclictest\"")),
            ErrorCode::kBusy);
  trigger(switched, "!" + command);
  EXPECT_EQ(triggers_text(set.triggers.lines(waking)).find("synthetic_target_cpu"),
            std::string::npos)
      << "it goes with the one that needed it";
}

TEST_F(InterEventTest, CarriesTextsAndStacksThroughSyntheticEvents) {
  const EventNumber block = synthetic(
      "block_lat pid_t pid; u64 delta; unsigned long[] stack; char[] name; char comm[16]");
  trigger(switched,
          "hist:keys=prev_pid:ts=common_timestamp.usecs,st=stacktrace,who=prev_comm if prev_state "
          "== 2");
  trigger(waking,
          "hist:keys=pid:delta=common_timestamp.usecs-$ts,s=$st,w=$who:"
          "onmax($delta).trace(block_lat,pid,$delta,$s,$w,comm)");
  trigger(block, "hist:keys=delta.buckets=100,stack.stacktrace:sort=delta");
  trigger(block, "hist:keys=name,comm");
  stack = {0x11, 0x22};
  feed(switched, 100, {{"prev_pid", 7}, {"prev_state", 2}, {"prev_comm", "blocked"}});
  stack = {};
  feed(waking, 150, {{"pid", 7}, {"comm", "waker"}});
  EXPECT_EQ(
      hist(block),
      "# event histogram\n#\n# trigger info: hist:keys=name,comm:vals=hitcount:sort=hitcount:"
      "size=2048 [active]\n#\n\n"
      "{ name: blocked" +
          std::string(43, ' ') + ", comm: waker" + std::string(45, ' ') +
          " } hitcount:          1\n"
          "\nTotals:\n    Hits: 1\n    Entries: 1\n    Dropped: 0\n\n\n"
          "# event histogram\n#\n# trigger info: hist:keys=delta.buckets=100,stack.stacktrace:"
          "vals=hitcount:sort=delta.buckets=100:size=2048 [active]\n#\n\n"
          "{ delta: ~ 0-99, stack.stacktrace         0x11\n"
          "         0x22\n"
          "} hitcount:          1\n"
          "\nTotals:\n    Hits: 1\n    Entries: 1\n    Dropped: 0\n");
}

TEST_F(InterEventTest, MeasuresTheTraceMarker) {
  const EventNumber latency = synthetic("latency u64 lat");
  trigger(print, "hist:keys=common_pid:ts0=common_timestamp.usecs if buf == \"start\"");
  trigger(
      print,
      "hist:keys=common_pid:lat=common_timestamp.usecs-$ts0:onmatch(ftrace.print).latency($lat) "
      "if buf == \"end\"");
  trigger(latency, "hist:keys=lat,common_pid:sort=lat");
  pid = 2039;
  feed(print, 100, {{"buf", "start"}});
  feed(print, 350, {{"buf", "end"}});
  EXPECT_EQ(entries(latency), "{ lat:        250, common_pid:       2039 } hitcount:          1\n");
}

TEST_F(InterEventTest, KeepsWhatIsReferredTo) {
  trigger(waking, "hist:keys=pid:ts0=common_timestamp");
  trigger(switched, "hist:keys=next_pid:lat=common_timestamp-$ts0");
  EXPECT_EQ(code_of(set.commands.write(waking, "!hist:keys=pid:ts0=common_timestamp")),
            ErrorCode::kBusy);
  trigger(waking, "hist:keys=prio");
  set.triggers.truncate(waking);
  EXPECT_EQ(triggers_text(set.triggers.lines(waking)),
            "hist:keys=pid:vals=hitcount:ts0=common_timestamp:sort=hitcount:size=2048:clock=global "
            "[active]\n");
  set.triggers.truncate(switched);
  set.triggers.truncate(waking);
  EXPECT_EQ(triggers_text(set.triggers.lines(waking))[0], '#');
}

TEST_F(InterEventTest, TruncatesTriggersThatReferToEachOther) {
  trigger(switched, "hist:keys=next_pid:ts0=common_timestamp");
  trigger(switched, "hist:keys=prev_pid:lat=common_timestamp-$ts0");
  set.triggers.truncate(switched);
  EXPECT_EQ(triggers_text(set.triggers.lines(switched))[0], '#');
}

TEST_F(InterEventTest, CutsSyntheticEventsThatCauseThemselves) {
  const EventNumber loop = synthetic("loop u64 x");
  trigger(loop, "hist:keys=x:y=x:onmax($y).trace(loop,$y)");
  trigger(loop, "hist:keys=x:onmatch(synthetic.loop).loop(x)");
  trigger(kmalloc, "hist:keys=call_site:onmatch(kmem.kmalloc).loop(call_site)");
  feed(kmalloc, 1, {{"call_site", 5}});
  EXPECT_GT(set.counts().synthetic_cut, 0u);
}

}  // namespace
}  // namespace tallyfs::tracing
