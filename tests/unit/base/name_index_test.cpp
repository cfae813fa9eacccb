#include "core/base/name_index.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <string>

namespace tallyfs {
namespace {

struct Thing {
  std::string name;
};
struct Naming {
  static std::string name(const Thing& thing) { return thing.name; }
  static bool is_named(const Thing& thing, std::string_view name) { return thing.name == name; }
};
using Index = NameIndex<Thing, Naming>;

TEST(NameIndexTest, FindsNothingInAnEmptyOne) {
  const Index index;
  EXPECT_EQ(index.find("web"), nullptr);
  EXPECT_EQ(index.candidate(keyed_hash("web")), nullptr);
  EXPECT_EQ(index.size(), 0u);
}

TEST(NameIndexTest, FindsWhatIsInAndNotWhatWasTakenOut) {
  Index index;
  Thing web{"web"};
  Thing empty{""};
  index.insert(web);
  index.insert(empty);
  EXPECT_EQ(index.find("web"), &web);
  EXPECT_EQ(index.find(""), &empty);
  EXPECT_EQ(index.candidate(keyed_hash("web")), &web);
  index.erase(web);
  EXPECT_EQ(index.find("web"), nullptr);
  EXPECT_EQ(index.find(""), &empty);
  EXPECT_EQ(index.size(), 1u);
}

// Small tables fill up to their half, so that many of these stand away from home.
TEST(NameIndexTest, AgreesWithAMapOverRandomInsertionsAndRemovals) {
  std::mt19937 random(20061);
  std::deque<Thing> things;
  for (int i = 0; i < 300; ++i) things.push_back({"statistic_" + std::to_string(i)});
  Index index;
  std::map<std::string, Thing*> wanted;
  int candidates = 0;
  int asked_for = 0;
  for (int step = 0; step < 100'000; ++step) {
    // Grows and shrinks in waves.
    const std::size_t range = 1 + static_cast<std::size_t>(step / 100) % things.size();
    Thing& thing = things[random() % range];
    if (wanted.erase(thing.name) != 0) {
      index.erase(thing);
    } else {
      wanted[thing.name] = &thing;
      index.insert(thing);
    }
    const std::string& asked = things[random() % things.size()].name;
    const auto found = wanted.find(asked);
    ASSERT_EQ(index.find(asked), found == wanted.end() ? nullptr : found->second) << step;
    const Thing* const candidate = index.candidate(keyed_hash(asked));
    ASSERT_TRUE(!candidate || candidate->name == asked) << step;
    candidates += candidate ? 1 : 0;
    asked_for += found == wanted.end() ? 0 : 1;
    ASSERT_EQ(index.size(), wanted.size());
  }
  // Few are in another line than their first one.
  EXPECT_LE(candidates, asked_for);
  EXPECT_GT(candidates, asked_for * 9 / 10);
}

}  // namespace
}  // namespace tallyfs
