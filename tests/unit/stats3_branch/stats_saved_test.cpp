// What of stats/ is there after a restart; a reboot makes no difference.
#include "tests/unit/golden_state.h"
#include "tests/unit/stats3_branch/subsystems_fixture.h"

namespace tallyfs::stats3 {
namespace {

// Another daemon, which has loaded what this one saves.
struct LoadedStats {
  LoadedStats(const StatsBranch& from, const FakeClock& clock)
      : LoadedStats(SavedObjects(from), clock) {}
  LoadedStats(const SavedObjects& from, const FakeClock& clock)
      : tree(clock.now()), now(clock.now()), stats(tree, ledger, kDaemon, clock.now()) {
    done = from.load_into(stats, {.boot = Boot::kOther, .now = now});
  }
  std::string read(std::string_view directory, std::string_view name) {
    NodeId node = tree.lookup(Tree::kRoot, "stats").value().id;
    if (!directory.empty()) {
      const auto found = tree.lookup(node, directory);
      if (!found) return "(none)";
      node = found.value().id;
    }
    const auto found = tree.lookup(node, name);
    return found ? tree.file(found.value().id).value()->render(now, 1 << 20).value() : "(none)";
  }

  Tree tree;
  Ledger ledger{Ledger::Limits{}};
  Timestamp now;
  StatsBranch stats;
  Result<void> done;
};

class StatsSavedTest : public SubsystemsTest {
 protected:
  StatsSavedTest() {
    EXPECT_TRUE(tell("saved", blob_.fresh));
    EXPECT_TRUE(execute("subsystem web \"saved\"=20"));
    number_ = execute("object web/requests").value().number;
    EXPECT_TRUE(execute("object web/idle"));
    EXPECT_TRUE(publish(number_, blob_.bytes));
  }

  const Blob blob_{"saved", 17};
  std::uint64_t number_ = 0;
};

TEST_F(StatsSavedTest, TemplatesRatesAndTheLastBlobsAreThere) {
  LoadedStats loaded(subsystems_, clock_);
  ASSERT_TRUE(loaded.done) << loaded.done.error().reason;
  EXPECT_EQ(loaded.read("", "templates"), read("", "templates"));
  EXPECT_EQ(loaded.read("web", "sample_rates"), read("web", "sample_rates"));
  EXPECT_EQ(loaded.read("web", "requests.json"), read("web", "requests.json"));
  EXPECT_NE(read("web", "requests.json").find("17"), std::string::npos);
  EXPECT_EQ(loaded.read("web", "idle"), "");
  EXPECT_EQ(SavedObjects(loaded.stats), SavedObjects(subsystems_));
}

TEST_F(StatsSavedTest, FilesOfTheFirstFormatsLoadAndShowWhatWasSaved) {
  ASSERT_TRUE(publish(number_, blob_.bytes_of_old()));
  const std::string file = golden::file_of(subsystems_, clock_.now());
  golden::expect_same("stats.1.hex", golden::to_hex(file));
  const std::string kept = golden::from_hex(golden::read("stats.1.hex"));
  LoadedStats loaded(golden::objects_of(kept), clock_);
  ASSERT_TRUE(loaded.done) << loaded.done.error().reason;
  EXPECT_EQ(loaded.read("", "templates"), read("", "templates"));
  EXPECT_EQ(loaded.read("web", "sample_rates"), read("web", "sample_rates"));
  EXPECT_EQ(loaded.read("web", "requests.json"), read("web", "requests.json"));
}

TEST_F(StatsSavedTest, RatesThatAPersonSetStayAgainstThoseOfAFeeder) {
  ASSERT_EQ(write("web", "\"saved\"=70"), kTaken);
  LoadedStats loaded(subsystems_, clock_);
  const auto line = wire::parse_line("subsystem web \"saved\"=20");
  const auto& subsystem = std::get<wire::StatsLine>(line.value());
  const auto come = loaded.stats.execute(subsystem, kAlice, loaded.now);
  EXPECT_EQ(come.value().made, wire::Made::kWasThere);
  EXPECT_EQ(loaded.read("web", "sample_rates"), read("web", "sample_rates"));
  EXPECT_NE(loaded.read("web", "sample_rates").find("=70"), std::string::npos);
}

TEST_F(StatsSavedTest, ItsOwnerPublishesAgainAndNoOther) {
  LoadedStats loaded(subsystems_, clock_);
  const auto line = wire::parse_line("object web/requests");
  const auto& object = std::get<wire::StatsLine>(line.value());
  EXPECT_EQ(loaded.stats.execute(object, kBob, loaded.now).error().code, ErrorCode::kNotPermitted);
  const auto again = loaded.stats.execute(object, kAlice, loaded.now);
  EXPECT_EQ(again.value().made, wire::Made::kWasThere);
  const Blob next("saved", 18);
  EXPECT_TRUE(loaded.stats.publish({again.value().number, next.bytes}, kAlice, loaded.now));
  EXPECT_NE(loaded.read("web", "requests.json").find("18"), std::string::npos);
}

TEST_F(StatsSavedTest, ObjectsWithALifetimeAreNotSaved) {
  processes_.watched.insert(7);
  ASSERT_TRUE(execute("object web/short lifetime=feeder", {kAlice, 7}));
  LoadedStats loaded(subsystems_, clock_);
  EXPECT_EQ(loaded.read("web", "short"), "(none)");
}

TEST_F(StatsSavedTest, DamagedContentsAreRefusedWhole) {
  const SavedObjects saved(subsystems_);
  for (std::size_t i = 0; i < saved.size(); ++i) {
    const std::string bytes(saved.at(i).bytes);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      Tree tree(clock_.now());
      Ledger ledger{Ledger::Limits{}};
      StatsBranch stats(tree, ledger, kDaemon, clock_.now());
      const Holdings before = ledger.total();
      for (std::size_t k = 0; k < i; ++k) {
        ASSERT_TRUE(stats.load(saved.at(k), {.now = clock_.now()}));
      }
      const Holdings with_others = ledger.total();
      SavedObject cut = saved.at(i);
      cut.bytes = std::string_view(bytes).substr(0, size);
      EXPECT_FALSE(stats.load(cut, {.now = clock_.now()})) << i << " " << size;
      EXPECT_EQ(ledger.total().bytes, with_others.bytes) << i << " " << size;
      EXPECT_LE(before.bytes, with_others.bytes);
    }
  }
}

TEST_F(StatsSavedTest, TheStampChangesWithABlobAndWithRates) {
  std::uint64_t stamp = subsystems_.stamp(clock_.now());
  EXPECT_EQ(subsystems_.stamp(clock_.now()), stamp);
  const auto changed = [&] {
    return std::exchange(stamp, subsystems_.stamp(clock_.now())) != stamp;
  };
  ASSERT_TRUE(publish(number_, blob_.bytes));
  EXPECT_TRUE(changed());
  ASSERT_EQ(write("web", "\"saved\"=71"), kTaken);
  EXPECT_TRUE(changed());
  ASSERT_TRUE(execute("object web/more"));
  EXPECT_TRUE(changed());
  EXPECT_FALSE(changed());
}

}  // namespace
}  // namespace tallyfs::stats3
