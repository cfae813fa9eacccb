// Texts that show facts of the system, and lists that are copied for a text.
#include "tests/unit/tracing/tracing_stand.h"

namespace tallyfs {
namespace {

class NamedProcesses final : public ProcessNames {
 public:
  std::string name_of(pid_t process) const override { return "process-" + std::to_string(process); }
  // Thread 13 has ended.
  pid_t group_of(pid_t thread) const override { return thread == 13 ? 0 : thread / 100 * 100; }
};

class TracingTextsTest : public TracingTest {
 protected:
  TracingTextsTest() : TracingTest({}, {.processes = &names()}) {}

  static const NamedProcesses& names() {
    static const NamedProcesses kNames;
    return kNames;
  }
};

TEST_F(TracingTextsTest, AMarkerBearsTheNameOfItsWriter) {
  ASSERT_TRUE(write("trace_marker", "hello"));
  const std::string trace = read("trace");
  EXPECT_NE(trace.find("process-77-77 "), std::string::npos) << trace;
  EXPECT_EQ(read("saved_cmdlines"), "77 process-77\n");
}

TEST_F(TracingTextsTest, ThreadsHaveTheirProcessesWhereThatIsRecorded) {
  ASSERT_TRUE(offer(kernel_, "sched_waking", kWaking));
  ASSERT_TRUE(write("events/sched/sched_waking/enable", "1"));
  feed(kernel_, kWaking, 7, 19, 101);
  EXPECT_EQ(read("saved_tgids"), "") << "it was not recorded";
  ASSERT_TRUE(write("options/record-tgid", "1"));
  for (const std::int32_t thread : {305, 13, 0, 305}) feed(kernel_, kWaking, 7, 19, thread);
  EXPECT_EQ(read("saved_tgids"), "305 300\n");
  const std::string trace = read("trace");
  EXPECT_NE(trace.find("TASK-PID       TGID    CPU#  |||||  TIMESTAMP"), std::string::npos);
  EXPECT_NE(trace.find("<...>-305     (    300) [000] "), std::string::npos) << trace;
  EXPECT_NE(trace.find("<...>-13      (-------) [000] "), std::string::npos) << trace;
  EXPECT_NE(trace.find("<idle>-0       (-------) [000] "), std::string::npos) << trace;
  ASSERT_TRUE(write("options/record-tgid", "0"));
  EXPECT_EQ(read("trace").find("TGID"), std::string::npos);
}

TEST_F(TracingTextsTest, TextsOfTheKernelAreThoseOfItsSource) {
  EXPECT_EQ(read("printk_formats"), "");
  ASSERT_TRUE(offer(kernel_, "sched_waking", kWaking));
  kernel_.texts = "0xffffffff8281a3f9 : \"preempt_rcu\"\n";
  EXPECT_EQ(read("printk_formats"), kernel_.texts);
}

TEST_F(TracingTextsTest, BufferPercentIsAPercentage) {
  EXPECT_EQ(read("buffer_percent"), "0\n");
  ASSERT_TRUE(write("buffer_percent", "100"));
  EXPECT_EQ(read("buffer_percent"), "100\n");
  for (const char* const wrong : {"101", "-1", "x", ""}) {
    EXPECT_FALSE(write("buffer_percent", wrong));
  }
  EXPECT_EQ(read("buffer_percent"), "100\n");
}

TEST_F(TracingTextsTest, ListsOfEventsFollowOffersAndWithdrawals) {
  EXPECT_EQ(read("available_events"), "");
  ASSERT_TRUE(offer(kernel_, "sched_waking", kWaking));
  EXPECT_EQ(read("available_events"), "sched:sched_waking\n");
  ASSERT_TRUE(offer(kernel_, "sched_switch", kSwitch));
  EXPECT_EQ(read("available_events"), "sched:sched_switch\nsched:sched_waking\n");
  ASSERT_TRUE(write("set_event", "sched_waking"));
  EXPECT_EQ(read("set_event"), "sched:sched_waking\n");
  tracing_.withdraw(kernel_, clock_.now());
  EXPECT_EQ(read("available_events"), "sched:sched_waking\n") << "it is enabled";
}

}  // namespace
}  // namespace tallyfs
