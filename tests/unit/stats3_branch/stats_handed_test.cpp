// stats/ in the next server of a mount: numbers, switches, templates and lifetimes stay.
#include "tests/unit/golden_state.h"
#include "tests/unit/stats3_branch/subsystems_fixture.h"

namespace tallyfs::stats3 {
namespace {

class StatsHandedTest : public SubsystemsTest {
 protected:
  static constexpr pid_t kFeeder = 7;

  StatsHandedTest() {
    processes_.watched.insert(kFeeder);
    EXPECT_TRUE(tell("handed", blob_.fresh, feeder()));
    subsystem_ = execute("subsystem web \"handed\"=20", feeder()).value().number;
    number_ = execute("object web/requests", feeder()).value().number;
    short_ = execute("object web/short lifetime=feeder", feeder()).value().number;
    EXPECT_TRUE(publish(number_, blob_.bytes));
  }
  static Sender feeder() { return {kAlice, kFeeder}; }

  const Blob blob_{"handed", 17};
  std::uint64_t subsystem_ = 0, number_ = 0, short_ = 0;
};

SavedObjects handed_by(StatsBranch& stats, const FakeClock& clock) {
  SavedObjects objects;
  stats.save_for_successor(objects, clock.now());
  return objects;
}

// The next server, with the same page of switches.
struct NextStats {
  static constexpr std::uint32_t kFirst = 100;

  NextStats(StatsBranch& from, std::vector<Switch>& switches, FakeProcesses& processes,
            const FakeClock& clock, bool has_pages = true)
      : NextStats(handed_by(from, clock), switches, processes, clock, has_pages) {}
  NextStats(const SavedObjects& objects, std::vector<Switch>& switches, FakeProcesses& processes,
            const FakeClock& clock, bool has_pages = true)
      : NextStats(objects, switches, processes, {.now = clock.now(), .has_pages = has_pages}) {}
  NextStats(const SavedObjects& objects, std::vector<Switch>& switches, FakeProcesses& processes,
            const Loading& loading)
      : tree(loading.now),
        now(loading.now),
        stats(tree, ledger, kDaemon, now,
              BranchDependencies{.switches = {switches, kFirst}, .processes = &processes}) {
    done = objects.load_into(stats, loading);
  }
  std::string read(std::string_view directory, std::string_view name) {
    const NodeId node = tree.lookup(Tree::kRoot, "stats").value().id;
    const auto found = tree.lookup(node, directory);
    const auto file = tree.lookup(found.value().id, name);
    return file ? tree.file(file.value().id).value()->render(now, 1 << 20).value() : "(none)";
  }
  Result<Done> execute(std::string_view line, const Sender& sender) {
    const auto parsed = wire::parse_line(line);
    return stats.execute(std::get<wire::StatsLine>(parsed.value()), sender, now);
  }

  Tree tree;
  Ledger ledger{Ledger::Limits{}};
  Timestamp now;
  StatsBranch stats;
  Result<void> done;
};

TEST_F(StatsHandedTest, ObjectsOfTheFirstFormatsAreTakenOver) {
  ASSERT_TRUE(publish(number_, blob_.bytes_of_old()));
  const std::string file = golden::file_of(handed_by(subsystems_, clock_), clock_.now());
  golden::expect_same("stats_handed.1.hex", golden::to_hex(file));
  const std::string kept = golden::from_hex(golden::read("stats_handed.1.hex"));
  NextStats next(golden::objects_of(kept), switches_, processes_, clock_);
  ASSERT_TRUE(next.done) << next.done.error().reason;
  EXPECT_EQ(next.read("web", "requests.json"), read("web", "requests.json"));
  EXPECT_EQ(next.read("web", "sample_rates"), read("web", "sample_rates"));
  EXPECT_EQ(next.execute("object web/requests", feeder()).value().number, number_);
}

TEST_F(StatsHandedTest, FeedersPublishUnderTheirNumbers) {
  read("web", "requests");  // demand
  const auto asked = switch_of(number_), rates = switch_of(subsystem_);
  EXPECT_NE(asked, 0u);
  NextStats next(subsystems_, switches_, processes_, clock_);
  ASSERT_TRUE(next.done) << next.done.error().reason;
  EXPECT_EQ(switch_of(number_), asked);
  EXPECT_EQ(switch_of(subsystem_), rates);
  EXPECT_EQ(next.read("web", "requests.json"), read("web", "requests.json"));
  EXPECT_EQ(next.read("web", "sample_rates"), read("web", "sample_rates"));
  const Blob later("handed", 18);
  ASSERT_TRUE(next.stats.publish({number_, later.bytes}, kAlice, next.now));
  EXPECT_NE(next.read("web", "requests.json").find("18"), std::string::npos);
  EXPECT_EQ(switch_of(number_), asked) << "it was asked for a moment ago";
  EXPECT_EQ(next.execute("object web/requests", {kAlice, 8}).error().code, ErrorCode::kExists)
      << "the feeder publishes it still";
  const auto told = next.execute("rates web", feeder());
  ASSERT_TRUE(told);
  EXPECT_EQ(told.value().text, execute("rates web", feeder()).value().text);
}

TEST_F(StatsHandedTest, AnObjectOfAFeederGoesWithIt) {
  NextStats next(subsystems_, switches_, processes_, clock_);
  EXPECT_NE(next.read("web", "short"), "(none)");
  next.stats.process_ended(kFeeder, next.now);
  EXPECT_EQ(next.read("web", "short"), "(none)");
  EXPECT_EQ(next.read("web", "requests.json"), read("web", "requests.json"));
  EXPECT_TRUE(is_void(short_));
  const auto again = next.execute("object web/another", {kAlice, 8});
  EXPECT_EQ(again.value().number, short_ + (std::uint64_t{1} << 32));
}

// Of the save before a kill.
TEST_F(StatsHandedTest, WhatWasRemovedSinceStaysSoAndWhatTookItsNumberIsLost) {
  const SavedObjects saved = handed_by(subsystems_, clock_);
  ASSERT_TRUE(execute("withdraw web/requests", feeder()));
  const auto later = execute("object web/later", feeder()).value().number;
  const auto slot = [](std::uint64_t number) { return static_cast<std::uint32_t>(number); };
  ASSERT_EQ(slot(later), slot(number_));
  NextStats next(saved, switches_, processes_,
                 {.now = clock_.now(), .has_pages = true, .is_after_kill = true});
  ASSERT_TRUE(next.done) << next.done.error().reason;
  EXPECT_EQ(next.read("web", "requests"), "(none)");
  const Switch& its = switches_.at(slot(later) - NextStats::kFirst);
  EXPECT_EQ(its.generation.load(), kLostGeneration);
  EXPECT_NE(slot(next.execute("object web/later", feeder()).value().number), slot(later))
      << "another feeder of that number would take it for a removal";
}

TEST_F(StatsHandedTest, WithoutThePagesFeedersBeginAnew) {
  std::vector<Switch> others(16);
  NextStats next(subsystems_, others, processes_, clock_, false);
  ASSERT_TRUE(next.done);
  EXPECT_EQ(next.read("web", "short"), "(none)");
  EXPECT_EQ(next.read("web", "requests.json"), read("web", "requests.json"));
  EXPECT_TRUE(next.execute("object web/requests", {kAlice, 8}));
}

TEST_F(StatsHandedTest, DamagedContentsAreRefused) {
  SavedObjects objects;
  subsystems_.save_for_successor(objects, clock_.now());
  const Loading loading{.now = clock_.now(), .has_pages = true};
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const std::string bytes(objects.at(i).bytes);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      Tree tree(clock_.now());
      Ledger ledger{Ledger::Limits{}};
      std::vector<Switch> others(16);
      StatsBranch stats(tree, ledger, kDaemon, clock_.now(),
                        BranchDependencies{.switches = {others, kFirst}});
      for (std::size_t k = 0; k < i; ++k) (void)stats.load(objects.at(k), loading);
      SavedObject cut = objects.at(i);
      cut.bytes = std::string_view(bytes).substr(0, size);
      EXPECT_FALSE(stats.load(cut, loading)) << i << " " << size;
    }
  }
}

}  // namespace
}  // namespace tallyfs::stats3
