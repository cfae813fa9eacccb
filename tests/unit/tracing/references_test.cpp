// Expressions, and the variables of other histograms that they refer to: which one is meant, and
// which entry of it.
#include <gtest/gtest.h>

#include "tests/unit/tracing/wakeups.h"

namespace tallyfs::tracing {
namespace {

class ReferencesTest : public WakeupFixture {};

TEST_F(ReferencesTest, DividesByAVariableThatIsZeroWithAllOnes) {
  trigger(kmalloc, "hist:keys=call_site:zero=bytes_alloc");
  trigger(waking, "hist:keys=pid:x=prio/$zero");
  trigger(switched, "hist:keys=next_pid:vals=$x");
  feed(kmalloc, 1, {{"call_site", 7}});
  wake(2, 7);
  run(3, 7);
  EXPECT_EQ(entries(switched),
            "{ next_pid:          7 } hitcount:          1  x: 18446744073709551615\n");
}

TEST_F(ReferencesTest, FoldsConstants) {
  trigger(waking, "hist:keys=pid:a=2*3+4,b=-(5),c=prio*10/5:us_per_sec=1000000");
  EXPECT_NE(triggers_text(set.triggers.lines(waking))
                .find(":a=10,b=18446744073709551611,c=prio*10/5,us_per_sec=1000000:"),
            std::string::npos)
      << triggers_text(set.triggers.lines(waking));
  trigger(switched, "hist:keys=next_pid:vals=$a,$b,$c");
  feed(waking, 1, {{"pid", 7}, {"prio", 6}});
  run(2, 7);
  EXPECT_EQ(entries(switched),
            "{ next_pid:          7 } hitcount:          1  a:         10  b: 18446744073709551611"
            "  c:         12\n");
}

TEST_F(ReferencesTest, ComputesFromTheLeftAndProductsFirst) {
  trigger(waking, "hist:keys=pid:a=100-prio-1,b=100-prio*2,c=100/prio/5,d=-(prio)");
  trigger(switched, "hist:keys=next_pid:vals=$a,$b,$c,$d");
  feed(waking, 1, {{"pid", 7}, {"prio", 10}});
  run(2, 7);
  EXPECT_EQ(entries(switched),
            "{ next_pid:          7 } hitcount:          1  a:         89  b:         80"
            "  c:          2  d: 18446744073709551606\n");
}

TEST_F(ReferencesTest, NamesAVariableByItsEventWhereTwoHaveIt) {
  trigger(waking, "hist:keys=pid:when=prio");
  trigger(kmalloc, "hist:keys=call_site:when=bytes_req");
  EXPECT_EQ(refusal(switched, "hist:keys=next_pid:vals=$when"),
            "hist:sched:sched_switch: Variable name not unique, need to use fully qualified name "
            "(subsys.event.var) for variable\nhist:keys=next_pid:vals=$when\n" +
                std::string(25, ' ') + "^\n");
  trigger(switched, "hist:keys=next_pid:vals=sched.sched_waking.$when");
  wake(1, 7);
  run(2, 7);
  EXPECT_EQ(entries(switched), "{ next_pid:          7 } hitcount:          1  when:         19\n");
}

TEST_F(ReferencesTest, TakesTheVariableOfTheMatchingEventFirst) {
  synthetic("found u64 lat");
  trigger(waking, "hist:keys=pid:ts0=common_timestamp");
  trigger(kmalloc, "hist:keys=call_site:ts0=common_timestamp");
  trigger(switched,
          "hist:keys=next_pid:lat=common_timestamp-$ts0:onmatch(sched.sched_waking).found($lat)");
  wake(1, 7);
  run(2, 7);
  EXPECT_EQ(entries(switched), "{ next_pid:          7 } hitcount:          1\n");
}

TEST_F(ReferencesTest, MatchesNoKeysOfAnotherKind) {
  trigger(waking, "hist:keys=comm:p=prio");
  trigger(switched, "hist:keys=next_pid:vals=$p");
  trigger(switched, "hist:keys=next_comm:vals=$p");
  wake(1, 7, "x");
  run(2, 7, "x");
  EXPECT_NE(hist(switched).find("Hits: 0"), std::string::npos);
  EXPECT_NE(hist(switched).find("Hits: 1"), std::string::npos);
}

TEST_F(ReferencesTest, ComparesTheFirstKeysWithAHistogramThatHasFewer) {
  trigger(waking, "hist:keys=pid:p=prio");
  trigger(switched, "hist:keys=next_pid,next_comm:vals=$p");
  trigger(kmalloc, "hist:keys=call_site,common_pid:vals=sched.sched_waking.$p");
  wake(1, 7, "x");
  run(2, 7, "y");
  run(2, 8, "y");
  feed(kmalloc, 3, {{"call_site", 7}});
  EXPECT_NE(hist(switched).find("Hits: 1\n"), std::string::npos);
  EXPECT_NE(hist(kmalloc).find("Hits: 1\n"), std::string::npos);
  trigger(exec, "hist:keys=pid,filename:q=old_pid");
  trigger(print, "hist:keys=common_pid:vals=$q");
  feed(exec, 4, {{"pid", 7}, {"filename", ""}});
  pid = 7;
  feed(print, 5, {{"buf", "x"}});
  EXPECT_NE(hist(print).find("Hits: 0\n"), std::string::npos) << "that one has more";
}

TEST_F(ReferencesTest, ComparesTextsOfDifferentRoom) {
  trigger(exec, "hist:keys=filename:p=pid");
  trigger(waking, "hist:keys=comm:vals=$p");
  feed(exec, 1, {{"filename", "short"}, {"pid", 5}});
  feed(exec, 1, {{"filename", "a name longer than sixteen"}, {"pid", 6}});
  feed(waking, 2, {{"comm", "short"}});
  feed(waking, 2, {{"comm", "a name longer th"}});
  EXPECT_NE(hist(waking).find("Hits: 1\n"), std::string::npos) << hist(waking);
}

}  // namespace
}  // namespace tallyfs::tracing
