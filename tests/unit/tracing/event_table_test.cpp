#include "core/tracing/set/event_table.h"

#include <memory>
#include <string>
#include <vector>

#include "tests/unit/tracing/fixture.h"

namespace tallyfs::tracing {
namespace {

using EventTableTest = EventFixture;

TEST_F(EventTableTest, AListIsSharedUntilAnEventComesOrGoes) {
  const auto first = set.events.listed();
  EXPECT_EQ(set.events.listed(), first) << "no copy of 2,000 names for each reader";
  const EventNumber other = set.events.define_event("sched", format_of("other", 9, "")).value();
  const auto second = set.events.listed();
  EXPECT_EQ(second->size(), first->size() + 1);
  ASSERT_TRUE(set.events.remove(other));
  EXPECT_EQ(set.events.listed()->size(), first->size());
  EXPECT_EQ(second->size(), first->size() + 1) << "what a reader has stays as it was";
}

TEST_F(EventTableTest, TheTextOfAFormatIsSharedWithItsReaders) {
  EXPECT_EQ(set.events.format_text(waking), set.events.format_text(waking));
  const auto text = set.events.format_text(waking);
  ASSERT_TRUE(set.take_over_event("sched", format_of("sched_waking", 9, "")));
  EXPECT_EQ(*text, kSchedWaking);
}

TEST_F(EventTableTest, AnEventHasOneIdInAllInstances) {
  const auto ids = std::make_shared<EventIds>();
  EventSet top({}, ids);
  const auto id_in = [](EventSet& of, std::string_view name, std::string_view fields) {
    const auto number = of.events.define_fields("app", std::string(name).append(fields));
    return number ? of.events.format(number.value()).id : std::uint16_t{0};
  };
  const std::uint16_t first = id_in(top, "first", " u64 us");
  const std::uint16_t later = id_in(top, "later", " u64 us");
  EXPECT_EQ(first, EventIds::kFirst);
  EXPECT_NE(first, later);
  auto instance = std::make_unique<EventSet>(EventSet::Limits(), ids);
  EXPECT_EQ(id_in(*instance, "later", " u64 us"), later);
  EXPECT_EQ(id_in(*instance, "later", " u64 ns"), later) << "fields of its own";
  ASSERT_TRUE(top.events.remove(top.events.find("app", "later").value()));
  EXPECT_EQ(id_in(top, "later", " u64 us"), later) << "the instance has it still";
  instance.reset();
  ASSERT_TRUE(top.events.remove(top.events.find("app", "later").value()));
  EXPECT_NE(id_in(top, "later", " u64 us"), later) << "records of the former may be read yet";
}

TEST(EventIdsTest, GivesAnIdAgainWhenAllOthersWereGiven) {
  EventIds ids;
  std::vector<EventIds::Id> held;
  for (std::size_t i = 0; i < EventIds::kIds; ++i) held.push_back(ids.of("app", std::to_string(i)));
  EXPECT_EQ(*held.front(), EventIds::kFirst);
  EXPECT_EQ(*held.back(), 65'535);
  EXPECT_EQ(ids.of("app", "one more"), nullptr);
  EXPECT_EQ(ids.of("app", "7"), held[7]);
  held[7].reset();
  const auto next = ids.of("app", "one more");
  EXPECT_EQ(*next, EventIds::kFirst + 7);
  EXPECT_EQ(ids.of("app", "7"), nullptr);
}

}  // namespace
}  // namespace tallyfs::tracing
