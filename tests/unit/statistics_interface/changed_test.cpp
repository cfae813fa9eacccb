// What commands have changed since an interface was saved, saved alone: put into what was saved
// before, it gives the interface as it is.
#include <algorithm>
#include <vector>

#include "tests/unit/statistics_interface/stand.h"

namespace tallyfs::statistics {
namespace {

struct ChangedStand : Stand {
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
  auto loaded = Interface::load_handed(in, ledger);
  EXPECT_TRUE(loaded.has_value());
  const auto taken = loaded.value()->load_changes(changes);
  EXPECT_TRUE(taken) << taken.error().reason;
  return std::move(loaded.value());
}

void expect_same(ChangedStand& stand, const std::string& whole,
                 const std::vector<std::string>& changes) {
  Ledger ledger{{}};
  const auto loaded = load(whole, changes, ledger);
  EXPECT_EQ(loaded->render_definition(kAnyLength).value(), stand.definition());
  EXPECT_EQ(loaded->render_data(stand.clock.now(), kAnyLength).value(), stand.data());
  CellBudget budget(CellBudget::Of::kAll);
  EXPECT_EQ(loaded->overview(stand.clock.now(), budget).samples, stand.overview().samples);
  EXPECT_EQ(ledger.total(), stand.ledger.total());
}

TEST(ChangedTest, EachCommandIsThereInItsOrder) {
  ChangedStand stand;
  for (const char* each : {"a", "b", "c"}) stand.create(each, "on=1");
  stand.create_view("view", "a");
  const std::string whole = stand.whole();
  std::vector<std::string> changes;
  stand.define("name=b type=list entries_max=9");
  changes.push_back(stand.changes({"b"}));
  stand.create("d", "on=1");
  changes.push_back(stand.changes({"d"}));
  stand.create_view("late", "b");
  changes.push_back(stand.changes({"late"}));
  stand.add(stand.interface->find("a"), {{.x = 5, .time = stand.clock.now().monotonic}});
  stand.define("name=view units=us");
  changes.push_back(stand.changes({"view"}));
  stand.interface->remove_statistic("c", stand.clock.now());
  changes.push_back(stand.changes({"c"}));
  stand.interface->remove_statistic("view", stand.clock.now());
  changes.push_back(stand.changes({"view"}));
  expect_same(stand, whole, changes);
}

// As when the server was killed between a save and the removal of what is in it.
TEST(ChangedTest, ChangesThatAreOlderAreLeftOut) {
  ChangedStand stand;
  stand.create("a", "on=1");
  stand.define("name=a units=us");
  const std::string before = stand.changes({"a"});
  stand.define("name=a units=ms");
  expect_same(stand, stand.whole(), {before});
}

// A view that is behind another source now stands behind that one, else it could not be loaded.
TEST(ChangedTest, AViewOfAnotherSourceComesBehindIt) {
  ChangedStand stand;
  stand.create("a", "on=1");
  stand.create_view("view", "a");
  stand.create("b", "on=1");
  const std::string whole = stand.whole();
  stand.interface->remove_statistic("view", stand.clock.now());
  stand.create_view("view", "b");
  const std::string changes = stand.changes({"view"});
  expect_same(stand, whole, {changes});
  Ledger ledger{{}}, next_ledger{{}};
  const auto loaded = load(whole, {changes}, ledger);
  std::string again;
  ByteWriter out(again);
  CellBudget budget;
  loaded->save_for_successor(out, budget);
  EXPECT_EQ(load(again, {}, next_ledger)->size(), 3u);
}

TEST(ChangedTest, WhatAreNoChangesIsRefused) {
  ChangedStand stand;
  stand.create("a", "on=1");
  stand.create("b", "on=1");
  const std::string whole = stand.whole();
  stand.define("name=b units=us");
  const std::string changes = stand.changes({"b"});
  for (std::size_t size = 0; size < changes.size(); ++size) {
    Ledger ledger{{}};
    const auto loaded = load(whole, {}, ledger);
    EXPECT_FALSE(loaded->load_changes(std::vector{changes.substr(0, size)})) << size;
  }
}

// As where some changes could not be written, and later ones could.
TEST(ChangedTest, AStatisticThatNoNameTellsOfIsReplacedWithItsViews) {
  ChangedStand stand;
  stand.create("a", "on=1");
  stand.create("x", "on=1");
  stand.create_view("of_x", "x");
  const std::string whole = stand.whole();
  stand.interface->remove_statistic("x", stand.clock.now());
  stand.create_view("x", "a");
  expect_same(stand, whole, {stand.changes({"a"})});
}

TEST(ChangedTest, WhatIsGoneMakesRoomForWhatHasCome) {
  ChangedStand stand;
  for (const char* each : {"a", "b"}) stand.create(each, "on=1 type=list entries_max=1000");
  const std::string whole = stand.whole();
  Ledger::Limits limits;
  limits.per_uid.bytes = stand.ledger.total().bytes;
  stand.interface->remove_statistic("a", stand.clock.now());
  stand.create("c", "on=1 type=list entries_max=1000");
  const std::string changes = stand.changes({"a", "c"});
  Ledger full(limits);
  const auto loaded = load(whole, {changes}, full);
  EXPECT_EQ(loaded->render_definition(kAnyLength).value(), stand.definition());
  EXPECT_EQ(full.total(), stand.ledger.total());
}

// A save in steps may have a statistic later than changes that are newer for others.
TEST(ChangedTest, FewerSamplesThanTheWholeHasAreNotTakenFromItsSum) {
  ChangedStand stand;
  stand.create("a", "on=1");
  stand.define("name=a units=us");
  stand.define("name=a units=ms");
  const std::string changes = stand.changes({"a"});
  ChangedStand later;
  Statistic* const a = later.create("a", "on=1");
  later.add(a, {{.x = 5, .time = later.clock.now().monotonic}});
  Ledger ledger{{}};
  const auto loaded = load(later.whole(), {changes}, ledger);
  CellBudget budget(CellBudget::Of::kAll);
  EXPECT_EQ(loaded->overview(later.clock.now(), budget).samples, 1u);
}

TEST(ChangedTest, OfChangesThatDoNotFitNothingIsTaken) {
  ChangedStand stand;
  stand.create("a", "on=1");
  stand.create("b", "on=1");
  stand.add(stand.interface->find("b"), {{.x = 5, .time = stand.clock.now().monotonic}});
  const std::string whole = stand.whole(), data = stand.data();
  stand.interface->remove_statistic("a", stand.clock.now());
  stand.define("name=b type=list entries_max=100000");
  const std::string too_large = stand.changes({"a", "b"});
  Ledger::Limits limits;
  limits.per_uid.bytes = 100'000;
  Ledger ledger(limits);
  ByteReader in(whole);
  const auto loaded = Interface::load_handed(in, ledger);
  ASSERT_TRUE(loaded);
  const Holdings had = ledger.total();
  const auto taken = loaded.value()->load_changes(std::vector{too_large});
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::kNoSpace);
  EXPECT_EQ(loaded.value()->render_data(stand.clock.now(), kAnyLength).value(), data);
  EXPECT_EQ(ledger.total(), had);
}

TEST(ChangedTest, TheRestOfManyNamesIsSavedByFurtherCalls) {
  ChangedStand stand;
  stand.create("first", "on=1");
  const std::string whole = stand.whole();
  std::vector<std::string> names;
  for (int i = 0; i < 200; ++i) {
    names.push_back("s" + std::to_string(i));
    stand.create(names.back(), "on=1");
  }
  std::vector<std::string> changes;
  for (std::size_t done = 0; done < names.size();) {
    ByteWriter out(changes.emplace_back());
    const auto [more, version] = stand.interface->save_changes(out, std::span(names).subspan(done));
    EXPECT_EQ(version, stand.interface->changes());
    ASSERT_GT(more, 0u);
    ASSERT_LT(more, 100u);
    done += more;
  }
  expect_same(stand, whole, changes);
}

// Draws one command, and returns what it is for.
std::string change_any(ChangedStand& stand, std::vector<std::string>& names, Random& random) {
  const std::string name = names[random.below(names.size())];
  const std::string number = std::to_string(random.any());
  switch (random.below(6)) {
    case 0: {
      stand.create(names.emplace_back("s" + number), "on=1");
      return names.back();
    }
    case 1: {
      if (names.size() == 1) break;
      stand.interface->remove_statistic(name, stand.clock.now());
      std::erase(names, name);
      break;
    }
    case 2:
      (void)stand.interface->create_view("v" + number, "of=" + name, stand.clock.now());
      break;
    case 3:
      stand.define("name=" + name + " units=u" + number);
      break;
    case 4:
      stand.define("name=" + name + " data=reset");
      break;
    default:
      stand.add(stand.interface->find(name), {{.x = 7, .time = stand.clock.now().monotonic}});
      stand.define("name=" + name + " type=range");
  }
  return name;
}

TEST(ChangedTest, AnyCommandsGiveTheInterfaceAsItIs) {
  Random random;
  SCOPED_TRACE(random.seed());
  for (int round = 0; round < 100; ++round) {
    ChangedStand stand;
    std::vector<std::string> names{"first", "second", "third"};
    for (const std::string& each : names) stand.create(each, "on=1");
    const std::string whole = stand.whole();
    std::vector<std::string> changes;
    for (std::uint64_t left = random.below(20); left != 0; --left) {
      changes.push_back(stand.changes({change_any(stand, names, random)}));
    }
    expect_same(stand, whole, changes);
  }
}

}  // namespace
}  // namespace tallyfs::statistics
