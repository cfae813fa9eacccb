// statistics/ in the next server of a mount: numbers, switches and lifetimes are as they were.
#include <array>
#include <functional>
#include <string>
#include <utility>

#include "core/branch/transferred_part.h"
#include "tests/unit/fake_processes.h"
#include "tests/unit/golden_state.h"
#include "tests/unit/statistics_branch/statistics_fixture.h"

namespace tallyfs::statistics {
namespace {

constexpr std::size_t kHandedSwitches = 8;

// What feeders have mapped, which outlives the servers.
struct TransferredPages {
  std::array<Switch, kHandedSwitches> switches{};
  std::array<Shape, kHandedSwitches> shapes{};
  FakeProcesses processes;

  BranchDependencies dependencies() {
    return {.switches = {.switches = switches}, .shapes = shapes, .processes = &processes};
  }
};

class TransferTest : protected TransferredPages, public StatisticsTest {
 protected:
  TransferTest() : StatisticsTest(TransferredPages::dependencies()) {}

  std::uint64_t make(const std::string& text) { return execute("create " + text).value().number; }
  const Switch& switch_of(std::uint64_t number) const {
    return switches.at(static_cast<std::uint32_t>(number));
  }
  std::uint32_t era(std::uint64_t number) const {
    return shapes.at(static_cast<std::uint32_t>(number)).era;
  }
};

SavedObjects handed_by(StatisticsBranch& statistics, const FakeClock& clock) {
  SavedObjects objects;
  statistics.save_for_successor(objects, clock.now());
  return objects;
}

// The next server. has_pages: it goes on with those of the one before.
class Next {
 public:
  Next(TransferredPages& pages, StatisticsBranch& before, const FakeClock& clock,
       bool has_pages = true, const Ledger::Limits& limits = {})
      : Next(pages, handed_by(before, clock), clock, has_pages, limits) {}
  Next(TransferredPages& pages, const SavedObjects& objects, const FakeClock& clock,
       bool has_pages = true, const Ledger::Limits& limits = {})
      : Next(pages, objects, clock, {.now = clock.now(), .has_pages = has_pages}, limits) {}
  Next(TransferredPages& pages, const SavedObjects& objects, const FakeClock& clock,
       const Loading& loading, const Ledger::Limits& limits = {})
      : clock_(clock),
        ledger_(limits, kDaemon),
        statistics_(tree_, ledger_, kDaemon, clock_.now(), pages.dependencies()) {
    loaded = objects.load_into(statistics_, loading);
  }

  Result<Done> execute(std::string_view line) {
    const auto parsed = wire::parse_line(line);
    return statistics_.execute(std::get<wire::CommandLine>(parsed.value()), kAlice, clock_.now());
  }
  Result<Taken> send(std::uint64_t number, std::int64_t x) {
    alignas(8) std::array<char, 8> record;
    std::memcpy(record.data(), &x, sizeof x);
    return statistics_.add(wire::PackedSamples(number, wire::kXOnly, record), kAlice, clock_.now());
  }
  std::string read(std::string_view interface, std::string_view file) {
    const auto directory = tree_.lookup(Tree::kRoot, "statistics").value();
    const auto found = tree_.lookup(directory.id, interface);
    if (!found) return "(no interface)";
    const auto node = tree_.lookup(found.value().id, file).value();
    return tree_.file(node.id).value()->render(clock_.now(), 1 << 20).value();
  }
  StatisticsBranch& statistics() { return statistics_; }

  Result<void> loaded;

 private:
  const FakeClock& clock_;
  Tree tree_{clock_.now()};
  Ledger ledger_;
  StatisticsBranch statistics_;
};

TEST_F(TransferTest, NumbersGoOnAndAreNotGivenTwice) {
  const auto a = make("web/a on=1");
  const auto gone = make("web/b");
  const auto list = make("web/c on=1 type=list entries_max=10");
  ASSERT_TRUE(execute("remove web/b"));
  ASSERT_TRUE(send(a, 3));
  Next next(*this, statistics_, clock_);
  ASSERT_TRUE(next.loaded) << next.loaded.error().reason;
  EXPECT_EQ(next.execute("attach web/a").value().number, a);
  ASSERT_TRUE(next.send(a, 4));
  ASSERT_TRUE(next.send(list, 7));
  EXPECT_EQ(next.read("web", "data"), "a 2\nc 7 1\n");
  EXPECT_FALSE(next.send(gone, 4)) << "it is gone";
  const auto made = next.execute("create web/d").value().number;
  EXPECT_EQ(made, gone + (std::uint64_t{1} << 32)) << "the next of the same slot";
}

TEST_F(TransferTest, ObjectsOfTheFirstFormatsAreTakenOver) {
  const auto a = make("web/a on=1");
  (void)make("web/b");
  make("web/view of=a type=range on=1");
  ASSERT_TRUE(execute("remove web/b"));
  ASSERT_TRUE(send(a, 3));
  const SavedObjects all = handed_by(statistics_, clock_);
  SavedObjects objects;  // without the daemon's own numbers, of which there are ever more
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all.at(i).label != "tallyfs") objects.put(all.at(i));
  }
  const std::string file = golden::file_of(objects, clock_.now());
  golden::expect_same("statistics_handed.3.hex", golden::to_hex(file));
  const std::string kept = golden::from_hex(golden::read("statistics_handed.3.hex"));
  Next next(*this, golden::objects_of(kept), clock_);
  ASSERT_TRUE(next.loaded) << next.loaded.error().reason;
  EXPECT_EQ(next.read("web", "data"), "a 1\nview 1 3 3.000 3\n");
  EXPECT_EQ(next.execute("attach web/a").value().number, a);
  ASSERT_TRUE(next.send(a, 4));
  EXPECT_EQ(next.read("web", "data"), "a 2\nview 2 3 3.500 4\n");
}

TEST_F(TransferTest, NoSwitchAndNoEraChanges) {
  const auto on = make("web/on on=1");
  const auto off = make("web/off");
  const auto list = make("web/list on=1 type=list entries_max=10");
  const auto switched = [&](std::uint64_t number) { return switch_of(number).on.load(); };
  const std::array before{switched(on), switched(off), switched(list)};
  const std::array eras{era(on), era(off)};
  Next next(*this, statistics_, clock_);
  EXPECT_EQ((std::array{switched(on), switched(off), switched(list)}), before);
  EXPECT_EQ((std::array{era(on), era(off)}), eras);
  EXPECT_EQ(before[0] & kRouteMask, kRouteCell);
  ASSERT_TRUE(next.execute("define web name=on on=0"));
  EXPECT_EQ(switched(on), 0u) << "but it can be changed";
  ASSERT_TRUE(next.execute("remove web/off"));
  EXPECT_NE(switch_of(off).generation.load(), off >> 32);
}

TEST_F(TransferTest, ANumberThatWasNotAskedForIsPublishedLater) {
  send("web/named", 1);
  Next next(*this, statistics_, clock_);
  ASSERT_TRUE(next.loaded) << next.loaded.error().reason;
  EXPECT_EQ(switches[0].generation, 0u);
  const auto number = next.execute("attach web/named").value().number;
  EXPECT_EQ(switch_of(number).generation, number >> 32);
  EXPECT_EQ(switch_of(number).on & kRouteMask, kRouteCell);
  ASSERT_TRUE(next.send(number, 2));
  EXPECT_EQ(next.read("web", "data"), "named 2 1 1.500 2\n");
}

TEST_F(TransferTest, ANumberThatWasNotAskedForIsPublishedLaterInASlotThatWasUsed) {
  const auto gone = make("web/gone on=1");
  ASSERT_TRUE(execute("remove web/gone"));
  send("web/named", 1);
  Next next(*this, statistics_, clock_);
  ASSERT_TRUE(next.loaded) << next.loaded.error().reason;
  EXPECT_EQ(switch_of(gone).on, kSwitchOn) << "nothing shows there how it is counted";
  const auto number = next.execute("attach web/named").value().number;
  EXPECT_EQ(&switch_of(number), &switch_of(gone));
  EXPECT_EQ(switch_of(number).on & kRouteMask, kRouteCell);
}

TEST_F(TransferTest, AnInterfaceOfAFeederGoesOnAndGoesWithIt) {
  const Sender feeder(kAlice, 4711);
  ASSERT_TRUE(execute("create web lifetime=feeder", feeder));
  const auto a = make("web/a on=1");
  Next next(*this, statistics_, clock_);
  ASSERT_TRUE(next.send(a, 3));
  EXPECT_EQ(next.read("web", "data"), "a 1\n");
  next.statistics().process_ended(4711, clock_.now());
  EXPECT_EQ(next.read("web", "data"), "(no interface)");
}

TEST_F(TransferTest, WithoutThePagesFeedersBeginAnew) {
  const Sender feeder(kAlice, 4711);
  ASSERT_TRUE(execute("create mine lifetime=feeder", feeder));
  ASSERT_TRUE(send(make("web/a on=1"), 3));
  TransferredPages others;
  Next next(others, statistics_, clock_, false);
  ASSERT_TRUE(next.loaded);
  EXPECT_EQ(next.read("mine", "data"), "(no interface)");
  EXPECT_EQ(next.read("web", "data"), "a 1\n");
  const auto number = next.execute("attach web/a").value().number;
  EXPECT_NE(others.switches.at(static_cast<std::uint32_t>(number)).on.load(), 0u);
}

TEST_F(TransferTest, TheDaemonsOwnNumbersGoOn) {
  statistics_.counters().count("datagrams", 7, clock_.now());
  statistics_.counters().record("dropped_by", 4711, 3, clock_.now());
  Next next(*this, statistics_, clock_);
  next.statistics().counters().count("datagrams", 2, clock_.now());
  const std::string data = next.read("tallyfs", "data");
  EXPECT_NE(data.find("datagrams 9\n"), std::string::npos) << data;
  EXPECT_NE(data.find("dropped_by 0x1267 3\n"), std::string::npos) << data;
}

TEST_F(TransferTest, ViewsOfTheDaemonsOwnNumbersGoOn) {
  ASSERT_TRUE(execute("define tallyfs name=mine of=datagrams type=range", Sender(0, 1)));
  statistics_.counters().count("datagrams", 7, clock_.now());
  const std::string before = read("tallyfs", "definition");
  Next next(*this, statistics_, clock_);
  ASSERT_TRUE(next.loaded) << next.loaded.error().reason;
  EXPECT_EQ(next.read("tallyfs", "definition"), before);
  next.statistics().counters().count("datagrams", 2, clock_.now());
  const std::string data = next.read("tallyfs", "data");
  EXPECT_NE(data.find("mine 9 0 0.000 0\n"), std::string::npos) << data;
}

TEST_F(TransferTest, TheDaemonsOwnNumbersNeedTheirRoomOnce) {
  const std::uint64_t fresh = ledger_.total().bytes;
  ASSERT_TRUE(execute("define tallyfs name=dropped_by entries_max=100000", Sender(0, 1)));
  statistics_.counters().record("dropped_by", 4711, 3, clock_.now());
  Ledger::Limits limits;
  limits.total.bytes = fresh + ledger_.total().bytes;
  Next next(*this, statistics_, clock_, true, limits);
  ASSERT_TRUE(next.loaded) << next.loaded.error().reason;
  EXPECT_NE(next.read("tallyfs", "data").find("dropped_by 0x1267 3\n"), std::string::npos);
}

// A large interface is not written whole for a change of one statistic, and not at once where a
// line has changed all of them.
TEST_F(TransferTest, WhatCommandsHaveChangedIsWritten) {
  KeptObjects kept;
  unsigned soon = 0;
  statistics_.changes().keep(
      {.write = [&](const auto& put) { return put(kept), true; }, .save_soon = [&] { ++soon; }});
  ASSERT_TRUE(execute("create web lifetime=feeder", Sender(kAlice, 4711)));
  ASSERT_TRUE(execute("create few/a"));
  for (std::size_t i = 0; i < Interface::kLineAtOnce + 2; ++i) {
    (void)make("big/" + std::to_string(i));
  }
  EXPECT_TRUE(statistics_.changes().has_changes());
  EXPECT_EQ(kept.labels(SavedKind::kFedInterface), std::vector<std::string>());
  statistics_.changes().write(clock_.now());
  EXPECT_FALSE(statistics_.changes().has_changes());
  EXPECT_EQ(kept.labels(SavedKind::kFedInterface), (std::vector<std::string>{"big", "few", "web"}));
  EXPECT_EQ(kept.labels(SavedKind::kFedChanges), std::vector<std::string>());
  const std::uint64_t wholes = kept.puts(SavedKind::kFedInterface);
  (void)make("big/more");
  statistics_.changes().write(clock_.now());
  EXPECT_EQ(kept.puts(SavedKind::kFedInterface), wholes);
  EXPECT_EQ(kept.labels(SavedKind::kFedChanges), std::vector<std::string>{"big/0"});
  ASSERT_TRUE(execute("define few data=reset"));
  EXPECT_TRUE(statistics_.changes().has_changes());
  statistics_.changes().write(clock_.now());
  EXPECT_EQ(soon, 0u);
  ASSERT_TRUE(execute("define big data=reset"));
  statistics_.changes().write(clock_.now());
  EXPECT_EQ(soon, 1u);
  EXPECT_EQ(kept.labels(SavedKind::kFedChanges), std::vector<std::string>{"big/0"});
  // Beside such a line, what is named is not put off, nor is an interface that got a feeder.
  ASSERT_TRUE(execute("define big data=reset"));
  ASSERT_TRUE(execute("remove big/1"));
  statistics_.changes().write(clock_.now());
  EXPECT_EQ(soon, 2u);
  EXPECT_EQ(kept.labels(SavedKind::kFedChanges), (std::vector<std::string>{"big/0", "big/1"}));
  const std::uint64_t before = kept.puts(SavedKind::kFedInterface);
  ASSERT_TRUE(execute("define big feed=owner"));
  statistics_.changes().write(clock_.now());
  EXPECT_EQ(soon, 2u);
  EXPECT_EQ(kept.puts(SavedKind::kFedInterface), before + 1);
  ASSERT_FALSE(execute("define few name=none data=reset"));
  ASSERT_TRUE(execute("attach few/a"));
  EXPECT_FALSE(statistics_.changes().has_changes());
}

TEST_F(TransferTest, OfFewLongStatisticsOnlyTheNamedAreWritten) {
  KeptObjects kept;
  statistics_.changes().keep({.write = [&](const auto& put) { return put(kept), true; }});
  const auto list = make("long/list type=list entries_max=1000 on=1");
  for (int x = 0; x < 1000; ++x) ASSERT_TRUE(send(list, x));
  (void)make("long/a");
  statistics_.changes().write(clock_.now());
  const std::uint64_t wholes = kept.puts(SavedKind::kFedInterface);
  ASSERT_TRUE(execute("define long name=a units=us"));
  statistics_.changes().write(clock_.now());
  EXPECT_EQ(kept.puts(SavedKind::kFedInterface), wholes);
  EXPECT_EQ(kept.labels(SavedKind::kFedChanges), std::vector<std::string>{"long/0"});
  ASSERT_TRUE(execute("define long name=list units=us"));
  ASSERT_TRUE(execute("define long name=a units=ms"));
  statistics_.changes().write(clock_.now());
  EXPECT_EQ(kept.puts(SavedKind::kFedInterface), wholes + 1) << "all of them are named";
}

TEST_F(TransferTest, EachInterfaceIsWrittenOnceInWhateverOrderLinesNameThem) {
  KeptObjects kept;
  statistics_.changes().keep({.write = [&](const auto& put) { return put(kept), true; }});
  for (const char* each : {"a/x", "b/x", "c/x"}) (void)make(each);
  statistics_.changes().write(clock_.now());
  const std::uint64_t before = kept.puts(SavedKind::kFedInterface);
  for (int i = 0; i < 10; ++i) {
    for (const char* each : {"a", "b", "c"}) {
      ASSERT_TRUE(execute(std::string("define ") + each + " name=x units=u" + std::to_string(i)));
    }
  }
  statistics_.changes().write(clock_.now());
  EXPECT_EQ(kept.puts(SavedKind::kFedInterface), before + 3);
}

TEST_F(TransferTest, ChangesThatDoNotFitCostNoMoreThanThemselves) {
  for (int i = 0; i < 100; ++i) make("big/" + std::to_string(i));
  KeptObjects kept;
  statistics_.save(kept);
  Ledger::Limits limits;
  limits.per_uid.bytes = 1'000'000;
  statistics_.changes().keep({.write = [&](const auto& put) { return put(kept), true; }});
  make("big/large type=list entries_max=100000 on=1");
  statistics_.changes().write(clock_.now());
  ASSERT_EQ(kept.labels(SavedKind::kFedChanges), std::vector<std::string>{"big/0"});
  Next next(*this, kept.for_loading(), clock_,
            {.now = clock_.now(), .has_pages = true, .is_after_kill = true}, limits);
  EXPECT_FALSE(next.loaded);
  const std::string definition = next.read("big", "definition");
  EXPECT_NE(definition.find("name=19 "), std::string::npos) << definition;
  EXPECT_EQ(definition.find("name=large "), std::string::npos) << definition;
}

// A sink to whose objects something happens right before one is put, or is said to be gone.
class OvertakenSink final : public ObjectSink {
 public:
  Reader reader() const override { return Reader::kSuccessor; }
  bool put(const SavedObject&) override {
    overtake();
    has_it_ = true;
    return true;
  }
  void gone(SavedKind, std::string_view) override {
    overtake();
    has_it_ = false;
  }

  std::function<void()> meanwhile_;
  bool has_it_ = false;

 private:
  void overtake() {
    if (const auto meanwhile = std::exchange(meanwhile_, nullptr)) meanwhile();
  }
};

// The other thread is answered when it has told the sink, and must not be overwritten then.
TEST_F(TransferTest, WhatIsWrittenLastOfAnInterfaceIsWhatIsThere) {
  OvertakenSink sink;
  const auto write = [&] { statistics_.save_at("statistics/web", sink, clock_.now()); };
  make("web/a");
  sink.meanwhile_ = [&] {
    ASSERT_TRUE(statistics_.remove_interface("web", clock_.now()));
    write();
  };
  write();
  EXPECT_FALSE(sink.has_it_);
  sink.meanwhile_ = [&] {
    make("web/b");
    write();
  };
  write();
  EXPECT_TRUE(sink.has_it_);
}

// The memory has version 0 of what it had before, and gets what is newer.
TEST_F(TransferTest, WhatIsTakenOverIsNewerThanWhatTheMemoryHas) {
  class Versions final : public ObjectSink {
   public:
    Reader reader() const override { return Reader::kSuccessor; }
    bool put(const SavedObject&) override { return true; }
    bool wants(SavedKind, std::string_view label, const ObjectVersion& version) override {
      if (label == "web") changes_ = version.changes;
      return false;
    }

    std::uint64_t changes_ = 0;
  };
  make("web/a");
  TransferredPages of_restarted, of_next;
  Next restarted(of_restarted, SavedObjects(statistics_), clock_);
  Next next(of_next, restarted.statistics(), clock_);
  ASSERT_TRUE(next.loaded) << next.loaded.error().reason;
  Versions versions;
  next.statistics().save(versions);
  EXPECT_GT(versions.changes_, 0u);
}

// A kill may come when the memory has an interface that was made again, and changes still of the
// one before: of this server, or of the one before, which was killed, or was reloaded without
// having saved them.
TEST_F(TransferTest, ChangesDoNotComeIntoALaterInterfaceOfTheName) {
  const Loading killed{.now = clock_.now(), .has_pages = true, .is_after_kill = true};
  for (int i = 0; i < 100; ++i) make("web/" + std::to_string(i));
  KeptObjects kept;
  statistics_.save(kept);
  statistics_.changes().keep({.write = [&](const auto& put) { return put(kept), true; }});
  ASSERT_TRUE(execute("define web name=7 units=us"));
  statistics_.changes().write(clock_.now());
  ASSERT_EQ(kept.labels(SavedKind::kFedChanges), std::vector<std::string>{"web/0"});
  TransferredPages of_next;
  Next next(of_next, kept.for_loading(), clock_, killed);
  ASSERT_TRUE(next.loaded) << next.loaded.error().reason;
  EXPECT_NE(next.read("web", "definition").find("units=us"), std::string::npos);
  const auto make_again = [](auto& server) {
    ASSERT_TRUE(server.execute("remove web"));
    ASSERT_TRUE(server.execute("create web/again"));
  };
  TransferredPages of_reloaded;
  Next reloaded(of_reloaded, statistics_, clock_);
  make_again(reloaded);
  make_again(next);
  make_again(*this);
  for (const StatisticsBranch* const server :
       {&reloaded.statistics(), &next.statistics(), &statistics_}) {
    server->save(kept);
    TransferredPages of_last;
    Next last(of_last, kept.for_loading(), clock_, killed);
    ASSERT_TRUE(last.loaded) << last.loaded.error().reason;
    EXPECT_EQ(last.read("web", "data"), "again 0\n");
  }
}

// A lane with increments in one cell.
class OneCell final : public CellSource {
 public:
  OneCell(std::uint64_t lane, std::uint64_t samples) : lane_(lane), samples_(samples) {}

  uid_t uid() const override { return kAlice; }
  std::uint64_t lane() const override { return lane_; }
  bool is_trusted() const override { return true; }
  std::shared_ptr<CellCredit> credit() const override { return nullptr; }
  CellsRead add_up(const CellKey&, CellPlaces&, CellsPart&, CellSums& sums, CellBudget&,
                   const CellParty&) const override {
    sums.samples += samples_;
    sums.number += samples_;
    return {.cells = 1, .all = true};
  }
  void prefetch(const CellKey&, const CellPlaces&, const CellBudget&) const override {}
  void note_not_read() const override {}

 private:
  const std::uint64_t lane_;
  const std::uint64_t samples_;
};

// Two feeders have cells of a statistic, and one ends without a sample that was not read before.
TEST_F(TransferTest, CellsThatWereTakenOutAreSavedThoughNoSampleIsNew) {
  const auto a = make("web/a on=1");
  const auto ends = std::make_shared<OneCell>(1, 7), stays = std::make_shared<OneCell>(2, 1);
  ASSERT_TRUE(statistics_.bind_cells(a, ends, 0));
  ASSERT_TRUE(statistics_.bind_cells(a, stays, 0));
  EXPECT_EQ(read("web", "data"), "a 8\n");
  KeptObjects kept;
  statistics_.save(kept);
  statistics_.absorb_cells(a, ends.get(), clock_.now(), never_late);
  statistics_.save(kept);
  Next next(*this, kept.all(), clock_,
            {.now = clock_.now(), .has_pages = true, .is_after_kill = true});
  ASSERT_TRUE(next.loaded) << next.loaded.error().reason;
  ASSERT_TRUE(next.statistics().bind_cells(a, stays, 0));
  EXPECT_EQ(next.read("web", "data"), "a 8\n");
}

TEST_F(TransferTest, WhatUsersHaveSetStaysWhenDefaultsComeLater) {
  make("web/a on=1");
  ASSERT_TRUE(execute("define web name=a type=range"));
  Next next(*this, statistics_, clock_);
  ASSERT_TRUE(next.execute("define web name=a default=1 type=list entries_max=3"));
  EXPECT_NE(next.read("web", "definition").find("type=range"), std::string::npos);
}

TEST_F(TransferTest, APeriodOfAHistoryGoesOn) {
  const auto a = make("web/a on=1 type=history period=1000000 entries_max=10 mode=increments");
  ASSERT_TRUE(send(a, 3));
  clock_.advance(std::chrono::milliseconds(300));
  Next next(*this, statistics_, clock_);
  ASSERT_TRUE(next.send(a, 4));
  clock_.advance(std::chrono::seconds(1));
  const std::string data = next.read("web", "data");
  EXPECT_NE(data.find("] 2\n"), std::string::npos) << data;
}

TEST_F(TransferTest, WhatIsNoStateOfOursIsRefused) {
  make("web/a on=1");
  SavedObjects objects;
  statistics_.save_for_successor(objects, clock_.now());
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const SavedObject whole = objects.at(i);
    if (whole.label != "web") continue;
    for (std::size_t size = 0; size < whole.bytes.size(); ++size) {
      SavedObject part = whole;
      part.bytes = whole.bytes.substr(0, size);
      Tree tree{clock_.now()};
      Ledger ledger{Ledger::Limits{}};
      TransferredPages pages;
      StatisticsBranch other(tree, ledger, kDaemon, clock_.now(), pages.dependencies());
      EXPECT_FALSE(other.load(part, {.now = clock_.now(), .has_pages = true})) << size;
    }
  }
}

}  // namespace
}  // namespace tallyfs::statistics
