// Interfaces with lifetime=feeder: whose they are, and when they go.

#include "tests/unit/fake_processes.h"
#include "tests/unit/statistics_branch/statistics_fixture.h"

namespace tallyfs::statistics {
namespace {

// Processes that a test lets begin and end.
struct Processes {
  FakeProcesses processes;
};

class LifetimeTest : protected Processes, public StatisticsTest {
 protected:
  LifetimeTest() : StatisticsTest({.processes = &(Processes::processes)}) {}

  Result<Done> create(const std::string& text, pid_t process, uid_t uid = kAlice) {
    return execute("create " + text, {uid, process});
  }
  void end(pid_t process) {
    processes.watched.erase(process);
    statistics_.process_ended(process, clock_.now());
  }
  bool is_there(std::string_view interface) { return read(interface, "data") != "(no interface)"; }
};

TEST_F(LifetimeTest, AnInterfaceGoesWithItsFeederAndWithAllThatIsInIt) {
  EXPECT_EQ(create("web lifetime=feeder", 7).value().made, wire::Made::kNew);
  const auto number = create("web/hits on=1", 7).value().number;
  const auto before = ledger_.total();
  end(8);
  EXPECT_TRUE(is_there("web"));
  end(7);
  EXPECT_FALSE(is_there("web"));
  EXPECT_EQ(send(number, 1).error().code, ErrorCode::kStale);
  EXPECT_LT(ledger_.total().bytes, before.bytes);
  EXPECT_EQ(ledger_.total().interfaces, 1u) << "the daemon's own";
}

TEST_F(LifetimeTest, ItGoesWithTheLastOfItsFeedersHoweverOftenEachSaidSo) {
  create("web lifetime=feeder", 7).value();
  EXPECT_EQ(create("web lifetime=feeder", 8).value().made, wire::Made::kWasThere);
  create("web lifetime=feeder", 7).value();
  end(7);
  EXPECT_TRUE(is_there("web"));
  end(8);
  EXPECT_FALSE(is_there("web"));
}

// To write it through costs as much as all that is in it.
TEST_F(LifetimeTest, AProcessThatSaysSoAgainHasNothingWritten) {
  statistics_.changes().keep({.write = [](const auto&) { return true; }});
  const auto is_written_by = [&](pid_t process) {
    create("web lifetime=feeder", process).value();
    const bool has_changes = statistics_.changes().has_changes();
    statistics_.changes().write(clock_.now());
    return has_changes;
  };
  EXPECT_TRUE(is_written_by(7));
  EXPECT_FALSE(is_written_by(7));
  EXPECT_TRUE(is_written_by(8));
}

TEST_F(LifetimeTest, OneProcessMayHaveSeveralAndAllOfThemGo) {
  for (const char* each : {"a", "b", "c"})
    create(each + std::string(" lifetime=feeder"), 7).value();
  create("c lifetime=feeder", 8).value();
  end(7);
  EXPECT_FALSE(is_there("a"));
  EXPECT_FALSE(is_there("b"));
  EXPECT_TRUE(is_there("c"));
}

TEST_F(LifetimeTest, OneThatWasMadeWithoutStays) {
  create("web", 7).value();
  send("sampled/hits", 1);
  EXPECT_EQ(create("web lifetime=feeder", 7).value().made, wire::Made::kWasThere);
  EXPECT_EQ(create("sampled lifetime=feeder", 7).value().made, wire::Made::kWasThere);
  EXPECT_EQ(create("tallyfs lifetime=feeder", 7).value().made, wire::Made::kWasThere);
  end(7);
  EXPECT_TRUE(is_there("web"));
  EXPECT_TRUE(is_there("sampled"));
  EXPECT_TRUE(is_there("tallyfs"));
}

TEST_F(LifetimeTest, ToCreateItWithoutOrAStatisticInItChangesNothing) {
  create("web lifetime=feeder", 7).value();
  EXPECT_EQ(create("web", 8).value().made, wire::Made::kWasThere);
  create("web/hits", 8).value();
  end(8);
  EXPECT_TRUE(is_there("web"));
  end(7);
  EXPECT_FALSE(is_there("web"));
}

TEST_F(LifetimeTest, OneThatWasRemovedAndMadeAgainWithoutStays) {
  create("web lifetime=feeder", 7).value();
  ASSERT_TRUE(execute("remove web"));
  create("web", 7).value();
  end(7);
  EXPECT_TRUE(is_there("web"));
}

TEST_F(LifetimeTest, OnlyAUidThatMayChangeItCanHoldIt) {
  create("web lifetime=feeder", 7, kAlice).value();
  const auto refused = create("web lifetime=feeder", 8, kBob);
  EXPECT_EQ(refused.error().code, ErrorCode::kNotPermitted);
  EXPECT_EQ(refused.error().token_at, std::string_view("create ").size());
  create("web lifetime=feeder", 9, kDaemon).value();
  end(7);
  EXPECT_TRUE(is_there("web"));
  end(8);
  EXPECT_TRUE(is_there("web"));
  end(9);
  EXPECT_FALSE(is_there("web"));
}

// Each call has time for one step.
TEST_F(LifetimeTest, WhatManyHaveGoesInSeveralCallsAndWhatAnotherTakesUpMeanwhileStays) {
  constexpr int kMany = 300;
  for (int i = 0; i < kMany; ++i) {
    ASSERT_TRUE(create("web" + std::to_string(i) + " lifetime=feeder", 7));
  }
  processes.watched.erase(7);
  ASSERT_FALSE(statistics_.process_ended(7, clock_.now(), always_late));
  int left = 0, last = 0;
  for (int i = 0; i < kMany; ++i) {
    if (!is_there("web" + std::to_string(i))) continue;
    ++left;
    last = i;
  }
  EXPECT_GT(left, 0);
  EXPECT_LT(left, kMany);
  const std::string taken = "web" + std::to_string(last);
  EXPECT_EQ(create(taken + " lifetime=feeder", 8).value().made, wire::Made::kWasThere);
  while (!statistics_.process_ended(7, clock_.now(), always_late)) {
  }
  for (int i = 0; i < kMany; ++i) EXPECT_EQ(is_there("web" + std::to_string(i)), i == last) << i;
  end(8);
  EXPECT_FALSE(is_there(taken));
}

TEST_F(LifetimeTest, OneWithManyStatisticsGoesInSeveralCalls) {
  create("web lifetime=feeder", 7).value();
  for (int i = 0; i < 300; ++i) send("web/s" + std::to_string(i), 1);
  processes.watched.erase(7);
  int calls = 1;
  while (!statistics_.process_ended(7, clock_.now(), always_late)) ++calls;
  EXPECT_GT(calls, 2);
  EXPECT_FALSE(is_there("web"));
  EXPECT_EQ(ledger_.total().interfaces, 1u) << "the daemon's own";
}

TEST_F(LifetimeTest, AnOpenHandleOutlivesIt) {
  create("web lifetime=feeder", 7).value();
  create("web/hits on=1", 7).value();
  send("web/hits", 3);
  const auto directory = tree_.lookup(Tree::kRoot, "statistics").value();
  const auto web = tree_.lookup(directory.id, "web").value();
  const auto data = tree_.file(tree_.lookup(web.id, "data").value().id).value();
  end(7);
  EXPECT_FALSE(is_there("web"));
  EXPECT_EQ(data->render(clock_.now(), 1 << 20).value(), "hits 1\n");
}

TEST_F(LifetimeTest, RefusesWhatIsNoLifetimeWithTheTokenThatIsWrong) {
  struct Refusal {
    const char* text;
    std::size_t token_at;
  };
  for (const auto& [text, token_at] :
       {Refusal{"web lifetime=forever", 11}, Refusal{"web lifetime", 11}, Refusal{"web on=1", 11},
        Refusal{"web   lifetime=", 13}, Refusal{"web lifetime=feeder lifetime=feeder", 27},
        Refusal{"web lifetime=feeder on=1", 27}}) {
    const auto refused = create(text, 7);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalid) << text;
    EXPECT_EQ(refused.error().token_at, token_at) << text;
  }
  EXPECT_FALSE(is_there("web"));
  EXPECT_FALSE(create("web/hits lifetime=forever on=2", 7)) << "junk and a bad value";
}

TEST_F(LifetimeTest, AProcessThatCannotBeWatchedMakesNothing) {
  processes.refusal = Error{ErrorCode::kNotFound, "process 7 cannot be seen from here"};
  const auto refused = create("web  lifetime=feeder", 7);
  EXPECT_EQ(refused.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(refused.error().token_at, std::string_view("create web  ").size());
  EXPECT_FALSE(is_there("web"));
}

TEST_F(LifetimeTest, AProcessThatEndedMeanwhileLeavesNothing) {
  processes.ends_at_once = true;
  EXPECT_TRUE(create("web lifetime=feeder", 7));
  EXPECT_FALSE(is_there("web"));
}

TEST_F(LifetimeTest, ADamagedNameLeavesNothing) {
  EXPECT_EQ(create("we=b lifetime=feeder", 7).error().token_at, std::string_view("create ").size());
  end(7);
  EXPECT_EQ(ledger_.total().interfaces, 1u);
}

TEST_F(LifetimeTest, FeedersAreInTheLedgerAndRefusedWhenItIsFull) {
  const auto empty = ledger_.total().bytes;
  create("web lifetime=feeder", 7).value();
  const auto one = ledger_.total().bytes;
  create("web lifetime=feeder", 7).value();
  EXPECT_EQ(ledger_.total().bytes, one);
  create("web lifetime=feeder", 8).value();
  const auto two = ledger_.total().bytes;
  EXPECT_GT(two, one);
  const std::uint64_t left = Ledger::Limits{}.per_uid.bytes - (two - empty);
  ASSERT_TRUE(ledger_.reserve(kAlice, {.bytes = left}));
  const auto refused = create("web lifetime=feeder", 9);
  EXPECT_EQ(refused.error().code, ErrorCode::kNoSpace);
  EXPECT_EQ(refused.error().token_at, std::string_view("create web ").size());
  // Room for an interface, but for no feeder of it.
  ledger_.release(kAlice, {.bytes = kInterfaceBytes});
  EXPECT_EQ(create("new lifetime=feeder", 9).error().code, ErrorCode::kNoSpace);
  EXPECT_FALSE(is_there("new"));
  EXPECT_TRUE(create("new", 9));
  ASSERT_TRUE(execute("remove new"));
  end(7);
  end(8);
  end(9);
  ledger_.release(kAlice, {.bytes = left - kInterfaceBytes});
  EXPECT_EQ(ledger_.total().bytes, empty);
}

TEST_F(LifetimeTest, OnesWithALifetimeAreNotSaved) {
  create("web lifetime=feeder", 7).value();
  create("kept", 7).value();
  const SavedObjects saved(statistics_);
  ASSERT_EQ(saved.size(), 1u);
  EXPECT_EQ(saved.at(0).label, "kept");
}

TEST_F(StatisticsTest, WithoutAWatchOverProcessesThereIsNoLifetime) {
  EXPECT_EQ(execute("create web lifetime=feeder", {kAlice, 7}).error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(execute("create web", {kAlice, 7}));
}

}  // namespace
}  // namespace tallyfs::statistics
