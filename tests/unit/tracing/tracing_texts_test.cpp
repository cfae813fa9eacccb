// Texts that show facts of the system, and lists that are copied for a text.
#include "tests/unit/tracing/tracing_stand.h"

namespace tallyfs {
namespace {

class NamedProcesses final : public ProcessNames {
 public:
  std::string name_of(pid_t process) const override { return "process-" + std::to_string(process); }
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
