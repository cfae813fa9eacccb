// The tracing/latency_hist branch: names, modes, permitted writes, and requests for events.
#include "core/latency_hist/branch/latency_branch.h"

#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <utility>

#include "tests/unit/fake_clock.h"
#include "tests/unit/senders.h"

namespace tallyfs::latency_hist {
namespace {

using namespace std::chrono_literals;

class FakeKernel final : public KernelSource {
 public:
  Result<void> want(const std::function<WantedEvents()>& wanted,
                    const CancellationToken&) override {
    wanted_ = wanted();
    if (auto meanwhile = std::exchange(meanwhile_, {})) meanwhile();
    if (refusal_) return *refusal_;
    return {};
  }
  void drain(const CancellationToken&) override { drains_ += 1; }

  WantedEvents wanted_;
  std::optional<Error> refusal_;
  std::function<void()> meanwhile_;  // done while the next one waits
  int drains_ = 0;
};

class LatencyHistTest : public testing::Test {
 protected:
  explicit LatencyHistTest(KernelSource* source = nullptr)
      : branch_(tree_, tracing(), ledger_,
                {.cpus = 2,
                 .owner = kDaemon,
                 .source = source,
                 .warn = [this](const std::string& line) { warnings_.push_back(line); }},
                clock_.now()) {}

  NodeId tracing() {
    return tree_.add_directory(Tree::kRoot, "tracing", std::make_shared<Directory>(), clock_.now());
  }
  Result<NodeInfo> node(std::string path) {
    Result<NodeInfo> found = tree_.lookup(Tree::kRoot, "tracing");
    path = "latency_hist" + (path.empty() ? "" : "/" + path);
    while (found && !path.empty()) {
      const auto slash = std::min(path.find('/'), path.size());
      found = tree_.lookup(found.value().id, path.substr(0, slash));
      path.erase(0, slash + 1);
    }
    return found;
  }
  std::shared_ptr<File> file(const std::string& path) {
    return tree_.file(node(path).value().id).value();
  }
  std::string read(const std::string& path) {
    return file(path)->render(clock_.now(), 16 << 20).value();
  }
  Result<void> write(const std::string& path, std::string_view line) {
    return file(path)->write_line(line, clock_.now());
  }
  std::string list(const std::string& path) {
    std::string out;
    const auto entries = tree_.list(node(path).value().id, 0, 100).value();
    for (const NodeEntry& entry : entries) {
      char mode[8] = "dir";
      if (entry.info.kind == NodeKind::kFile)
        std::snprintf(mode, 8, "%04o", entry.info.audience.permissions);
      out += entry.name + " " + mode + "\n";
    }
    return out;
  }
  Result<std::size_t> feed(std::string_view name, std::chrono::nanoseconds latency,
                           unsigned cpu = 0, uid_t uid = kAlice) {
    const LatencySample sample{.latency_ns = latency.count(),
                               .cpu = cpu,
                               .task = {.pid = 7, .priority = 19, .name = {'r', 't'}}};
    return branch_.add(name, {&sample, 1}, 0, uid, clock_.now());
  }
  void wake(std::int64_t ns, std::int64_t latency_ns) {
    const Task task{.pid = 10, .priority = 19, .name = {'r', 't'}};
    const KernelEvent events[] = {
        {.time_ns = ns, .kind = KernelEventKind::kWakeup, .task = task},
        {.time_ns = ns + latency_ns, .kind = KernelEventKind::kSwitch, .task = task}};
    ASSERT_TRUE(branch_.take(events, 0, clock_.now()));
  }

  std::vector<std::string> warnings_;
  FakeClock clock_;
  Ledger ledger_{Ledger::Limits{}};  // outlives what the tree's files hold
  Tree tree_{clock_.now()};
  LatencyBranch branch_;
};

class SourceFixture {
 protected:
  FakeKernel source_;
};
class LatencyHistWithSourceTest : private SourceFixture, public LatencyHistTest {
 protected:
  LatencyHistWithSourceTest() : LatencyHistTest(&source_) {}
  using SourceFixture::source_;
};

TEST_F(LatencyHistTest, HasTheDirectoriesAndModesOfTheManual) {
  EXPECT_EQ(list(""),
            "enable dir\nirqsoff dir\npreemptoff dir\npreemptirqsoff dir\nwakeup dir\n"
            "missed_timer_offsets dir\ntimerandwakeup dir\n");
  EXPECT_EQ(list("enable"),
            "preemptirqsoff 0644\nwakeup 0644\nmissed_timer_offsets 0644\ntimerandwakeup 0644\n");
  EXPECT_EQ(list("irqsoff"),
            "CPU0 0444\nCPU1 0444\nreset 0644\nsummary 0444\ndata 0444\ndata.json 0444\ntop "
            "0444\nmaxima 0644\n"
            "snapshot_reset 0600\n");
  EXPECT_EQ(list("wakeup"),
            "CPU0 0444\nmax_latency-CPU0 0444\nCPU1 0444\nmax_latency-CPU1 0444\nreset 0644\n"
            "summary 0444\ndata 0444\ndata.json 0444\ntop 0444\nmaxima 0644\nsnapshot_reset "
            "0600\npid 0644\n"
            "sharedprio dir\n");
  EXPECT_TRUE(node("wakeup/sharedprio/max_latency-CPU1"));
  EXPECT_TRUE(node("missed_timer_offsets/pid"));
  EXPECT_FALSE(node("timerandwakeup/pid"));
  EXPECT_FALSE(node("wakeup/sharedprio/pid"));
}

TEST_F(LatencyHistTest, SaysWhyNothingCanBeEnabledWithoutAFeeder) {
  const auto done = write("enable/wakeup", "1");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kNoDevice);
  EXPECT_NE(done.error().reason.find("-o tracefs"), std::string::npos);
  EXPECT_EQ(read("enable/wakeup"), "0\n");
  EXPECT_TRUE(write("enable/wakeup", "0"));
}

TEST_F(LatencyHistWithSourceTest, ReadsBackWhatWasWritten) {
  for (const char* const value : {"1", "-5", "42", "0"}) {
    ASSERT_TRUE(write("enable/wakeup", value));
    EXPECT_EQ(read("enable/wakeup"), value + std::string("\n"));
    EXPECT_EQ(source_.wanted_.wakeups, std::string_view(value) != "0");
  }
}

TEST_F(LatencyHistWithSourceTest, RefusesJunkAndChangesNothing) {
  ASSERT_TRUE(write("enable/wakeup", "2"));
  for (const char* const junk : {"", "on", "1 2", "1x", "99999999999999999999"}) {
    const auto done = write("enable/wakeup", junk);
    ASSERT_FALSE(done) << junk;
    EXPECT_EQ(done.error().code, ErrorCode::kInvalid);
  }
  EXPECT_EQ(read("enable/wakeup"), "2\n");
  for (const char* const junk : {"", "-1", "0x10", "all", "4294967296", "1 1"}) {
    const auto done = write("wakeup/pid", junk);
    ASSERT_FALSE(done) << junk;
    EXPECT_EQ(done.error().code, ErrorCode::kInvalid);
  }
}

TEST_F(LatencyHistWithSourceTest, AsksTheFeederForWhatIsEnabled) {
  ASSERT_TRUE(write("enable/wakeup", "1"));
  ASSERT_TRUE(write("wakeup/pid", "4711"));
  EXPECT_EQ(source_.wanted_, (WantedEvents{.wakeups = true, .wakeup_pid = 4711}));
  ASSERT_TRUE(write("enable/missed_timer_offsets", "1"));
  ASSERT_TRUE(write("enable/preemptirqsoff", "1"));
  EXPECT_EQ(source_.wanted_,
            (WantedEvents{.wakeups = true, .timers = true, .sections = true, .wakeup_pid = 4711}));
  EXPECT_EQ(read("wakeup/pid"), "4711\n");
}

TEST_F(LatencyHistWithSourceTest, StaysOffWhenTheFeederRefuses) {
  source_.refusal_ = Error{ErrorCode::kNoDevice, "this kernel has no preemptirq events"};
  EXPECT_EQ(write("enable/preemptirqsoff", "1").error().code, ErrorCode::kNoDevice);
  EXPECT_EQ(read("enable/preemptirqsoff"), "0\n");
  EXPECT_FALSE(branch_.wanted().any());
}

TEST_F(LatencyHistWithSourceTest, StaysOffWhenSeveralWritersAreRefusedAtOnce) {
  std::future<Result<void>> other;
  source_.refusal_ = Error{ErrorCode::kNoDevice, "no"};
  source_.meanwhile_ = [&] {
    other = std::async(std::launch::async, [this] { return write("enable/wakeup", "1"); });
    EXPECT_EQ(other.wait_for(50ms), std::future_status::timeout) << "one writes at a time";
  };
  EXPECT_FALSE(write("enable/wakeup", "1"));
  EXPECT_FALSE(other.get());
  EXPECT_EQ(read("enable/wakeup"), "0\n");
}

TEST_F(LatencyHistWithSourceTest, GoesOffWhenAnotherFeederRefusesIt) {
  for (const char* const each : {"wakeup", "missed_timer_offsets", "timerandwakeup"}) {
    ASSERT_TRUE(write(std::string("enable/") + each, "1"));
  }
  branch_.feeder_refused(clock_.now());
  for (const char* const each : {"wakeup", "missed_timer_offsets", "timerandwakeup"}) {
    EXPECT_EQ(read(std::string("enable/") + each), "0\n") << each;
  }
}

TEST_F(LatencyHistWithSourceTest, TimerAndWakeupNeedsTheOthersAndGoesOffWithThem) {
  EXPECT_EQ(write("enable/timerandwakeup", "1").error().code, ErrorCode::kInvalid);
  ASSERT_TRUE(write("enable/wakeup", "1"));
  EXPECT_EQ(write("enable/timerandwakeup", "1").error().code, ErrorCode::kInvalid);
  ASSERT_TRUE(write("enable/missed_timer_offsets", "1"));
  ASSERT_TRUE(write("enable/timerandwakeup", "1"));
  ASSERT_TRUE(write("enable/wakeup", "0"));
  EXPECT_EQ(read("enable/timerandwakeup"), "0\n");
  EXPECT_EQ(read("enable/missed_timer_offsets"), "1\n");
}

TEST_F(LatencyHistWithSourceTest, AsksTheFeederForWhatItHoldsOnlyWhileSomethingIsOn) {
  file("wakeup/CPU0")->opened(clock_.now());
  EXPECT_EQ(source_.drains_, 0);
  ASSERT_TRUE(write("enable/wakeup", "1"));
  file("wakeup/CPU0")->opened(clock_.now());
  EXPECT_EQ(source_.drains_, 1);
}

TEST_F(LatencyHistWithSourceTest, AWakeupWithoutItsSwitchIsUnmatchedThoughNothingFollows) {
  ASSERT_TRUE(write("enable/wakeup", "1"));
  const KernelEvent wakeup{.time_ns = 1'000,
                           .kind = KernelEventKind::kWakeup,
                           .task = {.pid = 10, .priority = 19, .name = {'r', 't'}}};
  ASSERT_TRUE(branch_.take({&wakeup, 1}, 0, clock_.now()));
  clock_.advance(999ms);
  file("wakeup/summary")->opened(clock_.now());
  EXPECT_NE(read("wakeup/summary").find("unmatched 0\n"), std::string::npos);
  clock_.advance(2ms);
  file("wakeup/summary")->opened(clock_.now());
  EXPECT_NE(read("wakeup/summary").find("unmatched 1\n"), std::string::npos);
}

// Wakeups of one task on CPU 1, a millisecond apart, without a sign of what becomes of them.
TEST_F(LatencyHistWithSourceTest, SaysInTheFileOfTheCpuWhatIsMissingAndOnceInTheLog) {
  ASSERT_TRUE(write("enable/wakeup", "1"));
  wake(1'000, 3'000);
  std::vector<KernelEvent> wakeups;
  for (int i = 1; i <= 151; ++i) {
    wakeups.push_back({.time_ns = i * 1'000'000,
                       .kind = KernelEventKind::kWakeup,
                       .cpu = 1,
                       .task = {.pid = 10, .priority = 19}});
  }
  ASSERT_TRUE(branch_.take(wakeups, 0, clock_.now()));
  constexpr std::string_view kNote =
      "150 of 150 wakeups are not in this histogram: 150 without an event that shows the task "
      "running";
  const std::string one = read("wakeup/CPU1");
  EXPECT_NE(one.find("samples\n#" + std::string(kNote) + "\n     0\t"), std::string::npos);
  EXPECT_EQ(read("wakeup/CPU0").find("are not in"), std::string::npos);
  EXPECT_NE(read("wakeup/summary")
                .find("CPU0 samples 1 bounded 0 unmatched 0 lost 0\n"
                      "CPU1 samples 0 bounded 0 unmatched 150 lost 0\n"),
            std::string::npos);
  EXPECT_EQ(warnings_,
            std::vector<std::string>{"tracing/latency_hist/wakeup/CPU1: " + std::string(kNote) +
                                     "; the file goes on saying so"});
  ASSERT_TRUE(branch_.take(wakeups, 0, clock_.now()));
  EXPECT_EQ(warnings_.size(), 1u);
  ASSERT_TRUE(write("wakeup/reset", "1"));
  EXPECT_EQ(read("wakeup/CPU1").find("are not in"), std::string::npos);
}

TEST_F(LatencyHistTest, SaysWhatAProgramCouldNotSendInTheFilesOfAllCpus) {
  ASSERT_TRUE(feed("mine", 5us));
  ASSERT_TRUE(branch_.add("mine", {}, 3, kAlice, clock_.now()));
  for (const char* const file : {"mine/CPU0", "mine/CPU1"}) {
    EXPECT_NE(read(file).find("latencies are not in this histogram: 3 dropped by the program\n"),
              std::string::npos);
  }
  EXPECT_NE(read("mine/summary").find("lost 3\n"), std::string::npos);
}

TEST_F(LatencyHistWithSourceTest, ResetClearsItsDirectoryAlone) {
  ASSERT_TRUE(write("enable/wakeup", "1"));
  ASSERT_TRUE(write("wakeup/pid", "10"));
  wake(1'000, 3'000);
  ASSERT_TRUE(feed("mine", 5us));
  const auto version = file("wakeup/CPU0")->version(clock_.now());
  ASSERT_TRUE(write("wakeup/sharedprio/reset", "1"));
  EXPECT_EQ(read("wakeup/max_latency-CPU0"), "10 80 3 (0) rt <- 0 -21  0.000004\n");
  ASSERT_TRUE(write("wakeup/reset", ""));
  EXPECT_EQ(read("wakeup/max_latency-CPU0"), "(none)\n");
  EXPECT_TRUE(read("wakeup/CPU0").starts_with("#Minimum latency: <undef>\n"));
  EXPECT_NE(file("wakeup/CPU0")->version(clock_.now()), version);
  EXPECT_EQ(read("enable/wakeup"), "1\n");
  EXPECT_EQ(read("wakeup/pid"), "10\n");
  EXPECT_EQ(read("mine/max_latency-CPU0"), "7 80 5 rt\n");
}

TEST_F(LatencyHistWithSourceTest, KeepsWhatItHasWhenItIsSwitchedOff) {
  ASSERT_TRUE(write("enable/wakeup", "1"));
  wake(1'000, 3'000);
  ASSERT_TRUE(write("enable/wakeup", "0"));
  EXPECT_TRUE(read("wakeup/summary").starts_with("samples 1\n"));
}

TEST_F(LatencyHistWithSourceTest, TakesKernelEventsFromRootAndTheDaemonOnly) {
  const KernelEvent event{.kind = KernelEventKind::kLost, .number = 5};
  EXPECT_EQ(branch_.take({&event, 1}, kAlice, clock_.now()).error().code, ErrorCode::kNotPermitted);
  EXPECT_TRUE(branch_.take({&event, 1}, kDaemon, clock_.now()));
}

TEST_F(LatencyHistWithSourceTest, CountsAFeederThatWentAsALoss) {
  ASSERT_TRUE(write("enable/wakeup", "1"));
  branch_.feeder_changed(clock_.now());
  EXPECT_NE(read("wakeup/summary").find("lost 1\n"), std::string::npos);
}

TEST_F(LatencyHistTest, HasADirectoryForEachNameThatIsFed) {
  ASSERT_TRUE(feed("my_section", 5us));
  ASSERT_TRUE(feed("my_section", 9us, 1));
  EXPECT_EQ(
      list("my_section"),
      "CPU0 0444\nmax_latency-CPU0 0444\nCPU1 0444\nmax_latency-CPU1 0444\nreset 0644\n"
      "summary 0444\ndata 0444\ndata.json 0444\ntop 0444\nmaxima 0644\nsnapshot_reset 0600\n");
  EXPECT_EQ(read("my_section/top"), "CPU1 7 80 9 rt\nCPU0 7 80 5 rt\n");
  EXPECT_TRUE(read("my_section/data").starts_with("my_section <=0 0\n"));
}

TEST_F(LatencyHistTest, RefusesNamesThatAreNoneOrTheKernels) {
  for (const char* const name : {"", "a/b", "..", "wakeup", "enable", "a b"}) {
    const auto done = feed(name, 5us);
    ASSERT_FALSE(done) << name;
    EXPECT_EQ(done.error().code, ErrorCode::kInvalid);
  }
  EXPECT_EQ(feed("mine", 5us, 2).error().code, ErrorCode::kInvalid) << "no such CPU";
}

TEST_F(LatencyHistTest, OnlyTheFirstFeederOfADirectoryMayFeedResetAndRemoveIt) {
  ASSERT_TRUE(feed("mine", 5us));
  EXPECT_EQ(branch_.reset("mine", kAlice + 1, clock_.now()).error().code, ErrorCode::kNotPermitted);
  EXPECT_EQ(branch_.remove("mine", kAlice + 1, clock_.now()).error().code,
            ErrorCode::kNotPermitted);
  EXPECT_EQ(feed("mine", 5us, 0, kAlice + 1).error().code, ErrorCode::kNotPermitted);
  EXPECT_TRUE(read("mine/summary").starts_with("samples 1\n"));
  EXPECT_TRUE(feed("mine", 5us, 0, 0)) << "root";
  EXPECT_TRUE(feed("mine", 5us, 0, kDaemon)) << "the owner of the mount";
  EXPECT_TRUE(read("mine/summary").starts_with("samples 3\n"));
  ASSERT_TRUE(branch_.reset("mine", kAlice, clock_.now()));
  EXPECT_TRUE(read("mine/summary").starts_with("samples 0\n"));
  ASSERT_TRUE(branch_.remove("mine", kAlice, clock_.now()));
  EXPECT_FALSE(node("mine"));
  EXPECT_EQ(branch_.reset("mine", kAlice, clock_.now()).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(branch_.reset("wakeup", 0, clock_.now()).error().code, ErrorCode::kBusy);
}

TEST_F(LatencyHistTest, WhatIsRefusedAsAWholeLeavesNoDirectory) {
  const LatencySample samples[] = {{.latency_ns = 5, .cpu = 99}, {.latency_ns = 5}};
  const auto refused = branch_.add("mine", {samples, 1}, 0, kAlice, clock_.now());
  EXPECT_EQ(refused.error().reason, "a latency on a CPU that there is not");
  EXPECT_FALSE(node("mine"));
  EXPECT_EQ(branch_.add("mine", samples, 0, kAlice, clock_.now()).value(), 1u) << "one of two";
  EXPECT_TRUE(read("mine/summary").starts_with("samples 1\n"));
}

TEST_F(LatencyHistTest, WhatAProgramHasDroppedIsLostOfItsDirectory) {
  const LatencySample sample{.latency_ns = 5'000};
  ASSERT_TRUE(branch_.add("mine", {&sample, 1}, 3, kAlice, clock_.now()));
  ASSERT_TRUE(branch_.add("mine", {&sample, 1}, 4, kAlice, clock_.now()));
  EXPECT_NE(read("mine/summary").find("\nlost 7\n"), std::string::npos);
}

TEST_F(LatencyHistTest, RemovesFedDirectoriesAndGivesTheirShareBack) {
  ASSERT_TRUE(feed("mine", 5us));
  const auto open = file("mine/summary");
  EXPECT_GT(ledger_.total().bytes, 0u);
  ASSERT_TRUE(branch_.remove_directory("mine", clock_.now()));
  EXPECT_FALSE(node("mine"));
  EXPECT_TRUE(open->render(clock_.now(), 1 << 20).value().starts_with("samples 1\n"));
  EXPECT_EQ(branch_.remove_directory("mine", clock_.now()).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(branch_.remove_directory("wakeup", clock_.now()).error().code, ErrorCode::kBusy);
}

TEST_F(LatencyHistTest, SnapshotResetReturnsWhatItClears) {
  ASSERT_TRUE(feed("mine", 5us));
  const auto snapshot = file("mine/snapshot_reset");
  const std::string shown = snapshot->render(clock_.now(), 1 << 20).value();
  EXPECT_TRUE(shown.starts_with("#samples 1\n"));
  EXPECT_EQ(snapshot->take(clock_.now(), 1000)->error().code, ErrorCode::kNoSpace);
  EXPECT_TRUE(read("mine/summary").starts_with("samples 1\n")) << "what did not fit stays";
  EXPECT_EQ(snapshot->take(clock_.now(), 1 << 20)->value(), shown);
  EXPECT_TRUE(read("mine/summary").starts_with("samples 0\n"));
}

TEST_F(LatencyHistTest, MaximaAreToldHowLongTheirIntervalsAre) {
  ASSERT_TRUE(feed("mine", 5us));
  EXPECT_EQ(write("mine/maxima", "period=1").error().code, ErrorCode::kInvalid);
  ASSERT_TRUE(write("mine/maxima", "period=1000000"));
  ASSERT_TRUE(feed("mine", 6us));
  clock_.advance(1s);
  EXPECT_EQ(read("mine/maxima"), "CPU0 [1.000000] 1 6 6.000 6\n");
}

}  // namespace
}  // namespace tallyfs::latency_hist
