#include "feeders/tracefs/probe_group.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "feeders/tracefs/instance.h"
#include "feeders/tracefs/tracefs.h"
#include "tests/unit/temporary_directory.h"

namespace tallyfs {
namespace {

TEST(ProbeGroupTest, KnowsItsOwnNamesOnly) {
  const auto group = ProbeGroup::parse("tallyfs_4711_2147483647");
  ASSERT_TRUE(group);
  EXPECT_EQ(group->owner, 4711);
  EXPECT_EQ(group->number, 2147483647u);
  EXPECT_EQ(group->name(), "tallyfs_4711_2147483647");
  for (const char* const name :
       {"uprobes", "tallyfs_", "tallyfs_1", "tallyfs_1_", "tallyfs_0_1", "tallyfs_1_2147483648",
        "tallyfs_01_2", "tallyfs_1_2_3", "tallyfs_1_0x2", "my_tallyfs_1_2"}) {
    EXPECT_FALSE(ProbeGroup::parse(name)) << name;
  }
}

constexpr char kLog[] =
    "[  100.000001] trace_uprobe: error: Invalid register name\n"
    "  Command: p:tallyfs_1_2/a_1 /bin/bash:0x1000 x=%zz\n"
    "                                                ^\n"
    "[  100.000002] hist:sched:sched_switch: error: Couldn't find field\n"
    "  Command: keys=junk\n"
    "                ^\n"
    "[  100.000003] trace_uprobe: error: Unknown type is specified\n"
    "  Command: p:tallyfs_1_2/a_1 /bin/bash:0x1000 x=%di:u99\n"
    "                                                    ^\n";

TEST(ProbeGroupTest, FindsWhatTheKernelSaysOfALine) {
  const std::string line = "p:tallyfs_1_2/a_1 /bin/bash:0x1000 x=%di:u99";
  const auto refusal = find_refusal(kLog, line);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->reason, "Unknown type is specified");
  EXPECT_EQ(refusal->location, "trace_uprobe");
  EXPECT_EQ(refusal->token_at, line.find("u99"));
  EXPECT_FALSE(find_refusal(kLog, "p:tallyfs_1_2/a_1 /bin/bash:0x1000"));
  EXPECT_FALSE(find_refusal("", line));
}

// A directory with the files of a tracefs that are looked at. What is written stays in them.
class ProbeFilesTest : public testing::Test {
 protected:
  ProbeFilesTest() {
    std::filesystem::create_directory(directory_ / "instances");
    std::ofstream(directory_ / "uprobe_events") << "";
    put("p:foreign/a /bin/x:0x10\n");
  }

  void put(const std::string& text) const {
    std::ofstream(directory_ / "dynamic_events", std::ios::app) << text;
  }
  std::string written() const {
    std::ifstream file(directory_ / "dynamic_events");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const TemporaryDirectory directory_;
  const Fd tracefs_{::open((directory_ / "").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
};

TEST_F(ProbeFilesTest, AddsLinesAndNeverTruncates) {
  const std::string before = written();
  ASSERT_TRUE(append_probe_lines(tracefs_, "p:tallyfs_1_2/a_1 /bin/x:0x10\n"));
  ASSERT_TRUE(remove_probe_group(tracefs_, "tallyfs_1_2"));
  EXPECT_EQ(written(), before + "p:tallyfs_1_2/a_1 /bin/x:0x10\n-:tallyfs_1_2/\n");
  const auto probes = read_real_probes(tracefs_);
  ASSERT_EQ(probes.size(), 2u) << "removals are none";
  EXPECT_EQ(probes[1].group, "tallyfs_1_2");
  EXPECT_EQ(probes[1].event, "a_1");
  EXPECT_EQ(probes[1].text, "/bin/x:0x10");
}

TEST(RealProbeTest, AProgramHasAPathHoweverItIsWritten) {
  EXPECT_TRUE(RealProbe{.text = "bin/bash:0x1234 x=%di"}.is_of_program());
  EXPECT_TRUE(RealProbe{.text = "/bin/bash:0x1234"}.is_of_program());
  EXPECT_FALSE(RealProbe{.text = "ext4:ext4_sync_file+4 x=+0(%si):u64"}.is_of_program());
}

// Which are not offered, since their programs could not remove them while they are on.
TEST_F(ProbeFilesTest, ReadsTheNamesOfAllThatToolsAndProgramsDefine) {
  std::ofstream(directory_ / "dynamic_events") << "u:login u32 id; char name[8]\n"
                                                  "r10:kprobes/back vfs_read\n"
                                                  "s:synthetic/wakeup\tu64 lat\n"
                                                  "p:foreign/a /bin/x:0x10\n"
                                                  "-:foreign/a\nfour:foreign/b\np:c /bin/x:1\n";
  std::string names;
  for (const RealProbe& each : read_dynamic_events(tracefs_)) {
    names += std::string(1, each.kind) + " " + each.group + " " + each.event + "\n";
  }
  EXPECT_EQ(names, "u user_events login\nr kprobes back\ns synthetic wakeup\np foreign a\n");
}

TEST_F(ProbeFilesTest, RemovesTheGroupsThatAreLeftOverAndNoOthers) {
  auto lock = ProbeLock::take(tracefs_);
  ASSERT_TRUE(lock);
  const ProbeGroup alive{4711, lock.value().number};
  const ProbeGroup dead{4711, (alive.number + 1) & 0x7fffffff};
  put("p:" + alive.name() + "/a_1 /bin/x:0x10\np:" + dead.name() + "/a_1 /bin/x:0x10\n");
  const std::string before = written();
  EXPECT_EQ(orphaned_probe_groups(tracefs_), std::vector{dead.name()});
  EXPECT_EQ(remove_orphaned_probes(tracefs_).groups, 1u);
  EXPECT_EQ(written(), before + "-:" + dead.name() + "/\n");
  lock.value().fd.reset();
  EXPECT_EQ(remove_orphaned_probes(tracefs_).groups, 2u) << "the lock went with its holder";
}

// A process id is used again, and in containers by several mounts at once.
TEST_F(ProbeFilesTest, AnOrphanTakesNoInstanceOfAMountThatLivesWithItsProcessId) {
  const auto lock = ProbeLock::take(tracefs_);
  ASSERT_TRUE(lock);
  const InstanceOwner alive{4711, lock.value().number};
  const InstanceOwner dead{4711, (lock.value().number + 1) & 0x7fffffff};
  const auto make = [this](const std::string& name) {
    std::filesystem::create_directory(directory_ / "instances/" + name);
  };
  const auto has = [this](const std::string& name) {
    return std::filesystem::exists(directory_ / "instances/" + name);
  };
  for (const char* const of : {"tallyfs-events", "tallyfs-latency"}) {
    make(of + alive.suffix());
    make(of + dead.suffix());
  }
  put("p:" + ProbeGroup{4711, *dead.number}.name() + "/a_1 /bin/x:0x10\n");
  EXPECT_EQ(remove_orphaned_probes(tracefs_).groups, 1u);
  EXPECT_FALSE(has("tallyfs-events" + dead.suffix()));
  EXPECT_FALSE(has("tallyfs-latency" + dead.suffix()));
  make("tallyfs-events" + dead.suffix());
  const InstanceOwner another{4711, (lock.value().number + 2) & 0x7fffffff};
  EXPECT_EQ(TracefsInstance::remove_left_behind(tracefs_, &another), 0u);
  EXPECT_FALSE(has("tallyfs-events" + dead.suffix()));
  EXPECT_TRUE(has("tallyfs-events" + alive.suffix()));
  EXPECT_TRUE(has("tallyfs-latency" + alive.suffix()));
  // One that is open cannot be removed.
  make("tallyfs-events" + dead.suffix());
  make("tallyfs-events" + dead.suffix() + "/pipe");
  EXPECT_EQ(TracefsInstance::remove_left_behind(tracefs_, &another), 1u);
  (void)TracefsInstance::remove_left_behind(tracefs_, &alive);
  EXPECT_FALSE(has("tallyfs-events" + alive.suffix())) << "the supervisor's own, at its end";
}

TEST_F(ProbeFilesTest, WithoutProbesThereIsNoLock) {
  std::filesystem::rename(directory_ / "uprobe_events", directory_ / "kprobe_events");
  EXPECT_TRUE(ProbeLock::take(tracefs_)) << "a kernel may have either alone";
  std::filesystem::remove(directory_ / "kprobe_events");
  const auto lock = ProbeLock::take(tracefs_);
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().code, ErrorCode::kNoDevice);
  EXPECT_EQ(lock.error().reason, "this kernel has no uprobes (CONFIG_UPROBE_EVENTS)");
}

TEST(TracefsTest, SaysWhatMayForbidItsFiles) {
  const std::string locked = "none integrity [confidentiality]";
  EXPECT_EQ(why_forbidden(1000, locked), "not root?");
  EXPECT_EQ(why_forbidden(0, locked), "this kernel is locked down");
  EXPECT_EQ(why_forbidden(0, "none [integrity] confidentiality"),
            "no right of root here: a container?");
  EXPECT_EQ(why_forbidden(0, ""), "no right of root here: a container?");
}

// Linux 4.20 has uprobe_events, and no file of all kinds.
TEST_F(ProbeFilesTest, AKernelBeforeDynamicEventsSaysSo) {
  std::filesystem::remove(directory_ / "dynamic_events");
  const auto lock = ProbeLock::take(tracefs_);
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().code, ErrorCode::kNoDevice);
  EXPECT_EQ(lock.error().reason,
            "this kernel has no dynamic_events: probes need Linux 5.0 or later");
}

}  // namespace
}  // namespace tallyfs
