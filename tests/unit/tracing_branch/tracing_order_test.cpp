// In which order the records of several sources are fed, and which of them wait.
#include <string>

#include "tests/unit/tracing_branch/tracing_fixture.h"

namespace tallyfs::tracing {
namespace {

class LateSource final : public FakeSource {
 public:
  LateSource() : FakeSource(Delay::kLate) {}
};

class TracingOrderTest : public TracingTest {
 protected:
  // How long it took from a program's request to the wakeup of the same process.
  void join_with(LateSource& late) {
    ASSERT_TRUE(offer(late, "sched_waking", kWaking));
    ASSERT_TRUE(offer(kernel_, "request", 1, "web"));
    ASSERT_TRUE(write("events/web/request/trigger", "hist:keys=pid:ts=common_timestamp"));
    ASSERT_TRUE(write("events/sched/sched_waking/trigger",
                      "hist:keys=pid:d=common_timestamp-$ts:onmax($d).save(prio)"));
  }

  void at(std::uint64_t time_ns, EventSource& source, std::uint32_t id, char pid) {
    const std::string bytes = std::string(8, '\0') + pid + std::string(7, '\0');
    const EventRecord record{.event = id, .time_ns = time_ns, .bytes = bytes};
    tracing_.feed(source, {&record, 1}, clock_.now());
  }
};

// What a program writes with libtally comes some milliseconds after it was written.
TEST_F(TracingOrderTest, RecordsThatAProgramHasGatheredAreFedInTheirPlace) {
  LateSource late;
  join_with(late);
  clock_.advance(std::chrono::milliseconds(1));
  at(110, late, kWaking, 7);
  at(130, late, kWaking, 8);
  clock_.advance(std::chrono::milliseconds(20));
  at(100, kernel_, 1, 7);
  at(120, kernel_, 1, 8);
  clock_.advance(std::chrono::milliseconds(100));
  at(100'000'000, late, kWaking, 9);
  const std::string hist = read("events/sched/sched_waking/hist");
  EXPECT_NE(hist.find("Hits: 2\n"), std::string::npos) << hist;
  EXPECT_NE(hist.find("\tmax:         10"), std::string::npos) << hist;
  tracing_.withdraw(late, clock_.now());
}

TEST_F(TracingOrderTest, AMarkerComesBehindWhatTheKernelHasRecordedBefore) {
  LateSource late;
  ASSERT_TRUE(offer(late, "sched_waking", kWaking));
  ASSERT_TRUE(write("events/sched/sched_waking/enable", "1"));
  clock_.advance(std::chrono::microseconds(1));
  ASSERT_TRUE(write("trace_marker", "behind"));
  const std::string bytes(16, '\0');
  const EventRecord before{.event = kWaking, .time_ns = 90, .bytes = bytes};
  tracing_.feed(late, {&before, 1}, clock_.now());
  const std::string trace = read("trace");
  EXPECT_LT(trace.find("sched_waking:"), trace.find("behind")) << trace;
  EXPECT_NE(trace.find("behind"), std::string::npos) << trace;
  tracing_.withdraw(late, clock_.now());
}

TEST_F(TracingOrderTest, ALateRecordWaitsForProgramsNoLongerThanTheyGather) {
  LateSource late;
  ASSERT_TRUE(offer(late, "sched_waking", kWaking));
  ASSERT_TRUE(offer(kernel_, "request", 1, "web"));
  ASSERT_TRUE(write("events/sched/sched_waking/enable", "1"));
  ASSERT_TRUE(write("events/web/request/enable", "1"));
  clock_.advance(std::chrono::seconds(1));
  const auto pipe = stream("trace_pipe");
  const auto time = static_cast<std::uint64_t>(clock_.now().monotonic.count());
  const std::string bytes(16, '\0');
  const EventRecord record{.event = kWaking, .time_ns = time, .bytes = bytes};
  tracing_.feed(late, {&record, 1}, clock_.now());
  clock_.advance(std::chrono::milliseconds(49));
  EXPECT_FALSE(pipe->has_some(clock_.now()));
  clock_.advance(std::chrono::milliseconds(1));
  EXPECT_TRUE(pipe->has_some(clock_.now()));
  tracing_.withdraw(late, clock_.now());
}

// A set variable is only there for events after it, whichever source reported first.
TEST_F(TracingOrderTest, RecordsOfSeveralSourcesAreFedInTheOrderOfTheirTimes) {
  LateSource late;
  join_with(late);
  clock_.advance(std::chrono::microseconds(1));
  at(100, kernel_, 1, 7);
  at(120, kernel_, 1, 8);
  at(90, late, kWaking, 7);   // before it: does not count
  at(110, late, kWaking, 7);  // 10 behind it
  EXPECT_NE(read("events/web/request/hist").find("Hits: 2\n"), std::string::npos);
  at(130, late, kWaking, 8);
  const std::string hist = read("events/sched/sched_waking/hist");
  const auto first = hist.find("\tmax:         10");
  EXPECT_NE(first, std::string::npos) << hist;
  EXPECT_NE(hist.find("\tmax:         10", first + 1), std::string::npos) << hist;
  EXPECT_NE(hist.find("Hits: 2\n"), std::string::npos) << hist;
  tracing_.withdraw(late, clock_.now());
}

// Held back for the kernel's, when its event goes and another one gets its number.
TEST_F(TracingOrderTest, ARecordOfAnEventThatIsGoneCountsInNoOther) {
  LateSource late;
  ASSERT_TRUE(offer(late, "sched_waking", kWaking));
  ASSERT_TRUE(write("events/sched/sched_waking/enable", "1"));
  const auto define = [&](std::string_view fields, std::uint32_t use) {
    return tracing_.offer(kernel_,
                          {.system = "web",
                           .form = EventOffer::Form::kFields,
                           .text = fields,
                           .source_id = 1,
                           .use = use},
                          clock_.now());
  };
  const std::string bytes(16, '\0');
  const auto feed_of = [&](std::uint32_t use) {
    const auto time = static_cast<std::uint64_t>(clock_.now().monotonic.count()) + 1000;
    const EventRecord record{.event = 1, .time_ns = time, .bytes = bytes};
    tracing_.feed(kernel_, {&record, 1}, clock_.now(), use);
  };
  ASSERT_TRUE(define("mine u64 lat", 1));
  ASSERT_TRUE(write("events/web/mine/trigger", "hist:keys=lat"));
  feed_of(1);
  ASSERT_TRUE(write("events/web/mine/trigger", "!hist:keys=lat"));
  ASSERT_TRUE(tracing_.withdraw(kernel_, 1, clock_.now()));
  ASSERT_TRUE(define("yours u64 lat", 2));
  ASSERT_TRUE(write("events/web/yours/trigger", "hist:keys=lat"));
  feed_of(1);  // by a sender that has not heard yet
  clock_.advance(std::chrono::seconds(1));
  EXPECT_NE(read("events/web/yours/hist").find("Hits: 0\n"), std::string::npos);
  feed_of(2);
  clock_.advance(std::chrono::seconds(1));
  EXPECT_NE(read("events/web/yours/hist").find("Hits: 1\n"), std::string::npos);
  tracing_.withdraw(late, clock_.now());
}

// Until then every marker waits for what the kernel may still tell.
TEST_F(TracingOrderTest, NoReaderWaitsForWhatOnlyARemovedInstanceAskedFor) {
  LateSource late;
  ASSERT_TRUE(offer(late, "sched_waking", kWaking));
  const auto instances = tree_.rules(node("instances").value().id).value();
  ASSERT_TRUE(instances->make_directory("foo", clock_.now()));
  ASSERT_TRUE(write("instances/foo/events/sched/sched_waking/enable", "1"));
  clock_.advance(std::chrono::milliseconds(1));
  const auto pipe = stream("trace_pipe");
  ASSERT_TRUE(write("trace_marker", "one"));
  EXPECT_FALSE(pipe->has_some(clock_.now()));
  ASSERT_TRUE(instances->remove_directory("foo", clock_.now()));
  EXPECT_TRUE(pipe->next(clock_.now()).ends_with(": tracing_mark_write: one\n"));
  clock_.advance(std::chrono::milliseconds(1));
  ASSERT_TRUE(write("trace_marker", "two"));
  EXPECT_TRUE(pipe->has_some(clock_.now()));
  tracing_.withdraw(late, clock_.now());
}

TEST_F(TracingOrderTest, ALateRecordDoesNotWaitForAProgramThatAnInstanceThatWentAskedFor) {
  LateSource late;
  ASSERT_TRUE(offer(late, "sched_waking", kWaking));
  ASSERT_TRUE(offer(kernel_, "request", 1, "web"));
  const auto instances = tree_.rules(node("instances").value().id).value();
  ASSERT_TRUE(instances->make_directory("foo", clock_.now()));
  ASSERT_TRUE(write("instances/foo/events/web/request/enable", "1"));
  ASSERT_TRUE(write("events/sched/sched_waking/enable", "1"));
  ASSERT_TRUE(instances->remove_directory("foo", clock_.now()));
  clock_.advance(std::chrono::seconds(1));
  const auto pipe = stream("trace_pipe");
  at(static_cast<std::uint64_t>(clock_.now().monotonic.count()), late, kWaking, 7);
  EXPECT_TRUE(pipe->has_some(clock_.now()));
  tracing_.withdraw(late, clock_.now());
}

// An event that is enabled and never fires: no record comes that would let markers go.
TEST_F(TracingOrderTest, AMarkerLetsThoseGoThatHaveWaitedForTooLong) {
  LateSource late;
  ASSERT_TRUE(offer(late, "sched_waking", kWaking));
  ASSERT_TRUE(write("events/sched/sched_waking/enable", "1"));
  const auto trace = file("trace");  // not opened: that would drain the source
  clock_.advance(std::chrono::seconds(1));
  ASSERT_TRUE(write("trace_marker", "first"));
  const auto before = trace->version(clock_.now());
  clock_.advance(std::chrono::milliseconds(201));
  ASSERT_TRUE(write("trace_marker", "second"));
  EXPECT_NE(trace->version(clock_.now()), before);
  const std::string text = trace->render(clock_.now(), 1 << 20).value();
  EXPECT_NE(text.find("first"), std::string::npos) << text;
  EXPECT_EQ(text.find("second"), std::string::npos) << text;
  tracing_.withdraw(late, clock_.now());
}

TEST_F(TracingOrderTest, MarkersThatWaitTakeBoundedMemory) {
  LateSource late;
  ASSERT_TRUE(offer(late, "sched_waking", kWaking));
  ASSERT_TRUE(write("events/sched/sched_waking/enable", "1"));
  clock_.advance(std::chrono::seconds(1));
  const auto trace = file("trace");
  const auto is_empty = [&] {
    return trace->render(clock_.now(), 64 << 20).value().find("mark_write") == std::string::npos;
  };
  const std::string text(4000, 'x');
  const auto marker = file("trace_marker");
  constexpr std::size_t kBytesMax = 64 << 20;  // RecordSequencer's
  std::size_t bytes = 0;
  while (bytes < kBytesMax / 2) {
    ASSERT_TRUE(write_file(*marker, text, clock_.now()));
    bytes += text.size();
  }
  EXPECT_TRUE(is_empty());
  while (bytes < kBytesMax + (1 << 20)) {
    ASSERT_TRUE(write_file(*marker, text, clock_.now()));
    bytes += text.size();
  }
  EXPECT_FALSE(is_empty());
  tracing_.withdraw(late, clock_.now());
}

// A record that is asked for by none lets those go that are pending.
TEST_F(TracingOrderTest, ATextIsOutdatedByRecordsThatOthersLetGo) {
  LateSource late;
  ASSERT_TRUE(offer(late, "sched_waking", kWaking));
  ASSERT_TRUE(offer(late, "sched_switch", kSwitch));
  ASSERT_TRUE(write("events/sched/sched_waking/enable", "1"));
  clock_.advance(std::chrono::seconds(1));
  ASSERT_TRUE(write("trace_marker", "pending"));
  clock_.advance(std::chrono::seconds(1));
  const auto trace = file("trace");
  const auto before = trace->version(clock_.now());
  at(static_cast<std::uint64_t>(clock_.now().monotonic.count()), late, kSwitch, 7);
  EXPECT_NE(trace->render(clock_.now(), 1 << 20).value().find("pending"), std::string::npos);
  EXPECT_NE(trace->version(clock_.now()), before);
  tracing_.withdraw(late, clock_.now());
}

// A read of an instance that asks for nothing does not drain the late source of another one.
TEST_F(TracingOrderTest, ALateSourceThatWasSkippedIsNotTakenForDrained) {
  LateSource late;
  join_with(late);
  const auto instances = tree_.rules(node("instances").value().id).value();
  ASSERT_TRUE(instances->make_directory("foo", clock_.now()));
  const auto pipe = stream("instances/foo/trace_pipe");
  clock_.advance(std::chrono::microseconds(1));
  const int drains = late.drains;
  EXPECT_EQ(read("instances/foo/trace").find("sched_waking:"), std::string::npos);
  EXPECT_EQ(late.drains, drains);
  at(100, kernel_, 1, 7);
  EXPECT_EQ(pipe->next(clock_.now()), "");
  at(90, late, kWaking, 7);   // before it: does not count
  at(110, late, kWaking, 7);  // 10 behind it
  const std::string hist = read("events/sched/sched_waking/hist");
  EXPECT_NE(hist.find("Hits: 1\n"), std::string::npos) << hist;
  EXPECT_NE(hist.find("\tmax:         10"), std::string::npos) << hist;
  tracing_.withdraw(late, clock_.now());
}

// What is fed between the drain and the reading has its place only behind the late source's.
TEST_F(TracingOrderTest, ALateSourceIsDrainedForAnInstanceWithRecordsOfPrograms) {
  LateSource late;
  ASSERT_TRUE(offer(late, "sched_waking", kWaking));
  ASSERT_TRUE(offer(kernel_, "request", 1, "web"));
  const auto instances = tree_.rules(node("instances").value().id).value();
  ASSERT_TRUE(instances->make_directory("foo", clock_.now()));
  ASSERT_TRUE(write("events/sched/sched_waking/enable", "1"));
  ASSERT_TRUE(write("instances/foo/events/web/request/enable", "1"));
  clock_.advance(std::chrono::microseconds(1));
  const auto trace = file("instances/foo/trace");
  const int drains = late.drains;
  trace->opened(clock_.now());
  EXPECT_EQ(late.drains, drains + 1);
  at(900, kernel_, 1, 7);  // as the socket has it, which is emptied then
  EXPECT_NE(trace->render(clock_.now(), 1 << 20).value().find("request:"), std::string::npos);
  tracing_.withdraw(late, clock_.now());
}

TEST_F(TracingOrderTest, AMarkerThatWaitsGoesWithItsInstance) {
  LateSource late;
  ASSERT_TRUE(offer(late, "sched_waking", kWaking));
  ASSERT_TRUE(write("events/sched/sched_waking/enable", "1"));
  const auto instances = tree_.rules(node("instances").value().id).value();
  ASSERT_TRUE(instances->make_directory("foo", clock_.now()));
  ASSERT_TRUE(write("instances/foo/trace_marker", "gone"));
  ASSERT_TRUE(instances->remove_directory("foo", clock_.now()));
  for (const char* const name : {"foo", "bar", "baz"}) {
    ASSERT_TRUE(instances->make_directory(name, clock_.now()));
  }
  clock_.advance(std::chrono::seconds(1));
  for (const char* const name : {"foo", "bar", "baz"}) {
    EXPECT_EQ(read("instances/" + std::string(name) + "/trace").find("gone"), std::string::npos);
  }
  tracing_.withdraw(late, clock_.now());
}

}  // namespace
}  // namespace tallyfs::tracing
