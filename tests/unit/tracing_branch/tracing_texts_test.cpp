// Texts that show facts of the system, and lists that are copied for a text.
#include "core/tracing/branch/task_groups.h"
#include "tests/unit/tracing_branch/tracing_fixture.h"

namespace tallyfs::tracing {
namespace {

class NamedProcesses final : public ProcessNames {
 public:
  std::string name_of(pid_t process) const override { return "process-" + std::to_string(process); }
  // Thread 13 has ended.
  pid_t group_of(pid_t thread) const override {
    if (thread == 13 || ended == thread) return 0;
    return thread / 100 * 100 + later;
  }

  mutable pid_t later = 0;  // other processes have the threads' numbers
  mutable pid_t ended = 0;
};

class TracingTextsTest : public TracingTest {
 protected:
  TracingTextsTest() : TracingTest({}, {.processes = &names()}) {}

  ~TracingTextsTest() override { names().later = names().ended = 0; }

  static const NamedProcesses& names() {
    static const NamedProcesses kNames;
    return kNames;
  }
  void record_groups() {
    ASSERT_TRUE(offer(kernel_, "sched_waking", kWaking));
    ASSERT_TRUE(write("events/sched/sched_waking/enable", "1"));
    ASSERT_TRUE(write("options/record-tgid", "1"));
  }
  // A record of the thread, with its name.
  void feed_named(std::int32_t thread, std::string_view comm) {
    std::string bytes(16, '\0');
    const EventRecord record{.event = kWaking, .pid = thread, .bytes = bytes, .comm = comm};
    tracing_.feed(kernel_, {&record, 1}, clock_.now());
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

TEST_F(TracingTextsTest, AThreadOfAnotherNameIsLookedUpAgain) {
  record_groups();
  feed_named(305, "sh");
  names().later = 7;
  feed_named(305, "sh");
  EXPECT_EQ(read("saved_tgids"), "305 300\n") << "not with each record";
  feed_named(305, "cat");
  EXPECT_EQ(read("saved_tgids"), "305 307\n");
  EXPECT_NE(read("trace").find("cat-305     (    307) "), std::string::npos) << read("trace");
}

TEST_F(TracingTextsTest, AThreadIsLookedUpAgainLater) {
  record_groups();
  feed_named(305, "sh");
  names().later = 7;
  clock_.advance(TaskGroups::kFreshFor);
  feed_named(305, "sh");
  EXPECT_EQ(read("saved_tgids"), "305 307\n");
}

TEST_F(TracingTextsTest, AThreadThatHasEndedKeepsItsProcessUnlessItsNameIsAnother) {
  record_groups();
  feed_named(305, "sh");
  names().ended = 305;
  feed_named(305, "true");
  EXPECT_EQ(read("saved_tgids"), "305 300\n") << "it has called exec";
  clock_.advance(TaskGroups::kFreshFor);
  feed_named(305, "true");
  EXPECT_EQ(read("saved_tgids"), "305 300\n");
  clock_.advance(TaskGroups::kFreshFor);
  feed_named(305, "sh");
  EXPECT_EQ(read("saved_tgids"), "") << "it may be another one";
}

TEST_F(TracingTextsTest, ProcessesAreForgottenOnceNoInstanceRecordsThem) {
  record_groups();
  const auto instances = tree_.rules(node("instances").value().id).value();
  ASSERT_TRUE(instances->make_directory("other", clock_.now()));
  ASSERT_TRUE(write("instances/other/options/record-tgid", "1"));
  feed_named(305, "sh");
  ASSERT_TRUE(write("options/record-tgid", "0"));
  EXPECT_EQ(read("saved_tgids"), "305 300\n");
  ASSERT_TRUE(write("instances/other/options/record-tgid", "0"));
  EXPECT_EQ(read("saved_tgids"), "");
}

TEST(TaskGroupsTest, WithOneMoreTheOldestIsForgotten) {
  TaskGroups groups;
  const pid_t last = static_cast<pid_t>(TaskGroups::kTasksMax) + 1;
  for (pid_t task = 1; task <= last; ++task) groups.enter(task, "", 4, TaskGroups::Time(task));
  const auto all = groups.all();
  EXPECT_EQ(all->size(), TaskGroups::kTasksMax);
  EXPECT_FALSE(all->contains(1));
  EXPECT_TRUE(all->contains(last));
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
}  // namespace tallyfs::tracing
