// Where a write stands among the records: behind those that were recorded before it, wherever they
// still are.
#include <array>
#include <utility>

#include "tests/unit/tracing_branch/tracing_fixture.h"

namespace tallyfs::tracing {
namespace {

const std::string kEvent = "events/sched/sched_waking/";
const std::string kByPid = "hist:keys=pid";

class RecordingSource : public FakeSource {
 public:
  RecordingSource() : FakeSource(Delay::kLate) {}
};

// A source that hands out what it has recorded when it is drained, as the kernel's feeder does.
class TracingWritesTest : public TracingTest {
 protected:
  TracingWritesTest() {
    EXPECT_TRUE(offer(late_, "sched_waking", kWaking));
    EXPECT_TRUE(offer(late_, "sched_switch", kSwitch));
    late_.at_drain = [this] { hand_out(); };
    EXPECT_TRUE(write("options/fields", "1"));
    clock_.advance(std::chrono::milliseconds(1));
  }
  ~TracingWritesTest() override { tracing_.withdraw(late_, clock_.now()); }

  // A record that only the kernel has. Of the thread common_pid.
  void record(std::int32_t common_pid) {
    recorded_.push_back(common_pid);
    clock_.advance(std::chrono::microseconds(1));
  }
  void hand_out() {
    for (const std::int32_t pid : std::exchange(recorded_, {})) {
      std::string bytes(16, '\0');
      std::memcpy(bytes.data() + 4, &pid, 4);
      std::memcpy(bytes.data() + 8, &pid, 4);
      const auto now = clock_.now();
      const EventRecord record{.event = kWaking,
                               .time_ns = static_cast<std::uint64_t>(now.monotonic.count()) - 1,
                               .pid = pid,
                               .bytes = bytes};
      tracing_.feed(late_, {&record, 1}, now);
    }
  }
  std::string hits(const std::string& directory = kEvent) {
    const std::string hist = read(directory + "hist");
    const auto at = hist.rfind("Hits: ");
    return hist.substr(at, hist.find('\n', at) - at);
  }
  bool is_traced(std::string_view file, std::int32_t pid) {
    return read(file).find("pid=" + std::to_string(pid) + " ") != std::string::npos;
  }

  RecordingSource late_;
  std::vector<std::int32_t> recorded_;
};

TEST_F(TracingWritesTest, AHistogramIsPausedContinuedAndClearedBehindWhatWasRecorded) {
  ASSERT_TRUE(write(kEvent + "trigger", kByPid));
  record(7);
  ASSERT_TRUE(write(kEvent + "trigger", kByPid + ":pause"));
  record(7);
  EXPECT_EQ(hits(), "Hits: 1");
  record(7);
  ASSERT_TRUE(write(kEvent + "trigger", kByPid + ":cont"));
  EXPECT_EQ(hits(), "Hits: 1");
  record(7);
  ASSERT_TRUE(write(kEvent + "trigger", kByPid + ":clear"));
  EXPECT_EQ(hits(), "Hits: 0");
}

TEST_F(TracingWritesTest, AFilterIsForWhatComesThen) {
  ASSERT_TRUE(write(kEvent + "enable", "1"));
  record(7);
  ASSERT_TRUE(write(kEvent + "filter", "pid == 8"));
  record(8);
  record(9);
  ASSERT_TRUE(write("events/sched/filter", "pid == 10"));
  record(8);
  record(10);
  EXPECT_TRUE(is_traced("trace", 7));
  EXPECT_TRUE(is_traced("trace", 8));
  EXPECT_FALSE(is_traced("trace", 9));
  EXPECT_TRUE(is_traced("trace", 10));
}

TEST_F(TracingWritesTest, ProcessesAreChosenForWhatComesThen) {
  ASSERT_TRUE(write(kEvent + "enable", "1"));
  record(7);
  ASSERT_TRUE(write("set_event_pid", "8"));
  record(9);
  record(8);
  ASSERT_TRUE(truncate("set_event_pid"));
  record(10);
  ASSERT_TRUE(write("set_event_notrace_pid", "11"));
  record(11);
  ASSERT_TRUE(truncate("set_event_notrace_pid"));
  record(12);
  for (const std::int32_t pid : {7, 8, 10, 12}) EXPECT_TRUE(is_traced("trace", pid)) << pid;
  for (const std::int32_t pid : {9, 11}) EXPECT_FALSE(is_traced("trace", pid)) << pid;
}

TEST_F(TracingWritesTest, ATriggerOnAnEventThatIsOnSeesNothingOfBefore) {
  ASSERT_TRUE(write(kEvent + "enable", "1"));
  record(7);
  ASSERT_TRUE(write(kEvent + "trigger", kByPid));
  record(7);
  EXPECT_EQ(hits(), "Hits: 1");
  record(7);
  ASSERT_TRUE(truncate(kEvent + "trigger"));
  ASSERT_TRUE(write(kEvent + "trigger", kByPid));
  EXPECT_EQ(hits(), "Hits: 0");
}

TEST_F(TracingWritesTest, NorDoesOneInAnotherInstance) {
  const auto instances = tree_.rules(node("instances").value().id).value();
  ASSERT_TRUE(instances->make_directory("foo", clock_.now()));
  ASSERT_TRUE(write(kEvent + "enable", "1"));
  record(7);
  ASSERT_TRUE(write("instances/foo/" + kEvent + "trigger", kByPid));
  EXPECT_EQ(hits("instances/foo/" + kEvent), "Hits: 0");
}

TEST_F(TracingWritesTest, EnablingAndDisablingHaveTheirPlace) {
  ASSERT_TRUE(write(kEvent + "trigger", kByPid));
  const std::array<std::array<std::string, 3>, 4> files = {{{kEvent + "enable", "1", "0"},
                                                            {"events/sched/enable", "1", "0"},
                                                            {"events/enable", "1", "0"},
                                                            {"set_event", "sched:*", "!sched:*"}}};
  std::int32_t pid = 1000;
  for (const auto& [path, on, off] : files) {
    record(++pid);
    ASSERT_TRUE(write(path, on));
    record(++pid);
    ASSERT_TRUE(write(path, off));
    EXPECT_FALSE(is_traced("trace", pid - 1)) << path;
    EXPECT_TRUE(is_traced("trace", pid)) << path;
  }
}

TEST_F(TracingWritesTest, TheTraceIsSwitchedByAFileThatStaysOpen) {
  ASSERT_TRUE(write(kEvent + "enable", "1"));
  const auto open = file("tracing_on");
  open->opened(clock_.now());
  record(7);
  ASSERT_TRUE(open->write_line("0", clock_.now()));
  record(8);
  ASSERT_TRUE(open->write_line("1", clock_.now()));
  record(9);
  EXPECT_TRUE(is_traced("trace", 7));
  EXPECT_FALSE(is_traced("trace", 8));
  EXPECT_TRUE(is_traced("trace", 9));
}

TEST_F(TracingWritesTest, ASnapshotHasAllThatWasRecordedAndAClearedTraceNothing) {
  ASSERT_TRUE(write(kEvent + "enable", "1"));
  record(7);
  ASSERT_TRUE(write("snapshot", "1"));
  EXPECT_TRUE(is_traced("snapshot", 7));
  record(8);
  ASSERT_TRUE(truncate("trace"));
  EXPECT_FALSE(is_traced("trace", 8));
}

// A marker and what a program writes wait for the kernel's; a write does not overtake them.
TEST_F(TracingWritesTest, WhatWaitsForTheKernelsRecordsIsFedBeforeAWrite) {
  ASSERT_TRUE(write(kEvent + "enable", "1"));
  ASSERT_TRUE(write("events/ftrace/print/trigger", "hist:keys=common_pid"));
  ASSERT_TRUE(write("trace_marker", "held"));
  clock_.advance(std::chrono::microseconds(1));
  ASSERT_TRUE(write("events/ftrace/print/trigger", "hist:keys=common_pid:pause"));
  EXPECT_EQ(hits("events/ftrace/print/"), "Hits: 1");
}

TEST_F(TracingWritesTest, ASourceThatIsAskedForNothingIsNotDrained) {
  ASSERT_TRUE(offer(kernel_, "request", 1, "web"));
  ASSERT_TRUE(write("events/web/request/trigger", kByPid));
  ASSERT_TRUE(write("events/web/request/trigger", kByPid + ":pause"));
  ASSERT_TRUE(write("tracing_on", "0"));
  EXPECT_EQ(late_.drains, 0);
}

}  // namespace
}  // namespace tallyfs::tracing
