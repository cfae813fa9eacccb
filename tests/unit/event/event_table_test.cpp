#include "core/event/set/event_table.h"

#include "tests/unit/event/stand.h"

namespace tallyfs {
namespace {

using EventTableTest = EventStand;

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

}  // namespace
}  // namespace tallyfs
