// What of tracing/latency_hist is there after a restart.
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "core/latency_hist/branch/latency_branch.h"
#include "tests/unit/fake_clock.h"
#include "tests/unit/golden_state.h"
#include "tests/unit/saved_objects.h"
#include "tests/unit/senders.h"

namespace tallyfs::latency_hist {
namespace {

using namespace std::chrono_literals;

class WillingKernel final : public KernelSource {
 public:
  Result<void> want(const std::function<WantedEvents()>&, const CancellationToken&) override {
    return {};
  }
  void drain(const CancellationToken&) override {}
};

// Files that show all that is kept, below each directory.
constexpr std::array kDirectoriesShown = {"disk", "net", "wakeup", "wakeup/sharedprio", "irqsoff"};
constexpr std::array kFilesShown = {"CPU0", "CPU1",   "summary",          "data",
                                    "top",  "maxima", "max_latency-CPU0", "max_latency-CPU1"};

class LatencyDaemon {
 public:
  explicit LatencyDaemon(const FakeClock& clock, unsigned cpus = 2, bool has_kernel = true)
      : clock_(clock),
        branch_(tree_,
                tree_.add_directory(Tree::kRoot, "tracing", std::make_shared<Directory>(),
                                    clock_.now()),
                ledger_,
                {.cpus = cpus, .owner = kDaemon, .source = has_kernel ? &kernel_ : nullptr},
                clock_.now()) {}

  LatencyBranch& branch() { return branch_; }

  std::string read(const std::string& path) {
    NodeId at =
        tree_.lookup(tree_.lookup(Tree::kRoot, "tracing").value().id, "latency_hist").value().id;
    for (std::size_t from = 0;;) {
      const std::size_t slash = std::min(path.find('/', from), path.size());
      const auto found = tree_.lookup(at, path.substr(from, slash - from));
      if (!found) return "(none)";
      at = found.value().id;
      if (slash == path.size()) break;
      from = slash + 1;
    }
    file_ = tree_.file(at).value();
    return file_->render(clock_.now(), 16 << 20).value();
  }
  Result<void> write(const std::string& path, std::string_view line) {
    (void)read(path);
    return file_->write_line(line, clock_.now());
  }
  Result<std::size_t> feed(std::string_view name, std::chrono::nanoseconds latency,
                           unsigned cpu = 0, std::uint64_t lost = 0, uid_t uid = kAlice) {
    const LatencySample sample{.latency_ns = latency.count(),
                               .time_ns = clock_.now().monotonic.count(),
                               .cpu = cpu,
                               .task = {.pid = 7, .priority = 19, .name = {'r', 't'}}};
    return branch_.add(name, {&sample, 1}, lost, uid, clock_.now());
  }
  void wake(std::int64_t ns, std::int64_t latency_ns) {
    const Task task{.pid = 10, .priority = 19, .name = {'r', 't'}};
    const KernelEvent events[] = {
        {.time_ns = ns, .kind = KernelEventKind::kWakeup, .task = task},
        {.time_ns = ns + latency_ns, .kind = KernelEventKind::kSwitch, .task = task}};
    EXPECT_TRUE(branch_.take(events, 0, clock_.now()));
  }
  std::string all_texts() {
    std::string text;
    for (const std::string directory : kDirectoriesShown) {
      for (const char* const file : kFilesShown) {
        text.append("== ").append(directory).append("/").append(file).append("\n");
        text.append(read(directory + "/" + file));
      }
    }
    for (const char* const file :
         {"enable/wakeup", "enable/missed_timer_offsets", "enable/timerandwakeup",
          "enable/preemptirqsoff", "wakeup/pid"}) {
      text.append("== ").append(file).append("\n").append(read(file));
    }
    return text;
  }
  Result<void> load(const SavedObjects& saved, Boot boot = Boot::kThis) {
    return saved.load_into(branch_, {.boot = boot, .now = clock_.now()});
  }

 private:
  const FakeClock& clock_;
  WillingKernel kernel_;
  Ledger ledger_{Ledger::Limits{}};  // outlives what the tree's files hold
  Tree tree_{clock_.now()};
  LatencyBranch branch_;
  std::shared_ptr<File> file_;
};

class LatencySavedTest : public testing::Test {
 protected:
  LatencySavedTest() {
    EXPECT_TRUE(first_.feed("disk", 12us));
    EXPECT_TRUE(first_.feed("disk", 20ms, 1, 3));
    EXPECT_TRUE(first_.feed("net", -5us));
    EXPECT_TRUE(first_.write("disk/maxima", "period=1000000 entries_max=9"));
    EXPECT_TRUE(first_.feed("disk", 7us));
    EXPECT_TRUE(first_.write("enable/wakeup", "1"));
    EXPECT_TRUE(first_.write("enable/missed_timer_offsets", "5"));
    EXPECT_TRUE(first_.write("enable/timerandwakeup", "1"));
    EXPECT_TRUE(first_.write("wakeup/pid", "10"));
    first_.wake(1'000'000'000, 17'000);
    clock_.advance(2500ms);
  }

  FakeClock clock_{10s};
  LatencyDaemon first_{clock_}, second_{clock_};
};

TEST_F(LatencySavedTest, AllIsThereAndGoesOn) {
  const SavedObjects saved(first_.branch());
  const auto loaded = second_.load(saved);
  ASSERT_TRUE(loaded) << loaded.error().reason;
  EXPECT_EQ(second_.all_texts(), first_.all_texts());
  EXPECT_EQ(SavedObjects(second_.branch()), SavedObjects(first_.branch()));
  clock_.advance(1s);
  for (LatencyDaemon* const each : {&first_, &second_}) {
    ASSERT_TRUE(each->feed("disk", 9us));
    each->wake(2'000'000'000, 3000);
  }
  EXPECT_EQ(second_.all_texts(), first_.all_texts());
  EXPECT_NE(first_.read("disk/CPU0").find("#Total samples: 3"), std::string::npos);
}

TEST_F(LatencySavedTest, FilesOfTheFirstFormatsLoadAndShowWhatWasSaved) {
  const std::string file = golden::file_of(first_.branch(), clock_.now());
  golden::expect_same("latency_hist.1.hex", golden::to_hex(file));
  const std::string kept = golden::from_hex(golden::read("latency_hist.1.hex"));
  golden::load_file(kept, second_.branch(), clock_.now());
  EXPECT_EQ(second_.all_texts(), first_.all_texts());
}

TEST_F(LatencySavedTest, ADirectoryKeepsItsOwner) {
  ASSERT_TRUE(second_.load(SavedObjects(first_.branch())));
  EXPECT_EQ(second_.feed("disk", 1us, 0, 0, kBob).error().code, ErrorCode::kNotPermitted);
}

TEST_F(LatencySavedTest, AfterARebootTimesAreZeroAndMaximaBeginAnew) {
  ASSERT_TRUE(second_.load(SavedObjects(first_.branch()), Boot::kOther));
  EXPECT_EQ(second_.read("disk/CPU1"), first_.read("disk/CPU1"));
  EXPECT_EQ(second_.read("disk/summary"), first_.read("disk/summary"));
  EXPECT_EQ(second_.read("disk/maxima"), "");
  EXPECT_EQ(second_.read("wakeup/pid"), "0\n");
  EXPECT_EQ(second_.read("enable/wakeup"), "1\n");
  clock_.advance(5s);
  ASSERT_TRUE(second_.feed("disk", 1us));
}

TEST_F(LatencySavedTest, WithoutTheKernelsEventsNothingIsEnabled) {
  LatencyDaemon without(clock_, 2, false);
  EXPECT_EQ(without.load(SavedObjects(first_.branch())).error().code, ErrorCode::kNoDevice);
  EXPECT_EQ(without.read("enable/wakeup"), "0\n");
  EXPECT_EQ(without.read("wakeup/CPU0"), first_.read("wakeup/CPU0"));
}

TEST_F(LatencySavedTest, CpusThatThisMachineLacksAreRefused) {
  LatencyDaemon smaller(clock_, 1);
  EXPECT_FALSE(smaller.load(SavedObjects(first_.branch())));
  EXPECT_EQ(smaller.read("disk/CPU0"), "(none)");
  EXPECT_EQ(smaller.read("net/CPU0"), first_.read("net/CPU0"));
}

TEST_F(LatencySavedTest, TheStampChangesWithWhatIsSaved) {
  const auto stamp = [this] { return first_.branch().stamp(clock_.now()); };
  std::uint64_t last = stamp();
  const auto changes = [&] {
    const std::uint64_t now = stamp();
    return std::exchange(last, now) != now;
  };
  EXPECT_FALSE(changes());
  ASSERT_TRUE(first_.feed("disk", 9us));
  EXPECT_TRUE(changes());
  ASSERT_TRUE(first_.write("wakeup/pid", "11"));
  EXPECT_TRUE(changes());
  ASSERT_TRUE(first_.branch().remove("net", kAlice, clock_.now()));
  EXPECT_TRUE(changes());
}

TEST_F(LatencySavedTest, BytesThatWereNotWrittenSoAreRefusedAndNothingIsThere) {
  const SavedObjects saved(first_.branch());
  const Loading loading{.now = clock_.now()};
  for (std::size_t i = 0; i < saved.size(); ++i) {
    const SavedObject whole = saved.at(i);
    for (std::size_t cut = 0; cut < whole.bytes.size(); ++cut) {
      SavedObject object = whole;
      object.bytes = whole.bytes.substr(0, cut);
      ASSERT_FALSE(second_.branch().load(object, loading)) << whole.label << " " << cut;
    }
    SavedObject other = whole;
    other.format = 2;
    EXPECT_FALSE(second_.branch().load(other, loading));
  }
  EXPECT_EQ(SavedObjects(second_.branch()).size(), 0u);
  for (std::size_t i = 0; i < saved.size(); ++i) {
    const SavedObject whole = saved.at(i);
    for (std::size_t at = 0; at < whole.bytes.size(); ++at) {
      std::string flipped(whole.bytes);
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
      SavedObject object = whole;
      object.bytes = flipped;
      LatencyDaemon daemon(clock_);
      const bool is_loaded = daemon.branch().load(object, loading).has_value();
      const std::size_t objects = SavedObjects(daemon.branch()).size();
      ASSERT_TRUE(is_loaded || objects == 0) << whole.label << " " << at;
      (void)daemon.read("disk/top");
      (void)daemon.read("disk/maxima");
    }
  }
}

TEST_F(LatencySavedTest, WhatIsThereAlreadyIsNotReplaced) {
  const SavedObjects saved(first_.branch());
  EXPECT_EQ(first_.load(saved).error().code, ErrorCode::kExists);
  EXPECT_EQ(SavedObjects(first_.branch()), saved);
}

}  // namespace
}  // namespace tallyfs::latency_hist
