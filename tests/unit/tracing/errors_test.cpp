// Every text that a refused command leaves in the error log, with its place: a '^' in a command
// here stands where the caret must be, before the token that is wrong.
#include <gtest/gtest.h>

#include "tests/unit/tracing/fixture.h"

namespace tallyfs::tracing {
namespace {

class ErrorsTest : public EventFixture {
 protected:
  // `command` with a caret in it is refused with `reason` there.
  void refuses(EventNumber event, std::string command, std::string_view reason,
               ErrorCode code = ErrorCode::kInvalid) {
    const std::size_t caret = command.find('^');
    if (caret != command.npos) command.erase(caret, 1);
    const auto written = set.commands.write(event, command);
    ASSERT_FALSE(written) << command;
    const Error& error = written.error();
    EXPECT_EQ(error.reason, reason) << command;
    EXPECT_EQ(error.token_at, caret == command.npos ? 0 : caret) << command;
    EXPECT_EQ(error.text, command);
    EXPECT_EQ(error.code, code) << command;
    const EventFormat& format = set.events.format(event);
    EXPECT_EQ(error.location.substr(error.location.find(':') + 1),
              (event == kmalloc ? "kmem:" : "sched:") + format.name);
  }
  void refuses(const std::string& command, std::string_view reason,
               ErrorCode code = ErrorCode::kInvalid) {
    refuses(kmalloc, command, reason, code);
  }
  static std::string many(const std::string& what, int count, const std::string& between) {
    std::string text;
    for (int i = 0; i < count; ++i) text += (i == 0 ? "" : between) + what + std::to_string(i);
    return text;
  }
};

TEST_F(ErrorsTest, OfFieldsAndModifiers) {
  refuses("hist:keys=^junk:vals=bytes_req", "Couldn't find field");
  refuses("hist:keys=call_site:vals=^junk", "Couldn't find field");
  refuses("hist:keys=call_site.^junk", "Invalid field modifier");
  refuses("hist:keys=call_site.^execname", "Invalid field modifier");
  refuses("hist:keys=bytes_req.^buckets", "Invalid field modifier");
  refuses("hist:keys=bytes_req.^buckets=0", "Invalid field modifier");
  refuses("hist:keys=bytes_req.^percent", "Invalid field modifier");
  refuses("hist:keys=call_site:vals=^bytes_req.log2", "Invalid field modifier");
  refuses("hist:keys=call_site:vals=^bytes_req.buckets=10", "Invalid field modifier");
  refuses("hist:keys=call_site:vals=^bytes_req.sym", "Invalid field modifier");
  refuses("hist:keys=call_site:vals=^bytes_req.sym-offset", "Invalid field modifier");
  refuses("hist:keys=call_site:vals=^bytes_req.syscall", "Invalid field modifier");
  refuses("hist:keys=call_site:vals=bytes_req.^stacktrace", "Invalid field modifier");
  refuses("hist:keys=call_site:x=^bytes_req.log2", "Invalid field modifier");
  refuses("hist:keys=call_site:x=^bytes_req.buckets=3", "Invalid field modifier");
  refuses("hist:keys=call_site:x=bytes_req.^percent", "Invalid field modifier");
  refuses("hist:keys=call_site:x=bytes_req.^graph", "Invalid field modifier");
  refuses(waking, "hist:keys=pid:vals=^comm", "Only numbers can be values");
}

TEST_F(ErrorsTest, OfModifiersThatMeanNothingForTheField) {
  for (const char* const modifier :
       {"hex", "sym", "sym-offset", "syscall", "log2", "log2=3", "buckets=10", "usecs"}) {
    refuses(switched, std::string("hist:keys=prev_comm.^") + modifier, "Invalid field modifier");
    refuses(exec, std::string("hist:keys=filename.^") + modifier, "Invalid field modifier");
    refuses(switched, std::string("hist:keys=common_comm.^") + modifier, "Invalid field modifier");
    refuses(switched, std::string("hist:keys=common_stacktrace.^") + modifier,
            "Invalid field modifier");
  }
  refuses(switched, "hist:keys=next_pid.^stacktrace", "Invalid field modifier");
  refuses(switched, "hist:keys=next_pid:vals=prev_comm.^avg", "Invalid field modifier");
  refuses(switched, "hist:keys=next_pid:x=prev_comm.^hex", "Invalid field modifier");
  refuses(switched, "hist:keys=next_pid.hex.^log2", "Invalid field modifier");
  refuses(switched, "hist:keys=ts.^usecs:ts=common_timestamp", "Invalid field modifier");
  refuses(switched, "hist:keys=next_pid.^usecs", "Invalid field modifier");
  refuses(switched, "hist:keys=next_pid:vals=prev_prio.^usecs", "Invalid field modifier");
  trigger(switched, "hist:keys=common_stacktrace.stacktrace,common_timestamp.usecs.log2=3");
}

TEST_F(ErrorsTest, OfAssignments) {
  refuses("hist:keys=call_site:^x=", "Empty assignment");
  refuses("hist:keys=call_site:^sort=", "Empty assignment");
  refuses("hist:keys=call_site:a=bytes_req,^junk", "Malformed assignment");
  refuses("hist:keys=call_site:=bytes_req", "Malformed assignment");
  refuses("hist:keys=call_site:^abc=bytes_req,abc=bytes_alloc", "Variable already defined");
  std::string variables;
  for (int i = 10; i < 26; ++i) variables += "v" + std::to_string(i) + "=bytes_req,";
  refuses("hist:keys=call_site:" + variables + "^last=bytes_req", "Too many variables defined");
  std::string parts;
  for (int i = 10; i < 26; ++i) parts += "v" + std::to_string(i) + "=bytes_req:";
  refuses("hist:keys=call_site:" + parts + "^last=bytes_req", "Too many variables defined");
  trigger(kmalloc, "hist:keys=call_site:taken=bytes_req");
  refuses("hist:keys=bytes_req:^taken=bytes_alloc", "Variable already defined");
}

TEST_F(ErrorsTest, OfSorting) {
  refuses("hist:keys=common_pid:vals=bytes_req:sort=common_pid,^junk",
          "Sort field must be a key or a val");
  refuses("hist:keys=common_pid:vals=bytes_req:^sort=common_pid,", "Empty sort field");
  refuses("hist:keys=common_pid:vals=bytes_req:sort=common_pid.^junk", "Invalid sort modifier");
  refuses("hist:keys=common_pid:vals=bytes_req,bytes_alloc:^sort=common_pid,bytes_req,bytes_alloc",
          "Too many sort fields (Max = 2)");
}

TEST_F(ErrorsTest, OfExpressions) {
  refuses("hist:keys=call_site:x=^1+2+3+4+5", "Too many subexpressions (3 max)");
  refuses("hist:keys=call_site:x=bytes_req*2+1-^4/2", "Too many subexpressions (3 max)");
  refuses("hist:keys=call_site:x=^12monkeys", "Expecting numeric literal");
  refuses("hist:keys=call_site:x=bytes_req/^0", "Division by zero");
  refuses("hist:keys=call_site:x=-(^bytes_req)+bytes_alloc",
          "Unary minus not supported in sub-expressions");
  refuses("hist:keys=call_site:x=^common_timestamp-common_timestamp.usecs",
          "Timestamp units in expression don't match");
  refuses(waking, "hist:keys=pid:x=prio+^comm", "String type can not be an operand in expression");
  refuses("hist:keys=call_site:x=^bytes_req+", "Malformed expression");
  refuses("hist:keys=call_site:x=^-bytes_req", "Malformed expression");
  refuses("hist:keys=call_site:x=$^nothing", "Couldn't find variable");
  trigger(waking, "hist:keys=pid:ts0=common_timestamp");
  refuses(switched, "hist:keys=next_pid:lat=^common_timestamp.usecs-$ts0",
          "Timestamp units in expression don't match");
  refuses(switched, "hist:keys=^$ts0", "Using variable references in keys not supported");
}

TEST_F(ErrorsTest, OfTriggersThatAreThereOrNot) {
  trigger(kmalloc, "hist:keys=call_site");
  refuses("hist:keys=call_site", "Hist trigger already exists", ErrorCode::kExists);
}

TEST_F(ErrorsTest, OfClearingWhatIsNotThere) {
  refuses("hist:keys=call_site:clear", "Can't clear or continue a nonexistent hist trigger",
          ErrorCode::kNotFound);
  refuses("hist:keys=call_site:cont", "Can't clear or continue a nonexistent hist trigger",
          ErrorCode::kNotFound);
  refuses("hist:keys=call_site:vals=hitcount:^nohitcount",
          "Non-hitcount value is required for 'nohitcount'", ErrorCode::kNotFound);
  refuses("hist:keys=call_site:x=common_timestamp:clock=^sundial", "Couldn't set trace_clock");
}

TEST_F(ErrorsTest, OfNames) {
  trigger(kmalloc, "hist:name=foo:keys=call_site");
  refuses("hist:name=^foo:keys=call_site:vals=bytes_req",
          "Named hist trigger doesn't match existing named trigger (includes variables)");
  refuses("hist:name=^foo:keys=call_site:x=bytes_req",
          "Named hist trigger doesn't match existing named trigger (includes variables)");
}

// One event's `f` of `size` bytes at offset 8.
std::string format_with(const std::string& name, int id, const std::string& declared, int size) {
  const std::string of(kSchedWaking);
  const std::size_t common = of.find("\tfield:"), end = of.find("\n\n", common);
  return "name: " + name + "\nID: " + std::to_string(id) + "\nformat:\n" +
         of.substr(common, end - common) + "\n\n\tfield:" + declared +
         ";\toffset:8;\tsize:" + std::to_string(size) + ";\tsigned:0;\n\nprint fmt: \"\"\n";
}

// What the one keeps in an entry would lie beyond it, or mean something else, in the other's.
TEST_F(ErrorsTest, OfHistogramsThatEventsOfOtherFieldsCannotShare) {
  const auto define = [this](const std::string& name, int id, const std::string& declared,
                             int size) {
    return set.events.define_event("sched", format_with(name, id, declared, size)).value();
  };
  const EventNumber shorter = define("shorter", 9001, "char f[8]", 8);
  const EventNumber longer = define("longer", 9002, "char f[256]", 256);
  const EventNumber number = define("number", 9003, "u64 f", 8);
  const std::string_view mismatch =
      "Named hist trigger doesn't match existing named trigger (includes variables)";
  trigger(shorter, "hist:name=saved:keys=common_pid:x=hitcount:onmax($x).save(f)");
  refuses(longer, "hist:name=^saved:keys=common_pid:x=hitcount:onmax($x).save(f)", mismatch);
  refuses(number, "hist:name=^saved:keys=common_pid:x=hitcount:onmax($x).save(f)", mismatch);
  trigger(shorter, "hist:name=set:keys=common_pid:w=f");
  refuses(number, "hist:name=^set:keys=common_pid:w=f", mismatch);
}

TEST_F(ErrorsTest, OfAnotherExpiryOfASharedHistogram) {
  trigger(kmalloc, "hist:name=foo:keys=common_pid:ts=common_timestamp:expire=10s");
  trigger(waking, "hist:name=foo:keys=common_pid:ts=common_timestamp");
  refuses(switched, "hist:name=^foo:keys=common_pid:ts=common_timestamp:expire=5s",
          "Named hist trigger doesn't match existing named trigger (includes variables)");
}

TEST_F(ErrorsTest, OfHandlers) {
  refuses("hist:keys=call_site:onmatch(^junk).foo(x)", "Missing subsystem");
  refuses("hist:keys=call_site:onmatch(sched.^junk).foo(xy)", "Invalid subsystem or event name");
  refuses("hist:keys=call_site:onmatch(^sched.sched_waking", "No closing paren found");
  refuses("hist:keys=call_site:^onmatch(sched.sched_waking)", "No action found");
  refuses("hist:keys=call_site:^onmatch(sched.sched_waking).", "No action found");
  refuses("hist:keys=call_site:onmatch(sched.sched_waking).foo(^xy", "No closing paren found");
  refuses("hist:keys=call_site:onmax(^bytes_req).save(bytes_alloc)",
          "For onmax(x) or onchange(x), x must be a variable");
  refuses("hist:keys=call_site:onchange(^bytes_req).save(bytes_alloc)",
          "For onmax(x) or onchange(x), x must be a variable");
  refuses("hist:keys=call_site:onmax($^junk).save(bytes_alloc)",
          "Couldn't find onmax or onchange variable");
  refuses("hist:keys=call_site:onmatch(sched.sched_waking).^save(comm)",
          "Handler doesn't support action");
  refuses("hist:keys=call_site:onmatch(sched.sched_waking).^snapshot()",
          "Handler doesn't support action");
  refuses("hist:keys=call_site:^onfoo(x).save(y)", "Unknown parameter or handler");
  std::string nine;
  for (int i = 0; i < 8; ++i) nine += ":onmax($v).snapshot()";
  refuses("hist:keys=call_site:v=bytes_req" + nine + ":^onchange($v).snapshot()",
          "Too many actions (8 max)");
}

TEST_F(ErrorsTest, OfActions) {
  synthetic("made u64 lat; pid_t pid");
  const std::string onmax = "hist:keys=common_pid:v=bytes_req:onmax($v).";
  refuses(onmax + "^save()", "No params found for save()");
  refuses(onmax + "save(^junk)", "Couldn't create field variable");
  refuses(onmax + "save(bytes_req):onmax($v).save(bytes_alloc)",
          "Can't have more than one save() action per hist");
  refuses(onmax + "trace(^junk,$v)", "Couldn't find synthetic event");
  refuses(onmax + "^junk($v)", "Couldn't find synthetic event");
  refuses(onmax + "made(^gfp_flags,$v)",
          "Param type doesn't match synthetic event "
          "field type");
}

TEST_F(ErrorsTest, OfParams) {
  synthetic("made u64 lat; pid_t pid");
  const std::string onmax = "hist:keys=call_site:val1=bytes_req:onmax($val1).";
  refuses(onmax + "^made($val1)", "Param count doesn't match synthetic event field count");
  refuses(onmax + "made($val1,^ptr)", "Param type doesn't match synthetic event field type");
  refuses(onmax + "made($^nothing,common_pid)", "Couldn't find param");
  refuses(onmax + "made(^nothing,common_pid)", "Couldn't parse field variable");
  refuses(onmax + "^trace()", "Couldn't find param");
  refuses("hist:keys=call_site:val2=bytes_req:onmax($val2).made(^$val2,ptr,)",
          "Invalid action param");
  refuses(onmax + "made(kmem.junk.^bytes_alloc,common_pid)", "Event file not found");
  const std::string onmatch = "hist:keys=call_site:onmatch(sched.sched_waking).";
  refuses(onmatch + "made(call_site,^pid)", "Matching event histogram not found");
  trigger(waking, "hist:keys=pid");
  refuses(onmatch + "made(call_site,^junk)", "Couldn't create histogram for field");
  EXPECT_EQ(triggers_text(set.triggers.lines(waking)),
            "hist:keys=pid:vals=hitcount:sort=hitcount:size=2048 [active]\n");
  std::string params = many("$val", 65, ",");
  refuses(onmax + "made(" + params + ",^last)", "Too many action params");
}

TEST_F(ErrorsTest, LeavesNoHiddenHistogramBehind) {
  synthetic("made int prio; u64 more");
  trigger(waking, "hist:keys=pid");
  refuses("hist:keys=call_site:onmatch(sched.sched_waking).made(prio,^target_cpu)",
          "Param type doesn't match synthetic event field type");
  EXPECT_EQ(triggers_text(set.triggers.lines(waking)),
            "hist:keys=pid:vals=hitcount:sort=hitcount:size=2048 [active]\n");
}

TEST_F(ErrorsTest, OfSizesAndBounds) {
  trigger(kmalloc, "hist:keys=call_site:size=65");
  EXPECT_NE(triggers_text(set.triggers.lines(kmalloc)).find("size=128 "), std::string::npos);
  refuses("hist:^vals=bytes_req", "No keys");
  refuses("hist:keys=^,call_site", "Malformed expression");
  refuses("hist:keys=^call_site,,ptr", "Malformed expression");
  refuses("hist:keys=call_site:size=^64", "Size must be a number of 128 to 131072");
  refuses("hist:keys=call_site:size=^131073", "Size must be a number of 128 to 131072");
  refuses("hist:keys=call_site:size=^junk", "Size must be a number of 128 to 131072");
  trigger(kmalloc, "hist:keys=bytes_req:size=131072");
  refuses("hist:keys=call_site:limit=^0", "Limit must be 1 or more");
  refuses("hist:keys=call_site:x=bytes_req:expire=^0s",
          "Expiry must be a time: a number and ns, us, ms or s");
  refuses("hist:keys=call_site:^expire=10s", "Variables expire, and there is none");
  refuses("hist:keys=call_site:^junk", "Unknown parameter or handler");
  refuses(exec, "hist:keys=filename,common_stacktrace,^pid", "Keys longer than 504 bytes");
}

TEST_F(ErrorsTest, OfOtherTriggers) {
  const auto refused = [&](const std::string& command) {
    const auto written = set.commands.write(kmalloc, command);
    return written ? "not refused" : written.error().reason;
  };
  EXPECT_EQ(refused("junk"), "Unknown trigger command");
  EXPECT_EQ(refused(""), "Unknown trigger command");
  EXPECT_EQ(refused("traceoff if"), "Expected: if FILTER");
  EXPECT_EQ(refused("traceoff if junk == 3"), "Field not found");
  EXPECT_EQ(refused("enable_event:sched:junk"), "No such event");
  EXPECT_EQ(refused("hist"), "No keys");
  EXPECT_EQ(refused("hist:keys=call_site if"), "Expected: if FILTER");
  trigger(kmalloc, "traceoff:3");
  EXPECT_EQ(refused("traceoff"), "The event has this trigger already");
}

TEST_F(ErrorsTest, OfWhatStandsBehindOtherTriggers) {
  const std::string_view count = "Count must be a number, at most 2147483647";
  refuses("traceon:^abc", count);
  refuses("traceon:^99999999999999", count);
  refuses("traceon:^-1", count);
  refuses("traceon:^abc if bytes_req == 3", count);
  refuses("stacktrace:5^:6", "Nothing but: if FILTER may stand behind the count");
  refuses("snapshot:5 ^often", "Expected: if FILTER");
  refuses("enable_event:sched:sched_waking:^often", count);
  refuses("enable_event:sched:sched_waking:1^:2",
          "Nothing but: if FILTER may stand behind the count");
  refuses("enable_event:^sched:junk", "No such event");
  refuses("disable_hist:^sched", "Expected: SYSTEM:EVENT");
  EXPECT_EQ(described(set.commands.write(kmalloc, "traceon 5")),
            "trigger:kmem:kmalloc: Expected: if FILTER\ntraceon 5\n        ^\n");
  EXPECT_EQ(described(set.commands.write(kmalloc, "enable_event")),
            "enable_event:kmem:kmalloc: Expected: SYSTEM:EVENT\nenable_event:\n^\n");
  EXPECT_TRUE(set.commands.write(kmalloc, "traceon : 5 if bytes_req == 3"));
}

TEST_F(ErrorsTest, OfBounds) {
  EventSet small({.events_max = 1, .triggers_max = 1, .hist_bytes_max = 1 << 20});
  const EventNumber only = small.events.define_event("kmem", kKmalloc).value();
  EXPECT_EQ(small.events.define_event("sched", kSchedWaking).error().code, ErrorCode::kNoSpace);
  const auto is_full = [&](const std::string& text, std::string_view reason) {
    const auto written = small.commands.write(only, text);
    ASSERT_FALSE(written) << text;
    EXPECT_EQ(written.error().code, ErrorCode::kNoSpace) << text;
    EXPECT_EQ(written.error().reason, reason) << text;
  };
  is_full("hist:keys=call_site:size=131072", "Histograms would take more memory than allowed");
  ASSERT_TRUE(small.commands.write(only, "traceon"));
  is_full("hist:keys=call_site", "Too many triggers");
  is_full("stacktrace", "Too many triggers");
  refuses("hist:keys=" + many("$k", 8, ",") + ",^call_site:" + many("k", 8, "=bytes_req:") +
              "=bytes_req",
          "Too many keys (8 max)");
  refuses("hist:keys=call_site:vals=" + many("$v", 8, ",") +
              ",^bytes_req:" + many("v", 8, "=bytes_req:") + "=bytes_req",
          "Too many values (8 max)");
}

TEST_F(ErrorsTest, OfFieldsThatCannotBeCompared) {
  EXPECT_EQ(described(set.commands.write(sys_enter, "hist:keys=id,args")),
            "hist:raw_syscalls:sys_enter: This field is neither number nor text\n"
            "hist:keys=id,args\n             ^\n");
}

TEST_F(ErrorsTest, OfFilesThatAreNoTriggers) {
  EXPECT_EQ(described(set.switches.write(kmalloc, "2")),
            "enable:kmem:kmalloc: Must be 0 or 1\n2\n^\n");
  for (const char* const text : {"", "-1", "0x1", "1 1", "1x", "10", "+", "18446744073709551617"}) {
    EXPECT_EQ(code_of(set.switches.write(kmalloc, text)), ErrorCode::kInvalid) << text;
  }
  EXPECT_EQ(set.switches.state(kmalloc).text(), "0\n");
  for (const char* const text : {"01", " 1", "1\n", "+1", "0001"}) {
    ASSERT_TRUE(set.switches.write(kmalloc, text)) << text;
    EXPECT_EQ(set.switches.state(kmalloc).text(), "1\n") << text;
    ASSERT_TRUE(set.switches.write("kmem", "00")) << text;
    EXPECT_EQ(set.switches.state(kmalloc).text(), "0\n") << text;
  }
  EXPECT_EQ(described(set.switches.write("kmem", "yes")), "enable:kmem: Must be 0 or 1\nyes\n^\n");
  EXPECT_EQ(described(set.switches.write("", "3")), "enable: Must be 0 or 1\n3\n^\n");
  for (const std::string probe : {"p:x do_exit", "p do_exit", "r8:x do_exit",
                                  "e:x sched/sched_waking", "f:x do_exit", "t:x sched_waking",
                                  "=:x", "=:mine/x"}) {
    EXPECT_EQ(described(set.synthetic.write_dynamic(probe)),
              "dynamic_events: probes need tallyfs -o tracefs, as root\n" +
                  probe + "\n^\n");
  }
  EXPECT_EQ(described(set.filters.write("kmem", "junk == 3")),
            "event filter parse error: Couldn't find or set field in one of a subsystem's events\n"
            "junk == 3\n^\n");
  EXPECT_EQ(described(set.selection.write_cpumask("f0", 4)),
            "tracing_cpumask: Not a mask of CPUs that there are\nf0\n^\n");
  EXPECT_EQ(described(set.selection.write_cpumask("ff\n", 2)),
            "tracing_cpumask: Not a mask of CPUs that there are\nff\n^\n");
  EXPECT_TRUE(set.selection.write_cpumask("3", 2));
  EventSet small({.pids_max = 2});
  EXPECT_EQ(described(small.selection.write_pids("1 2 3")),
            "set_event_pid: Too many process ids\n1 2 3\n    ^\n");
  EXPECT_EQ(described(small.selection.write_notrace_pids("x")),
            "set_event_notrace_pid: Not a process id (0 to 4194303)\nx\n^\n");
  EXPECT_TRUE(small.selection.write_pids("0 4194303"));
  EXPECT_EQ(described(small.selection.write_pids("4194304")),
            "set_event_pid: Not a process id (0 to 4194303)\n4194304\n^\n");
  EXPECT_EQ(TraceSelection::text(small.selection.pids()), "0\n4194303\n");
}

}  // namespace
}  // namespace tallyfs::tracing
