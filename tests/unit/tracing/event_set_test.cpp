// Triggers other than hist, enable and filter files, set_event, trace and snapshot, and what is
// asked of the sources of events.
#include "core/tracing/set/event_set.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/tracing/fixture.h"

namespace tallyfs::tracing {
namespace {

class EventSetTest : public EventFixture {};

TEST_F(EventSetTest, ListsEventsBySystemAndName) {
  EXPECT_EQ(event_list_text(*set.events.listed()),
            "ftrace:print\nkmem:kmalloc\nraw_syscalls:sys_enter\nsched:sched_process_exec\n"
            "sched:sched_switch\nsched:sched_waking\n");
  EXPECT_EQ(set.events.format(kmalloc).id, 374);
  EXPECT_EQ(*set.events.format_text(kmalloc), kKmalloc);
  EXPECT_EQ(set.events.find("kmem", "kmalloc"), kmalloc);
  EXPECT_FALSE(set.events.find("kmem", "kfree"));
}

TEST_F(EventSetTest, RedefinesAnUnusedEvent) {
  EXPECT_EQ(set.events.define_event("kmem", kKmalloc).value(), kmalloc);
  const std::string other =
      format_of("kmalloc", 375, "\tfield:int x;\toffset:8;\tsize:4;\tsigned:1;\n");
  EXPECT_EQ(set.events.define_event("kmem", other).value(), kmalloc);
  trigger(kmalloc, "hist:keys=x");
  EXPECT_EQ(set.events.define_event("kmem", kKmalloc).error().code, ErrorCode::kExists);
  EXPECT_EQ(set.events.define_event("a/b", kKmalloc).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(set.events.define_event("kmem", "junk").error().code, ErrorCode::kInvalid);
}

TEST_F(EventSetTest, EnablesEventsAloneAndTogether) {
  EXPECT_EQ(set.switches.state(waking).text(), "0\n");
  EXPECT_EQ(set.switches.state("sched").text(), "0\n");
  ASSERT_TRUE(set.switches.write(waking, "1\n"));
  EXPECT_EQ(set.switches.state(waking).text(), "1\n");
  EXPECT_EQ(set.switches.state("sched").text(), "X\n");
  EXPECT_EQ(set.switches.state("").text(), "X\n");
  EXPECT_EQ(event_list_text(set.switches.chosen()), "sched:sched_waking\n");
  ASSERT_TRUE(set.switches.write("sched", "1"));
  EXPECT_EQ(set.switches.state("sched").text(), "1\n");
  EXPECT_EQ(code_of(set.switches.write(waking, "2")), ErrorCode::kInvalid);
  ASSERT_TRUE(set.switches.write_set_event("!sched:* kmem:kmalloc"));
  EXPECT_EQ(event_list_text(set.switches.chosen()), "kmem:kmalloc\n");
  ASSERT_TRUE(set.switches.write_set_event("sched_switch"));
  EXPECT_EQ(event_list_text(set.switches.chosen()), "kmem:kmalloc\nsched:sched_switch\n");
  EXPECT_FALSE(set.switches.write_set_event("junk"));
  set.switches.truncate_set_event();
  EXPECT_EQ(event_list_text(set.switches.chosen()), "");
}

TEST_F(EventSetTest, EnablesAnEventByAnother) {
  trigger(exec, "enable_event:sched:sched_waking:1 if filename == \"x\"");
  EXPECT_EQ(set.switches.state(waking).text(), "0*\n");
  EXPECT_EQ(triggers_text(set.triggers.lines(exec)),
            "enable_event:sched:sched_waking:count=1 if filename == \"x\"\n");
  feed(exec, 1, {{"filename", "y"}});
  EXPECT_EQ(set.switches.state(waking).text(), "0*\n");
  feed(exec, 1, {{"filename", "x"}});
  EXPECT_EQ(set.switches.state(waking).text(), "1*\n");
  EXPECT_EQ(triggers_text(set.triggers.lines(exec)),
            "enable_event:sched:sched_waking:count=0 if filename == \"x\"\n");
  trigger(switched, "disable_event:sched:sched_waking");
  EXPECT_EQ(triggers_text(set.triggers.lines(switched)),
            "disable_event:sched:sched_waking:unlimited\n");
  feed(switched, 1, {});
  EXPECT_EQ(set.switches.state(waking).text(), "0*\n");
  feed(exec, 1, {{"filename", "x"}});
  EXPECT_EQ(set.switches.state(waking).text(), "0*\n") << "only once";
  trigger(exec, "!enable_event:sched:sched_waking");
  trigger(switched, "!disable_event:sched:sched_waking");
  EXPECT_EQ(set.switches.state(waking).text(), "0\n");
}

TEST_F(EventSetTest, StartsAndStopsHistogramsByEvents) {
  trigger(kmalloc, "hist:keys=call_site:vals=bytes_req:pause");
  trigger(exec, "enable_hist:kmem:kmalloc if filename==\"/usr/bin/wget\"");
  trigger(switched, "disable_hist:kmem:kmalloc if prev_comm==\"wget\"");
  const auto paused = [&] {
    return triggers_text(set.triggers.lines(kmalloc)).find("[paused]") != std::string::npos;
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
  trigger(waking, "traceon if prio == 7");
  EXPECT_EQ(triggers_text(set.triggers.lines(kmalloc)), "traceoff:count=1 if bytes_req > 100\n");
  EXPECT_EQ(triggers_text(set.triggers.lines(waking)), "traceon:unlimited if prio == 7\n");
  feed(kmalloc, 1, {{"bytes_req", 50}});
  EXPECT_TRUE(set.trace.is_on());
  feed(kmalloc, 1, {{"bytes_req", 101}});
  EXPECT_FALSE(set.trace.is_on());
  feed(waking, 1, {{"prio", 7}});
  EXPECT_TRUE(set.trace.is_on());
  feed(kmalloc, 1, {{"bytes_req", 101}});
  EXPECT_TRUE(set.trace.is_on()) << "it was to do so once";
  trigger(kmalloc, "!traceoff");
  trigger(waking, "!traceon if whatever == 1 && false");
  EXPECT_EQ(triggers_text(set.triggers.lines(waking))[0], '#');
}

TEST_F(EventSetTest, CountsHistogramsWhileTracingIsOff) {
  trigger(kmalloc, "hist:keys=call_site");
  set.trace.set_on(false);
  feed(kmalloc, 1, {{"call_site", 1}});
  EXPECT_NE(hist(kmalloc).find("Hits: 1\n"), std::string::npos);
}

TEST_F(EventSetTest, FiltersWhatIsTraced) {
  EXPECT_EQ(set.filters.state(waking).text(), "none\n");
  ASSERT_TRUE(set.filters.write(waking, "prio < 100\n"));
  EXPECT_EQ(set.filters.state(waking).text(), "prio < 100\n");
  EXPECT_EQ(described(set.filters.write(waking, "prio < 100 && junk == 3")),
            "event filter parse error: Field not found\nprio < 100 && junk == 3\n"
            "                   ^\n");
  EXPECT_EQ(set.filters.state(waking).text(),
            "prio < 100 && junk == 3\n                   ^\nparse_error: Field not found\n\n");
  ASSERT_TRUE(set.filters.write(waking, "0"));
  EXPECT_EQ(set.filters.state(waking).text(), "none\n");
  EXPECT_EQ(EventFilters::system_text(set.filters.of_system("sched")).substr(0, 21),
            "### global filter ###");
  ASSERT_TRUE(set.filters.write("sched", "prio == 3"));
  EXPECT_EQ(EventFilters::system_text(set.filters.of_system("sched")), "prio == 3\n");
  EXPECT_EQ(set.filters.state(waking).text(), "prio == 3\n");
  EXPECT_EQ(set.filters.state(switched).text(), "none\n") << "it has no such field";
  EXPECT_FALSE(set.filters.write("sched", "junk == 3"));
}

TEST_F(EventSetTest, AsksOfTheSourcesOnlyWhatIsNeeded) {
  EXPECT_TRUE(set.demands.take_changed().empty());
  trigger(waking, "hist:keys=pid if prio < 100");
  EXPECT_EQ(set.demands.take_changed(), std::vector<EventNumber>{waking});
  EXPECT_EQ(set.demands.of(waking), (Demand{.on = true, .filter = "prio < 100"}));
  trigger(waking, "hist:keys=prio if prio < 100");
  EXPECT_TRUE(set.demands.take_changed().empty());
  trigger(waking, "hist:keys=common_stacktrace,common_comm");
  EXPECT_EQ(set.demands.of(waking), (Demand{.on = true, .stack = true, .comm = true}));
  set.triggers.truncate(waking);
  EXPECT_EQ(set.demands.of(waking), Demand{});
  EXPECT_EQ(set.demands.take_changed(), std::vector<EventNumber>{waking});
  trigger(exec, "enable_event:sched:sched_waking");
  EXPECT_TRUE(set.demands.of(waking).on) << "it may be wanted from one event to the next";
}

TEST_F(EventSetTest, RefusesATriggerTwice) {
  trigger(kmalloc, "traceoff");
  EXPECT_EQ(code_of(set.commands.write(kmalloc, "traceoff:3")), ErrorCode::kExists);
  trigger(kmalloc, "enable_event:sched:sched_waking");
  trigger(kmalloc, "enable_event:sched:sched_switch");
  EXPECT_EQ(code_of(set.commands.write(kmalloc, "enable_event:sched:sched_switch:5")),
            ErrorCode::kExists);
  // One that does the opposite is the same thing's.
  EXPECT_EQ(code_of(set.commands.write(kmalloc, "traceon")), ErrorCode::kExists);
  EXPECT_EQ(code_of(set.commands.write(kmalloc, "disable_event:sched:sched_waking")),
            ErrorCode::kExists);
  trigger(kmalloc, "disable_hist:sched:sched_waking");
  EXPECT_EQ(code_of(set.commands.write(kmalloc, "enable_hist:sched:sched_waking")),
            ErrorCode::kExists);
  set.triggers.truncate(kmalloc);
  EXPECT_EQ(triggers_text(set.triggers.lines(kmalloc))[0], '#');
}

// As scripts do with `>`, which has removed it already; what is shown of a name is no command.
TEST_F(EventSetTest, RemovesAnyHistogramOfAnEventThatHasNone) {
  EXPECT_TRUE(set.commands.write(kmalloc, "!hist:foo:keys=call_site:vals=hitcount:sort=hitcount"));
  EXPECT_TRUE(set.commands.write(kmalloc, "!hist:keys=call_site.sym:sort=call_site.sym"));
  trigger(kmalloc, "hist:keys=call_site");
  EXPECT_FALSE(set.commands.write(kmalloc, "!hist:keys=call_site.sym:sort=call_site.sym"));
}

// As scripts do that take off whatever they find.
TEST_F(EventSetTest, RemovesATriggerByTheLineThatShowsIt) {
  for (const char* const line :
       {"traceoff", "traceon:3 if prio < 3", "snapshot:5", "stacktrace if comm == \"x\"",
        "enable_event:kmem:kmalloc", "disable_event:kmem:kmalloc:2 if prio == 1",
        "enable_hist:kmem:kmalloc if prio == 1", "hist:keys=pid:size=4096 if prio < 3",
        "hist:keys=pid,prio:vals=hitcount:sort=pid.descending:pause",
        "hist:name=foo:keys=pid:ts=common_timestamp:limit=3:expire=10s"}) {
    trigger(waking, line);
    std::string shown = triggers_text(set.triggers.lines(waking));
    ASSERT_NE(shown[0], '#') << line;
    shown.pop_back();
    trigger(waking, "!" + shown);
    EXPECT_EQ(triggers_text(set.triggers.lines(waking))[0], '#') << shown;
    trigger(waking, line);
    trigger(waking, "!" + shown.substr(0, shown.find('[')));
    EXPECT_EQ(triggers_text(set.triggers.lines(waking))[0], '#') << shown;
  }
  trigger(waking, "enable_event:kmem:kmalloc:3");
  trigger(waking, "!enable_event:kmem:kmalloc:3 if what == is this");
  EXPECT_EQ(triggers_text(set.triggers.lines(waking))[0], '#');
  trigger(waking, "traceoff");
  trigger(waking, "!traceon");
  trigger(waking, "!hist:keys=pid");
  EXPECT_EQ(triggers_text(set.triggers.lines(waking)), "traceoff:unlimited\n");
}

TEST_F(EventSetTest, ARemovalByItsLineIsRefusedLikeAnyOther) {
  trigger(waking, "hist:keys=pid:ts0=common_timestamp");
  trigger(switched, "hist:keys=next_pid:d=common_timestamp-$ts0");
  std::string shown = triggers_text(set.triggers.lines(waking));
  shown.pop_back();
  EXPECT_EQ(code_of(set.commands.write(waking, "!" + shown)), ErrorCode::kBusy);
}

TEST_F(EventSetTest, AsksForTheNamesThatFiltersAndReadersNeed) {
  trigger(kmalloc, "hist:keys=call_site if comm == \"make\"");
  EXPECT_TRUE(set.demands.of(kmalloc).comm);
  trigger(waking, "hist:keys=pid if comm == \"make\"");
  EXPECT_FALSE(set.demands.of(waking).comm) << "that is a field of its own";
  trigger(waking, "stacktrace if common_comm != \"make\"");
  EXPECT_TRUE(set.demands.of(waking).comm);
  set.triggers.truncate(waking);
  ASSERT_TRUE(set.switches.write(waking, "1"));
  EXPECT_TRUE(set.demands.of(waking).comm) << "trace shows it";
}

TEST_F(EventSetTest, AsksForWhatTheSyntheticEventsNeedThatAnEventCauses) {
  const EventNumber first = synthetic("first int prio");
  const EventNumber second = synthetic("second int prio");
  trigger(first, "hist:keys=prio:p=prio:onmax($p).trace(second,$p)");
  trigger(waking, "hist:keys=pid:p=prio:onchange($p).trace(first,$p)");
  EXPECT_FALSE(set.demands.of(waking).comm);
  (void)set.demands.take_changed();
  trigger(second, "hist:keys=common_stacktrace if comm == \"make\"");
  EXPECT_TRUE(set.demands.of(waking).comm);
  EXPECT_TRUE(set.demands.of(waking).stack);
  EXPECT_FALSE(set.demands.of(second).on);
  EXPECT_NE(std::ranges::count(set.demands.take_changed(), waking), 0);
  comm = "make";
  feed(waking, 1, {{"prio", 3}});
  EXPECT_NE(hist(second).find("Hits: 1\n"), std::string::npos);
  set.triggers.truncate(second);
  EXPECT_FALSE(set.demands.of(waking).stack);
}

TEST_F(EventSetTest, AnEventIsTakenOverWithoutWhatWasSetOnIt) {
  const EventNumber own = set.events.define_fields("web", "request u64 lat; pid_t pid").value();
  const EventNumber lat = synthetic("lat u64 lat");
  trigger(own, "hist:keys=pid:ts0=common_timestamp:l=lat");
  trigger(own, "traceoff");
  trigger(waking, "hist:keys=pid:d=common_timestamp-$ts0:onmatch(web.request).lat($d)");
  trigger(waking, "enable_event:web:request if prio == 3");
  trigger(waking, "hist:keys=prio");
  ASSERT_TRUE(set.switches.write(own, "1"));
  ASSERT_TRUE(set.filters.write(own, "lat > 3"));
  const auto taken = set.take_over_event(
      "web", format_of("request", 7, "\tfield:int x;\toffset:8;\tsize:4;\tsigned:1;\n"));
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken.value(), own);
  EXPECT_EQ(triggers_text(set.triggers.lines(own))[0], '#');
  EXPECT_EQ(set.filters.state(own).text(), "none\n");
  EXPECT_EQ(set.switches.state(own).text(), "0*\n") << "of the trigger that only names it";
  EXPECT_EQ(triggers_text(set.triggers.lines(waking)),
            "hist:keys=prio:vals=hitcount:sort=hitcount:size=2048 [active]\n"
            "enable_event:web:request:unlimited if prio == 3\n");
  EXPECT_FALSE(set.events.in_use(lat));
  feed(waking, 1, {{"prio", 3}});
  feed(own, 2, {{"x", 5}});
  EXPECT_NE(set.trace.copy().render(NoSymbols()).find("request: x=5"), std::string::npos);
  set.triggers.truncate(waking);
  EXPECT_TRUE(set.events.remove(own)) << "nothing is left behind";
  EXPECT_FALSE(set.take_over_event("synthetic", format_of("lat", 7, "")));
}

}  // namespace
}  // namespace tallyfs::tracing
