#include <atomic>
#include <limits>
#include <thread>

#include "tests/unit/random.h"
#include "tests/unit/statistics_branch/statistics_fixture.h"

namespace tallyfs::statistics {
namespace {

TEST_F(StatisticsTest, AnUnknownNameComesIntoBeingOnAndOfTypeRange) {
  EXPECT_EQ(send("web/hits", 5, 3).samples, 1u);
  EXPECT_EQ(read("web", "data"), "hits 3 5 5.000 5\n");
  EXPECT_TRUE(read("web", "definition").starts_with("name=hits on=1 type=range "));
}

TEST_F(StatisticsTest, WhatACommandCreatesIsOffUntilItSaysOtherwise) {
  ASSERT_TRUE(execute("create web/hits"));
  send("web/hits", 1);
  EXPECT_EQ(read("web", "data"), "hits 0\n");
  ASSERT_TRUE(execute("define web name=hits on=1"));
  send("web/hits", 1);
  EXPECT_EQ(read("web", "data"), "hits 1\n");
}

TEST_F(StatisticsTest, CreatingWhatIsThereLeavesItAsItsUsersMadeIt) {
  const auto first = execute("create web/hits type=range on=1");
  const auto again = execute("create web/hits type=value mode=increments");
  ASSERT_TRUE(first && again);
  EXPECT_EQ(first.value().number, again.value().number);
  EXPECT_EQ(first.value().made, wire::Made::kNew);
  EXPECT_EQ(again.value().made, wire::Made::kWasThere);
  EXPECT_TRUE(read("web", "definition").starts_with("name=hits on=1 type=range "));
}

TEST_F(StatisticsTest, ACreateThatIsRefusedLeavesNothingBehind) {
  const auto refused = execute("create web/hits type=nonsense");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(refused.error().token_at, std::string_view("create web/hits ").size());
  EXPECT_EQ(read("web", "data"), "(no interface)");
  EXPECT_EQ(ledger_.total().interfaces, 1u);  // the daemon's own
}

TEST_F(StatisticsTest, RefusesNamesThatAreNone) {
  for (const char* path : {"/hits", "web/", "web/a/b", "./x", "web/.", "w\x01/x", "web/a=b"}) {
    const auto taken = send(path, 1);
    ASSERT_EQ(taken.rejected.size(), 1u) << path;
    EXPECT_EQ(taken.rejected[0].error.code, ErrorCode::kInvalid) << path;
  }
}

TEST_F(StatisticsTest, ANumberLeadsToItsStatisticUntilThatIsRemovedAndNeverToAnother) {
  const auto number = execute("create web/hits on=1").value().number;
  ASSERT_TRUE(send(number, 1));
  EXPECT_EQ(execute("attach web/hits").value().number, number);
  ASSERT_TRUE(execute("remove web/hits"));
  const auto other = execute("create web/other on=1").value().number;
  EXPECT_NE(other, number);
  EXPECT_EQ(send(number, 1).error().code, ErrorCode::kStale);
  EXPECT_EQ(read("web", "data"), "other 0\n");
  for (const std::uint64_t forged : {0ull, 1ull << 32, ~0ull}) {
    EXPECT_EQ(send(forged, 1).error().code, ErrorCode::kStale);
  }
}

TEST_F(StatisticsTest, ChangingAnInterfaceTakesItsCreatorTheDaemonsUidOrRoot) {
  ASSERT_TRUE(execute("create web/hits on=1", kAlice));
  for (const char* line : {"define web on=0", "remove web/hits", "remove web", "create web/more"}) {
    EXPECT_EQ(execute(line, kBob).error().code, ErrorCode::kNotPermitted) << line;
  }
  EXPECT_EQ(send("web/more", 1, 1, kBob).rejected.size(), 1u);
  EXPECT_EQ(send("web/hits", 1, 1, kBob).samples, 1u);
  EXPECT_TRUE(execute("define web on=0", kDaemon));
  EXPECT_TRUE(execute("create web/more", 0));
  EXPECT_TRUE(execute("remove web", kAlice));
}

TEST_F(StatisticsTest, OnlyTheDaemonFeedsAndRemovesItsOwnNumbers) {
  EXPECT_EQ(send("tallyfs/samples", 1, 1, 0).rejected.size(), 1u);
  EXPECT_FALSE(execute("create tallyfs/more", 0));
  EXPECT_EQ(execute("remove tallyfs", 0).error().code, ErrorCode::kBusy);
  EXPECT_EQ(statistics_.remove_interface("tallyfs", clock_.now()).error().code, ErrorCode::kBusy);
  EXPECT_FALSE(execute("attach tallyfs/samples", 0));
}

TEST_F(StatisticsTest, ACounterAtItsEndIsReportedOnceWithItsInterface) {
  ASSERT_TRUE(execute("create web/hits on=1"));
  send("web/hits", 0, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(send("web/hits", 0, 1).saturated, std::vector<std::string>{"web"});
  EXPECT_TRUE(send("web/hits", 0, 1).saturated.empty());
  EXPECT_EQ(read("web", "data"), "hits 18446744073709551615\n");
}

TEST_F(StatisticsTest, ManySamplesOfManyInterfacesInOneBatchAllArrive) {
  NamedSamples samples;
  for (std::size_t i = 0; i < NamedSamples::kCapacity; ++i) {
    samples.push(i % 3 == 0 ? "a/x" : i % 3 == 1 ? "a/y" : "b/z", {.x = 1});
  }
  EXPECT_TRUE(samples.full());
  EXPECT_EQ(statistics_.add(samples, kAlice, clock_.now()).samples, samples.size());
  EXPECT_EQ(read("a", "data"), "x 86 1 1.000 1\ny 85 1 1.000 1\n");
  EXPECT_EQ(read("b", "data"), "z 85 1 1.000 1\n");
}

// In a batch the samples of each statistic are put together, which nothing may tell.
TEST_F(StatisticsTest, ABatchOfRandomSamplesIsTakenAsOneByOne) {
  Random random;
  SCOPED_TRACE(random.seed());
  Tree tree(clock_.now());
  Ledger ledger{Ledger::Limits{}};
  StatisticsBranch one_by_one(tree, ledger, kDaemon, clock_.now());
  const std::string long_name(60, 'n');
  for (const std::string line :
       {"create a/raw type=raw entries_max=5000 on=1",
        "create b/list type=list entries_max=50 on=1", "create b/off type=value mode=increments",
        "create a/array type=array scale=log2 range_min=0 range_max=64 base_interval=1 on=1"}) {
    const auto parsed = wire::parse_line(line);
    const auto& command = std::get<wire::CommandLine>(parsed.value());
    ASSERT_TRUE(statistics_.execute(command, kAlice, clock_.now())) << line;
    ASSERT_TRUE(one_by_one.execute(command, kAlice, clock_.now())) << line;
  }
  std::vector<std::string> paths = {
      "a/raw",          "b/list",       "b/off", "a/array",
      "b/" + long_name, "tallyfs/mine", "c/new", "c/" + long_name + "n"};
  for (int round = 0; round < 30; ++round) {
    if (round % 10 == 9) paths.push_back("new/" + std::to_string(round));
    NamedSamples batch;
    std::uint64_t taken = 0;
    std::uint64_t rejected = 0;
    const std::uint64_t size = random.below(NamedSamples::kCapacity + 1);
    const std::uint64_t names = 1 + random.below(paths.size());
    for (std::uint64_t i = 0; i < size; ++i) {
      const std::string& path = paths[random.below(names)];
      const Sample sample{.x = static_cast<std::int64_t>(random.below(200)) - 20,
                          .y = random.below(4),
                          .time = clock_.now().monotonic};
      batch.push(path, sample);
      NamedSamples one;
      one.push(path, sample);
      const Taken of_one = one_by_one.add(one, kAlice, clock_.now());
      taken += of_one.samples;
      rejected += of_one.rejects;
    }
    const Taken of_all = statistics_.add(batch, kAlice, clock_.now());
    EXPECT_EQ(of_all.samples, taken);
    EXPECT_EQ(of_all.rejects, rejected);
    clock_.advance(std::chrono::microseconds(7));
  }
  EXPECT_EQ(SavedObjects(statistics_), SavedObjects(one_by_one));
}

TEST_F(StatisticsTest, WhatIsSavedAndLoadedReadsTheSameAndCanBeFed) {
  ASSERT_TRUE(execute("create web/size type=list entries_max=4 on=1 units=bytes"));
  send("web/size", 4096, 3);
  send("disk/busy", 1);
  const SavedObjects saved(statistics_);

  Tree tree(clock_.now());
  Ledger ledger{Ledger::Limits{}};
  StatisticsBranch loaded(tree, ledger, kDaemon, clock_.now());
  ASSERT_TRUE(saved.load_into(loaded, {.now = clock_.now()}));
  EXPECT_EQ(SavedObjects(loaded), saved);
  NamedSamples samples;
  samples.push("web/size", {.x = 4096});
  EXPECT_EQ(loaded.add(samples, kAlice, clock_.now()).samples, 1u);
}

TEST_F(StatisticsTest, OnlyTheFirstLookEntersTheMetricsOfInterfacesThatAreThere) {
  statistics_.enter_metrics({}, clock_.now());
  send("before/hits", 1);
  const auto metrics = tree_.lookup(Tree::kRoot, "metrics").value();
  const auto prom = tree_.lookup(metrics.id, "prom").value();
  const auto om = tree_.lookup(metrics.id, "om").value();
  EXPECT_FALSE(tree_.lookup(prom.id, "before"));
  tree_.rules(prom.id).value()->entered(clock_.now());
  EXPECT_TRUE(tree_.lookup(prom.id, "before"));
  send("later/hits", 1);
  EXPECT_TRUE(tree_.lookup(prom.id, "later"));  // without a further look
  EXPECT_FALSE(tree_.lookup(om.id, "later"));
  tree_.rules(prom.id).value()->entered(clock_.now());
  tree_.rules(om.id).value()->entered(clock_.now());
  EXPECT_TRUE(tree_.lookup(om.id, "later"));
  ASSERT_TRUE(statistics_.remove_interface("later", clock_.now()));
  EXPECT_FALSE(tree_.lookup(prom.id, "later"));
  EXPECT_FALSE(tree_.lookup(om.id, "later"));
}

TEST_F(StatisticsTest, LoadingDamagedBytesEndsInAnErrorOrAnInterface) {
  execute("create web/a type=history entries_max=4 mode=range period=10 on=1").value();
  execute("create web/b type=raw entries_max=4 on=1").value();
  execute("create web/c type=array base_interval=1 scale=log2 range_min=0 range_max=9").value();
  for (int i = 0; i < 9; ++i) {
    send("web/a", i);
    send("web/b", i);
    clock_.advance(std::chrono::microseconds(7));
  }
  const SavedObjects saved(statistics_);
  ASSERT_EQ(saved.size(), 1u);
  const std::string bytes(saved.at(0).bytes);
  const auto load = [&](std::string_view some) {
    SavedObject object = saved.at(0);
    object.bytes = some;
    Tree tree(clock_.now());
    Ledger ledger{Ledger::Limits{}};
    StatisticsBranch loaded(tree, ledger, kDaemon, clock_.now());
    return loaded.load(object, {.now = clock_.now()});
  };
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const char damage : {'\x00', '\xff', '\x41'}) {
      std::string damaged = bytes;
      damaged[i] = damage;
      (void)load(damaged);
    }
    EXPECT_FALSE(load(std::string_view(bytes).substr(0, i))) << i;
  }
}

TEST_F(StatisticsTest, ConcurrentFeedingReadingAndRemovingLosesNothingAndHangsNowhere) {
  constexpr int kRounds = 2'000;
  ASSERT_TRUE(execute("create kept/hits on=1"));
  std::atomic<bool> done = false;
  std::thread reader([&] {
    while (!done) {
      read("kept", "data");
      read("gone", "definition");
    }
  });
  std::thread remover([&] {
    while (!done) {
      if (const auto removed = statistics_.remove_interface("gone", clock_.now()); !removed) {
        ASSERT_EQ(removed.error().code, ErrorCode::kNotFound);
      }
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    send("kept/hits", i);
    EXPECT_TRUE(send("gone/x" + std::to_string(i % 7), i).rejected.empty());
  }
  done = true;
  reader.join();
  remover.join();
  EXPECT_EQ(read("kept", "data"), "hits " + std::to_string(kRounds) + "\n");
}

}  // namespace
}  // namespace tallyfs::statistics
