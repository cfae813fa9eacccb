#include "core/wire/event_order.h"

#include <gtest/gtest.h>

#include "core/base/text.h"

namespace tallyfs::wire {
namespace {

// What stands behind the verb and the number.
std::string_view behind_number(std::string_view text) {
  Tokens tokens(text);
  (void)tokens.next();
  (void)tokens.next();
  return tokens.rest().text;
}

std::string printed(const EventsOrder& order) {
  std::size_t taken = 0;
  return print(order, taken);
}

TEST(EventOrderTest, EventsComeBackAsTheyWerePrinted) {
  const EventsOrder order{
      .number = 7,
      .without = {12, 13},
      .events = {{.id = 375, .on = true, .stack = true, .filter = "pid == 7 && comm ~ \"a b*\""},
                 {.id = 9, .comm = true}}};
  const std::string text = printed(order);
  EXPECT_EQ(text,
            "events 7 without=12,13\n"
            "375 on=1 stack=1 comm=0 pid == 7 && comm ~ \"a b*\"\n"
            "9 on=0 stack=0 comm=1 ");
  const auto parsed = parse_events_order(7, behind_number(text));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->without, order.without);
  EXPECT_EQ(parsed->events, order.events);
}

TEST(EventOrderTest, TextsComeBackLineByLine) {
  EXPECT_EQ(print(TextsOrder{7}), "texts 7");
  const std::string lines = "0x10 : \"a b\"\n0x20 : \"c\"\n";
  const std::string text = print(Texts{7, lines});
  EXPECT_EQ(text, "texts 7\n" + lines);
  const Texts parsed = parse_texts(7, behind_number(text));
  EXPECT_EQ(parsed.number, 7u);
  EXPECT_EQ(parsed.printk_formats, lines);
  EXPECT_EQ(parse_texts(8, behind_number(print(Texts{8, ""}))).printk_formats, "");
  std::string many;
  while (many.size() <= kTextsBytesMax) many += lines;
  const std::string cut = parse_texts(9, behind_number(print(Texts{9, many}))).printk_formats;
  EXPECT_LE(cut.size(), kTextsBytesMax);
  EXPECT_TRUE(cut.ends_with("\"\n"));
}

TEST(EventOrderTest, OnlyWhatFitsIsTaken) {
  EventsOrder order{.events = std::vector<WatchedEvent>(40, {.filter = std::string(4'000, 'x')})};
  std::size_t taken = 0;
  EXPECT_LE(print(order, taken).size(), kEventOrderBytesMax);
  EXPECT_EQ(taken, 16u);
}

TEST(EventOrderTest, AFilterThatIsTooLongOrHasLinesIsLeftOut) {
  for (const std::string& filter : {std::string(4'001, 'x'), std::string("a\nb")}) {
    const std::string text = printed({.events = {{.id = 1, .on = true, .filter = filter}}});
    EXPECT_EQ(parse_events_order(0, behind_number(text))->events[0].filter, "");
  }
}

TEST(EventOrderTest, PlacesComeBackAsTheyWerePrinted) {
  const PlaceOrder order{.number = 3, .address = 0xffffffff81000010};
  EXPECT_EQ(parse_place_order(3, behind_number(print(order)))->address, order.address);
  for (const Placed& placed : {Placed{4, 16, 32, "ext4", "ext4_sync"}, Placed{4, 0, 0, "", "a"},
                               Placed{4, 0, 0, "", ""}}) {
    const auto parsed = parse_placed(4, behind_number(print(placed)));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->offset, placed.offset);
    EXPECT_EQ(parsed->size, placed.size);
    EXPECT_EQ(parsed->module, placed.module);
    EXPECT_EQ(parsed->name, placed.name);
  }
}

TEST(EventOrderTest, WhatIsNoneIsNotTaken) {
  for (const char* const text :
       {"", "without", "without=x", "without=1 2", "without=\n1",
        "without=\nx on=1 stack=0 comm=0 ", "without=\n1 on=2 stack=0 comm=0 ",
        "without=\n1 on=1 comm=0 stack=0 ", "without=\n4294967296 on=1 stack=0 comm=0 "}) {
    EXPECT_FALSE(parse_events_order(1, text)) << text;
  }
  EXPECT_FALSE(parse_place_order(1, "x"));
  EXPECT_FALSE(parse_place_order(1, "1 2"));
  EXPECT_FALSE(parse_placed(1, "1 2"));
  EXPECT_FALSE(parse_placed(1, "1 2 - a b"));
}

}  // namespace
}  // namespace tallyfs::wire
