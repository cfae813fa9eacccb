// Many objects that go: in several calls, each of which has time for one step.
#include "core/base/clock.h"
#include "tests/unit/stats3_branch/subsystems_fixture.h"

namespace tallyfs::stats3 {
namespace {

class StatsRemovalsTest : public testing::Test {
 protected:
  static constexpr int kMany = 600;
  static constexpr pid_t kOne = 11, kTwo = 12;

  StatsRemovalsTest() {
    run("subsystem web", kOne);
    run("subsystem web", kTwo);
    for (int i = 0; i < kMany; ++i) {
      run("object web/o" + std::to_string(i) + " lifetime=feeder", kOne);
    }
    run("object web/lasting", kOne);
    run("object web/another lifetime=feeder", kTwo);
  }
  Done run(std::string_view line, pid_t process, const IsLate& is_late = never_late) {
    const auto parsed = wire::parse_line(line);
    const auto done = branch_.execute(std::get<wire::StatsLine>(parsed.value()),
                                      Sender(kAlice, process), clock_.now(), is_late);
    return done.value();
  }
  bool is_there(std::string_view object) {
    const NodeId stats = tree_.lookup(Tree::kRoot, "stats").value().id;
    const auto web = tree_.lookup(stats, "web");
    return web && tree_.lookup(web.value().id, object);
  }
  int left() {
    int count = 0;
    for (int i = 0; i < kMany; ++i) count += is_there("o" + std::to_string(i)) ? 1 : 0;
    return count;
  }

  FakeClock clock_{std::chrono::seconds(10)};
  Tree tree_{clock_.now()};
  Ledger ledger_{Ledger::Limits{}};
  FakeProcesses processes_;
  StatsBranch branch_{tree_, ledger_, kDaemon, clock_.now(),
                      BranchDependencies{.processes = &processes_}};
};

TEST_F(StatsRemovalsTest, OfAProcessThatHasEndedThoseGoThatNoOtherTakesUp) {
  processes_.watched.erase(kOne);
  ASSERT_FALSE(branch_.process_ended(kOne, clock_.now(), always_late));
  EXPECT_GT(left(), 0);
  EXPECT_LT(left(), kMany);
  int taken = 0;
  while (!is_there("o" + std::to_string(taken))) ++taken;
  const std::string name = "o" + std::to_string(taken);
  run("object web/" + name + " lifetime=feeder", kTwo);
  while (!branch_.process_ended(kOne, clock_.now(), always_late)) {
  }
  EXPECT_EQ(left(), 1);
  EXPECT_TRUE(is_there(name) && is_there("another") && is_there("lasting"));
}

TEST_F(StatsRemovalsTest, AProcessWithdrawsItsOwnInSeveralCalls) {
  ASSERT_TRUE(run("withdraw web", kOne, always_late).is_cut);
  EXPECT_GT(left(), 0);
  EXPECT_LT(left(), kMany);
  while (run("withdraw web", kOne, always_late).is_cut) {
  }
  EXPECT_EQ(left(), 0);
  EXPECT_FALSE(is_there("lasting"));
  EXPECT_TRUE(is_there("another"));
}

TEST_F(StatsRemovalsTest, AProcessThatEndsMeanwhileWithdrawsItsOwnAlone) {
  ASSERT_TRUE(run("withdraw web", kOne, always_late).is_cut);
  processes_.watched.erase(kOne);
  while (!branch_.process_ended(kOne, clock_.now(), always_late)) {
  }
  while (run("withdraw web", kOne, always_late).is_cut) {
  }
  EXPECT_EQ(left(), 0);
  EXPECT_FALSE(is_there("lasting"));
  EXPECT_TRUE(is_there("another"));
}

TEST_F(StatsRemovalsTest, APersonWithdrawsAllInSeveralCalls) {
  ASSERT_TRUE(run("withdraw web", 0, always_late).is_cut);
  EXPECT_GT(left(), 0);
  while (run("withdraw web", 0, always_late).is_cut) {
  }
  EXPECT_FALSE(tree_.lookup(tree_.lookup(Tree::kRoot, "stats").value().id, "web"));
  EXPECT_EQ(ledger_.total().statistics, 0u);
}

TEST_F(StatsRemovalsTest, RmdirRemovesAll) {
  ASSERT_TRUE(branch_.remove_subsystem("web", clock_.now()));
  EXPECT_FALSE(is_there("another"));
}

}  // namespace
}  // namespace tallyfs::stats3
