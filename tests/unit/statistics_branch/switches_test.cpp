// The page of switches, as a feeder that mapped it would find it.
#include <array>
#include <atomic>
#include <thread>

#include "tests/unit/statistics_branch/statistics_fixture.h"

namespace tallyfs::statistics {
namespace {

constexpr std::size_t kSwitches = 4;

struct Page {
  std::array<Switch, kSwitches> switches{};
};

class SwitchesTest : protected Page, public StatisticsTest {
 protected:
  enum State { kGone, kOff, kOn, kGoneButOff };

  SwitchesTest() : StatisticsTest({.switches = {Page::switches}}) {}

  std::uint64_t make(const std::string& text) { return execute("create " + text).value().number; }
  State state(std::uint64_t number) {
    const Switch& at = Page::switches.at(static_cast<std::uint32_t>(number));
    const bool on = at.on != 0;
    if (at.generation != number >> 32) return on ? kGone : kGoneButOff;
    return on ? kOn : kOff;
  }
  std::shared_ptr<File> open(std::string_view interface, std::string_view file) {
    const auto directory = tree_.lookup(Tree::kRoot, "statistics").value();
    const auto found = tree_.lookup(directory.id, interface).value();
    return tree_.file(tree_.lookup(found.id, file).value().id).value();
  }
};

TEST_F(SwitchesTest, AStatisticBeginsAsItIsCreated) {
  EXPECT_EQ(state(make("web/off")), kOff);
  EXPECT_EQ(state(make("web/on on=1 type=range")), kOn);
  send("web/sampled", 1);
  EXPECT_EQ(state(execute("attach web/sampled").value().number), kOn);
}

// Most are fed by name alone. What feeders see of one takes memory.
TEST_F(SwitchesTest, AnEntryIsWrittenForTheFirstThatAsksForTheNumber) {
  send("web/sampled", 1);
  EXPECT_EQ(Page::switches[0].generation, 0u);
  EXPECT_EQ(Page::switches[0].on, 0u);
  ASSERT_TRUE(execute("define web on=0"));
  const auto number = execute("attach web/sampled").value().number;
  EXPECT_EQ(state(number), kOff);
  ASSERT_TRUE(execute("define web on=1"));
  EXPECT_EQ(execute("attach web/sampled").value().number, number);
  EXPECT_EQ(state(number), kOn);
}

TEST_F(SwitchesTest, OnAndOffAreSeenWhenTheLineIsDoneForOneAndForAll) {
  const auto a = make("web/a");
  const auto b = make("web/b");
  ASSERT_TRUE(execute("define web name=a on=1"));
  EXPECT_EQ(state(a), kOn);
  EXPECT_EQ(state(b), kOff);
  ASSERT_TRUE(execute("define web on=1"));
  EXPECT_EQ(state(a), kOn);
  EXPECT_EQ(state(b), kOn);
  ASSERT_TRUE(execute("define web on=0 type=range data=reset"));
  EXPECT_EQ(state(a), kOff);
  EXPECT_EQ(state(b), kOff);
}

TEST_F(SwitchesTest, ALineThatIsRefusedOrDoesNotSaySoSwitchesNothing) {
  const auto a = make("web/a on=1");
  EXPECT_FALSE(execute("define web on=0 type=list"));
  EXPECT_EQ(state(a), kOn);
  ASSERT_TRUE(execute("define web type=raw entries_max=5"));
  EXPECT_EQ(state(a), kOn);
  ASSERT_TRUE(execute("create web/a on=0"));
  EXPECT_EQ(state(a), kOn);
}

TEST_F(SwitchesTest, OneThatIsGoneSaysOnAndThatItIsGone) {
  const auto off = make("web/a");
  const auto on = make("web/b on=1");
  const auto other = make("other/c");
  ASSERT_TRUE(execute("remove web/a"));
  EXPECT_EQ(state(off), kGone);
  EXPECT_EQ(state(on), kOn);
  ASSERT_TRUE(execute("remove web"));
  EXPECT_EQ(state(on), kGone);
  ASSERT_TRUE(statistics_.remove_interface("other", clock_.now()));
  EXPECT_EQ(state(other), kGone);
}

TEST_F(SwitchesTest, ASlotIsUsedAgainUnderAnotherGeneration) {
  const auto first = make("web/a on=1");
  ASSERT_TRUE(execute("remove web/a"));
  const auto second = make("web/a");
  EXPECT_EQ(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(second));
  EXPECT_EQ(second >> 32, (first >> 32) + 1);
  EXPECT_EQ(state(second), kOff);
  EXPECT_NE(state(first), kOff) << "a holder of the old number must not take it for its own";
  ASSERT_TRUE(execute("define web on=1"));
  EXPECT_EQ(state(second), kOn);
  EXPECT_EQ(state(first), kGone);
}

TEST_F(SwitchesTest, AnOpenDefinitionDoesNotFlipWhatBecameAnothers) {
  const auto first = make("web/a on=1");
  const auto held = open("web", "definition");
  ASSERT_TRUE(execute("remove web"));
  ASSERT_TRUE(held->write_line("on=0", clock_.now()));
  EXPECT_EQ(state(first), kGone);
  const auto second = make("other/b");
  ASSERT_EQ(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(second));
  ASSERT_TRUE(held->write_line("on=1", clock_.now()));
  EXPECT_EQ(state(second), kOff);
}

TEST_F(SwitchesTest, OneThatIsRemovedAloneLeavesTheOthersOfItsInterfaceTheirs) {
  const auto gone = make("web/gone on=1");
  const auto kept = make("web/kept on=1");
  const auto held = open("web", "definition");
  ASSERT_TRUE(execute("remove web/gone"));
  ASSERT_TRUE(held->write_line("on=0", clock_.now()));
  EXPECT_EQ(state(gone), kGone);
  EXPECT_EQ(state(kept), kOff);
}

TEST_F(SwitchesTest, ACreateThatIsRefusedTakesNoSwitch) {
  ASSERT_FALSE(execute("create web/a type=nonsense on=1"));
  EXPECT_EQ(state(make("web/b")), kOff);
  EXPECT_EQ(Page::switches[1].generation, 0u);
}

TEST_F(SwitchesTest, BeyondThePageThereAreStatisticsWithoutSwitches) {
  for (std::size_t i = 0; i < kSwitches + 3; ++i) make("web/s" + std::to_string(i));
  ASSERT_TRUE(execute("define web on=1"));
  send("web/s6", 1);
  EXPECT_TRUE(read("web", "data").ends_with("s6 1\n"));
  for (const Switch& each : Page::switches) EXPECT_EQ(each.on, 1u);
  EXPECT_TRUE(execute("remove web/s6"));
  EXPECT_TRUE(execute("remove web"));
}

TEST_F(SwitchesTest, WhatIsLoadedHasSwitches) {
  make("web/off");
  make("web/on on=1");
  const SavedObjects saved(statistics_);

  std::array<Switch, 2> page{};
  Tree tree(clock_.now());
  Ledger ledger{Ledger::Limits{}};
  StatisticsBranch loaded(tree, ledger, kDaemon, clock_.now(), {.switches = {page}});
  ASSERT_TRUE(saved.load_into(loaded, {.now = clock_.now()}));
  for (const std::string path : {"web/off", "web/on"}) {
    const std::string text = "attach " + path;
    const auto line = wire::parse_line(text);
    const auto& attach = std::get<wire::CommandLine>(line.value());
    ASSERT_TRUE(loaded.execute(attach, kAlice, clock_.now()));
  }
  EXPECT_EQ(page[0].on, 0u);
  EXPECT_EQ(page[1].on, 1u);
  EXPECT_EQ(page[0].generation, 1u);
  EXPECT_EQ(page[1].generation, 1u);
}

// A feeder sends what its switch lets through, while others switch; what it sent while on counts.
TEST_F(SwitchesTest, ConcurrentSwitchingNeverLosesASampleThatWasSentWhileOn) {
  const auto number = make("web/hits");
  Switch& at = Page::switches.at(static_cast<std::uint32_t>(number));
  std::atomic<bool> done = false;
  std::thread churn([&] {
    while (!done) {
      (void)execute("create churn/x on=1");
      (void)execute("define churn on=0");
      (void)statistics_.remove_interface("churn", clock_.now());
    }
  });
  std::atomic<std::int64_t> asked = 0;
  std::atomic<std::int64_t> taken = 0;
  std::thread feeder([&] {
    for (std::int64_t round = 1; asked >= 0; round = taken + 1) {
      if (asked < round || at.on.load(std::memory_order_acquire) == 0) {
        std::this_thread::yield();
        continue;
      }
      EXPECT_TRUE(send(number, 1));
      taken = round;
    }
  });
  constexpr std::int64_t kRounds = 500;
  for (std::int64_t round = 1; round <= kRounds; ++round) {
    EXPECT_TRUE(execute("define web name=hits on=1"));
    asked = round;
    while (taken < round) std::this_thread::yield();
    EXPECT_TRUE(execute("define web name=hits on=0"));
    EXPECT_EQ(at.on, 0u);
  }
  asked = -1;
  feeder.join();
  done = true;
  churn.join();
  EXPECT_EQ(read("web", "data"), "hits " + std::to_string(kRounds) + "\n");
}

}  // namespace
}  // namespace tallyfs::statistics
