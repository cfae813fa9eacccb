// What commands have changed since an interface was saved, saved alone: put into what was saved
// before, it gives the interface as it is.
#include <algorithm>
#include <vector>

#include "tests/unit/statistics_interface/fixture.h"

namespace tallyfs::statistics {
namespace {

struct ChangedFixture : Fixture {
  std::string whole() const {
    std::string bytes;
    ByteWriter out(bytes);
    CellBudget budget;
    interface->save_for_successor(out, budget);
    return bytes;
  }
  std::string changes(const std::vector<std::string>& names) const {
    std::string bytes;
    ByteWriter out(bytes);
    EXPECT_EQ(interface->save_changes(out, names).names, names.size());
    return bytes;
  }
  void create_view(std::string_view name, const std::string& of) {
    ASSERT_TRUE(interface->create_view(name, "of=" + of + " type=range", clock.now()).value());
  }
};

std::unique_ptr<Interface> load(const std::string& whole, const std::vector<std::string>& changes,
                                Ledger& ledger) {
  ByteReader in(whole);
  auto loaded = Interface::load_transferred(in, ledger);
  EXPECT_TRUE(loaded.has_value());
  const auto taken = loaded.value()->load_changes(changes);
  EXPECT_TRUE(taken) << taken.error().reason;
  return std::move(loaded.value());
}

void expect_same(ChangedFixture& fixture, const std::string& whole,
                 const std::vector<std::string>& changes) {
  Ledger ledger{{}};
  const auto loaded = load(whole, changes, ledger);
  EXPECT_EQ(loaded->render_definition(kAnyLength).value(), fixture.definition());
  EXPECT_EQ(loaded->render_data(fixture.clock.now(), kAnyLength).value(), fixture.data());
  CellBudget budget(CellBudget::Of::kAll);
  EXPECT_EQ(loaded->overview(fixture.clock.now(), budget).samples, fixture.overview().samples);
  EXPECT_EQ(ledger.total(), fixture.ledger.total());
}

TEST(ChangedTest, EachCommandIsThereInItsOrder) {
  ChangedFixture fixture;
  for (const char* each : {"a", "b", "c"}) fixture.create(each, "on=1");
  fixture.create_view("view", "a");
  const std::string whole = fixture.whole();
  std::vector<std::string> changes;
  fixture.define("name=b type=list entries_max=9");
  changes.push_back(fixture.changes({"b"}));
  fixture.create("d", "on=1");
  changes.push_back(fixture.changes({"d"}));
  fixture.create_view("late", "b");
  changes.push_back(fixture.changes({"late"}));
  fixture.add(fixture.interface->find("a"), {{.x = 5, .time = fixture.clock.now().monotonic}});
  fixture.define("name=view units=us");
  changes.push_back(fixture.changes({"view"}));
  fixture.interface->remove_statistic("c", fixture.clock.now());
  changes.push_back(fixture.changes({"c"}));
  fixture.interface->remove_statistic("view", fixture.clock.now());
  changes.push_back(fixture.changes({"view"}));
  expect_same(fixture, whole, changes);
}

// As when the server was killed between a save and the removal of what is in it.
TEST(ChangedTest, ChangesThatAreOlderAreLeftOut) {
  ChangedFixture fixture;
  fixture.create("a", "on=1");
  fixture.define("name=a units=us");
  const std::string before = fixture.changes({"a"});
  fixture.define("name=a units=ms");
  expect_same(fixture, fixture.whole(), {before});
}

// A view that is behind another source now stands behind that one, else it could not be loaded.
TEST(ChangedTest, AViewOfAnotherSourceComesBehindIt) {
  ChangedFixture fixture;
  fixture.create("a", "on=1");
  fixture.create_view("view", "a");
  fixture.create("b", "on=1");
  const std::string whole = fixture.whole();
  fixture.interface->remove_statistic("view", fixture.clock.now());
  fixture.create_view("view", "b");
  const std::string changes = fixture.changes({"view"});
  expect_same(fixture, whole, {changes});
  Ledger ledger{{}}, next_ledger{{}};
  const auto loaded = load(whole, {changes}, ledger);
  std::string again;
  ByteWriter out(again);
  CellBudget budget;
  loaded->save_for_successor(out, budget);
  EXPECT_EQ(load(again, {}, next_ledger)->size(), 3u);
}

TEST(ChangedTest, WhatAreNoChangesIsRefused) {
  ChangedFixture fixture;
  fixture.create("a", "on=1");
  fixture.create("b", "on=1");
  const std::string whole = fixture.whole();
  fixture.define("name=b units=us");
  const std::string changes = fixture.changes({"b"});
  for (std::size_t size = 0; size < changes.size(); ++size) {
    Ledger ledger{{}};
    const auto loaded = load(whole, {}, ledger);
    EXPECT_FALSE(loaded->load_changes(std::vector{changes.substr(0, size)})) << size;
  }
}

// As where some changes could not be written, and later ones could.
TEST(ChangedTest, AStatisticThatNoNameTellsOfIsReplacedWithItsViews) {
  ChangedFixture fixture;
  fixture.create("a", "on=1");
  fixture.create("x", "on=1");
  fixture.create_view("of_x", "x");
  const std::string whole = fixture.whole();
  fixture.interface->remove_statistic("x", fixture.clock.now());
  fixture.create_view("x", "a");
  expect_same(fixture, whole, {fixture.changes({"a"})});
}

TEST(ChangedTest, WhatIsGoneMakesRoomForWhatHasCome) {
  ChangedFixture fixture;
  for (const char* each : {"a", "b"}) fixture.create(each, "on=1 type=list entries_max=1000");
  const std::string whole = fixture.whole();
  Ledger::Limits limits;
  limits.per_uid.bytes = fixture.ledger.total().bytes;
  fixture.interface->remove_statistic("a", fixture.clock.now());
  fixture.create("c", "on=1 type=list entries_max=1000");
  const std::string changes = fixture.changes({"a", "c"});
  Ledger full(limits);
  const auto loaded = load(whole, {changes}, full);
  EXPECT_EQ(loaded->render_definition(kAnyLength).value(), fixture.definition());
  EXPECT_EQ(full.total(), fixture.ledger.total());
}

// A save in steps may have a statistic later than changes that are newer for others.
TEST(ChangedTest, FewerSamplesThanTheWholeHasAreNotTakenFromItsSum) {
  ChangedFixture fixture;
  fixture.create("a", "on=1");
  fixture.define("name=a units=us");
  fixture.define("name=a units=ms");
  const std::string changes = fixture.changes({"a"});
  ChangedFixture later;
  Statistic* const a = later.create("a", "on=1");
  later.add(a, {{.x = 5, .time = later.clock.now().monotonic}});
  Ledger ledger{{}};
  const auto loaded = load(later.whole(), {changes}, ledger);
  CellBudget budget(CellBudget::Of::kAll);
  EXPECT_EQ(loaded->overview(later.clock.now(), budget).samples, 1u);
}

TEST(ChangedTest, OfChangesThatDoNotFitNothingIsTaken) {
  ChangedFixture fixture;
  fixture.create("a", "on=1");
  fixture.create("b", "on=1");
  fixture.add(fixture.interface->find("b"), {{.x = 5, .time = fixture.clock.now().monotonic}});
  const std::string whole = fixture.whole(), data = fixture.data();
  fixture.interface->remove_statistic("a", fixture.clock.now());
  fixture.define("name=b type=list entries_max=100000");
  const std::string too_large = fixture.changes({"a", "b"});
  Ledger::Limits limits;
  limits.per_uid.bytes = 100'000;
  Ledger ledger(limits);
  ByteReader in(whole);
  const auto loaded = Interface::load_transferred(in, ledger);
  ASSERT_TRUE(loaded);
  const Holdings had = ledger.total();
  const auto taken = loaded.value()->load_changes(std::vector{too_large});
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::kNoSpace);
  EXPECT_EQ(loaded.value()->render_data(fixture.clock.now(), kAnyLength).value(), data);
  EXPECT_EQ(ledger.total(), had);
}

TEST(ChangedTest, TheRestOfManyNamesIsSavedByFurtherCalls) {
  ChangedFixture fixture;
  fixture.create("first", "on=1");
  const std::string whole = fixture.whole();
  std::vector<std::string> names;
  for (int i = 0; i < 200; ++i) {
    names.push_back("s" + std::to_string(i));
    fixture.create(names.back(), "on=1");
  }
  std::vector<std::string> changes;
  for (std::size_t done = 0; done < names.size();) {
    ByteWriter out(changes.emplace_back());
    const auto [more, version] =
        fixture.interface->save_changes(out, std::span(names).subspan(done));
    EXPECT_EQ(version, fixture.interface->changes());
    ASSERT_GT(more, 0u);
    ASSERT_LT(more, 100u);
    done += more;
  }
  expect_same(fixture, whole, changes);
}

// Draws one command, and returns what it is for.
std::string change_any(ChangedFixture& fixture, std::vector<std::string>& names, Random& random) {
  const std::string name = names[random.below(names.size())];
  const std::string number = std::to_string(random.any());
  switch (random.below(6)) {
    case 0: {
      fixture.create(names.emplace_back("s" + number), "on=1");
      return names.back();
    }
    case 1: {
      if (names.size() == 1) break;
      fixture.interface->remove_statistic(name, fixture.clock.now());
      std::erase(names, name);
      break;
    }
    case 2:
      (void)fixture.interface->create_view("v" + number, "of=" + name, fixture.clock.now());
      break;
    case 3:
      fixture.define("name=" + name + " units=u" + number);
      break;
    case 4:
      fixture.define("name=" + name + " data=reset");
      break;
    default:
      fixture.add(fixture.interface->find(name), {{.x = 7, .time = fixture.clock.now().monotonic}});
      fixture.define("name=" + name + " type=range");
  }
  return name;
}

TEST(ChangedTest, AnyCommandsGiveTheInterfaceAsItIs) {
  Random random;
  SCOPED_TRACE(random.seed());
  for (int round = 0; round < 100; ++round) {
    ChangedFixture fixture;
    std::vector<std::string> names{"first", "second", "third"};
    for (const std::string& each : names) fixture.create(each, "on=1");
    const std::string whole = fixture.whole();
    std::vector<std::string> changes;
    for (std::uint64_t left = random.below(20); left != 0; --left) {
      changes.push_back(fixture.changes({change_any(fixture, names, random)}));
    }
    expect_same(fixture, whole, changes);
  }
}

}  // namespace
}  // namespace tallyfs::statistics
