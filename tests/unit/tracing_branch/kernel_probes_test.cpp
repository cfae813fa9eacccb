// Probes of the kernel's functions, on a played kernel that has both kinds.
#include "tests/unit/tracing_branch/probes_fixture.h"

namespace tallyfs::tracing {
namespace {

class KernelProbesTest : public ProbesTest {
 protected:
  KernelProbesTest() : ProbesTest({.programs = true, .kernel = true}) {}

  Result<void> write_to(std::string_view path, std::string_view text) {
    CallContext call(clock_.now());
    call.uid = 0;
    return file(path)->write_line(text, call);
  }
};

TEST_F(KernelProbesTest, EachFileHasTheProbesOfItsKind) {
  ASSERT_TRUE(write_to("kprobe_events", "p:open do_sys_open flags=%cx\nr10:back vfs_read $retval"));
  ASSERT_TRUE(write("p:a /bin/x:0x10"));
  const std::string of_kernel =
      "p:kprobes/open do_sys_open flags=%cx\nr10:kprobes/back vfs_read $retval\n";
  EXPECT_EQ(read("kprobe_events"), of_kernel);
  EXPECT_EQ(read("uprobe_events"), "p:uprobes/a /bin/x:0x10\n");
  EXPECT_EQ(read("dynamic_events"), of_kernel + "p:uprobes/a /bin/x:0x10\n");
  EXPECT_EQ(probes_.made[1].instances, 10u);
  ASSERT_TRUE(write_to("dynamic_events", "p vfs_write"));
  EXPECT_TRUE(has("events/kprobes/p_vfs_write_0"));
  EXPECT_EQ(write_to("kprobe_events", "-:a").error().code, ErrorCode::kNotFound);
  CallContext call(clock_.now());
  call.uid = 0;
  ASSERT_TRUE(file("kprobe_events")->truncate(call));
  EXPECT_EQ(read("dynamic_events"), "p:uprobes/a /bin/x:0x10\n");
}

TEST_F(KernelProbesTest, DynamicEventsTakesTheOtherKindsAndListsThem) {
  const std::string lines =
      "e:eprobes/e sched.sched_switch n=$next_pid if prev_pid == 1\n"
      "f10:fprobes/vfs_write__exit vfs_write%return ret=$retval\n"
      "t:tracepoints/sched_waking sched_waking\n";
  ASSERT_TRUE(write_to("dynamic_events", lines));
  EXPECT_EQ(read("dynamic_events"), lines);
  EXPECT_EQ(read("kprobe_events"), "");
  EXPECT_TRUE(has("events/tracepoints/sched_waking/trigger"));
  using enum ProbeTarget;
  EXPECT_EQ(probes_.made[0].target, kEvent);
  EXPECT_EQ(probes_.made[1].target, kFunction);
  EXPECT_EQ(probes_.made[1].instances, 10u);
  EXPECT_EQ(probes_.made[2].target, kTracepoint);
  const std::string json = read("probes.json");
  for (const char* const target : {"event", "function", "tracepoint"}) {
    EXPECT_NE(json.find(std::string(R"("target":")") + target), json.npos) << json;
  }
  EXPECT_NE(json.find(R"("hits":null,"missed":null})"), json.npos) << "nothing counts them";
  ASSERT_TRUE(write_to("dynamic_events", "-:tracepoints/\n-:e"));
  EXPECT_EQ(probes_.removed, (std::vector<std::uint64_t>{3, 1}));
}

TEST_F(KernelProbesTest, AnEventOfTheMountIsNoneOfTheKernel) {
  ASSERT_TRUE(write("p:a /bin/x:0x10"));
  ASSERT_TRUE(write_to("dynamic_events", "s:lat u64 us"));
  for (const char* const line : {"e:x uprobes/a", "e:x synthetic.lat"}) {
    const auto done = write_to("dynamic_events", line);
    ASSERT_FALSE(done) << line;
    EXPECT_EQ(done.error().code, ErrorCode::kInvalid);
    EXPECT_EQ(done.error().reason,
              "an e: line is of an event of the kernel, not of one that this mount has made");
    EXPECT_EQ(done.error().token_at, 4u);
  }
}

TEST_F(KernelProbesTest, AFileRefusesLinesOfTheOtherKind) {
  const auto refused = [this](std::string_view path, std::string_view line) {
    const auto done = write_to(path, line);
    return done ? "none" : done.error().reason;
  };
  EXPECT_EQ(refused("uprobe_events", "p:a vfs_read"), "a place is PATH:OFFSET or PATH:FUNCTION");
  EXPECT_EQ(refused("kprobe_events", "p:a /bin/x:0x10"),
            "a place in the kernel is FUNCTION or FUNCTION+OFFSET");
  ASSERT_TRUE(write_to("kprobe_events", "p:one/a vfs_read"));
  EXPECT_EQ(refused("uprobe_events", "p:one/a /bin/x:0x10"),
            "a probe of this name is in other code");
  EXPECT_EQ(probes_.made.size(), 1u);
}

TEST_F(KernelProbesTest, TheProfileHasMissesAndNoFiles) {
  ASSERT_TRUE(write_to("kprobe_events", "p:open do_sys_open flags=%cx"));
  probes_.counted = ProbeHits{.places = {{{1, "do_sys_open"}, {{.hits = 1'234, .missed = 56}}}}};
  EXPECT_EQ(read("kprobe_profile"), "  open" + std::string(40, ' ') + " " + std::string(11, ' ') +
                                        "1234 " + std::string(13, ' ') + "56\n");
  EXPECT_EQ(read("uprobe_profile"), "");
  const std::string json = read("probes.json");
  EXPECT_NE(json.find(R"("kind":"entry","target":"kernel")"), json.npos) << json;
  EXPECT_NE(json.find(R"("place":"do_sys_open flags=%cx","hits":1234,"missed":56})"), json.npos)
      << json;
}

// In an interrupt the task that ran is another's. The arguments are no tasks.
TEST_F(KernelProbesTest, AHitOfAnOwnThreadCountsInAnInterruptAlone) {
  ASSERT_TRUE(write_to("kprobe_events", "p:a vfs_read"));
  ASSERT_TRUE(put("events/kprobes/a/trigger", "hist:keys=prio"));
  tracing_.leave_out({42});
  feed(1, 42, '\0');
  feed(1, 42, '\x08');
  feed(1, 43, '\0');
  EXPECT_NE(read("events/kprobes/a/hist").find("Hits: 2\n"), std::string::npos);
}

TEST_F(ProbesTest, AKernelWithoutKprobesSaysSo) {
  EXPECT_FALSE(has("kprobe_events"));
  EXPECT_FALSE(has("kprobe_profile"));
  CallContext call(clock_.now());
  call.uid = 0;
  const auto refused = file("dynamic_events")->write_line("p:a vfs_read", call);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(refused.error().reason, "this kernel has no kprobes (CONFIG_KPROBE_EVENTS)");
  EXPECT_EQ(refused.error().location, "probe");
}

}  // namespace
}  // namespace tallyfs::tracing
