#include "core/wire/order.h"

#include <gtest/gtest.h>

#include "core/wire/order_text.h"

namespace tallyfs::wire {
namespace {

TEST(OrderTest, OrdersComeBackAsTheyWerePrinted) {
  const WantOrder want{.number = 7,
                       .events = {.wakeups = true, .timers = true, .wakeup_pid = 4711},
                       .without = {12, 13}};
  EXPECT_EQ(print(want),
            "want 7 wakeups=1 timers=1 sections=0 wakeup_pid=4711 timer_pid=0 without=12,13");
  const auto parsed = std::get<WantOrder>(parse_order(print(want)).value());
  EXPECT_EQ(parsed.number, 7u);
  EXPECT_EQ(parsed.events, want.events);
  EXPECT_EQ(parsed.without, want.without);
  EXPECT_TRUE(std::get<WantOrder>(parse_order(print(WantOrder{})).value()).without.empty());
  EXPECT_EQ(std::get<DrainOrder>(parse_order(print(DrainOrder{8})).value()).number, 8u);
  EXPECT_EQ(std::get<EndOrder>(parse_order(print(EndOrder{9})).value()).number, 9u);
}

TEST(OrderTest, RepliesComeBackAsTheyWerePrinted) {
  EXPECT_TRUE(std::holds_alternative<Hello>(parse_reply(print(Hello{7})).value()));
  EXPECT_EQ(std::get<Hello>(parse_reply("hello 7").value()).pid, 7);
  EXPECT_EQ(std::get<Hello>(parse_reply("hello 7").value()).without_events, "");
  EXPECT_EQ(std::get<Hello>(parse_reply(print(Hello{7, "not root"})).value()).without_events,
            "not root");
  EXPECT_EQ(std::get<Done>(parse_reply(print(Done{9})).value()).number, 9u);
  EXPECT_EQ(std::get<Gone>(parse_reply("gone for  good").value()).reason, "for  good");
  for (const auto code : {ErrorCode::kNoDevice, ErrorCode::kNoAccess, ErrorCode::kBusy}) {
    const auto failed =
        std::get<Failed>(parse_reply(print(Failed{5, {code, "not today: no"}})).value());
    EXPECT_EQ(failed.number, 5u);
    EXPECT_EQ(failed.error.code, code);
    EXPECT_EQ(failed.error.reason, "not today: no");
  }
}

// They are made of what strangers have written, and come into error_log.
TEST(OrderTest, NoReasonOfAReplyForgesALineOrControlsATerminal) {
  const std::string hostile = "no f\\x0a\n  Command: y\x1b]0;z\xc2\x9b";
  const std::string harmless = "no f\\x0a\\x0a  Command: y\\x1b]0;z\\xc2\\x9b";
  const Error error{.code = ErrorCode::kInvalid, .reason = hostile};
  const auto refused = parse_reply(print(Refused{7, error})).value();
  EXPECT_EQ(std::get<Refused>(refused).error.reason, harmless);
  const auto failed = parse_reply(print(Failed{7, error})).value();
  EXPECT_EQ(std::get<Failed>(failed).error.reason, harmless);
  EXPECT_EQ(std::get<Gone>(parse_reply(print(Gone{hostile})).value()).reason, harmless);
  const auto hello = parse_reply(print(Hello{7, hostile})).value();
  EXPECT_EQ(std::get<Hello>(hello).without_events, harmless);
  const auto again = parse_reply(print(std::get<Refused>(refused))).value();
  EXPECT_EQ(std::get<Refused>(again).error.reason, harmless) << "passed on";
  const auto much = parse_reply(print(Gone{std::string(100'000, 'x')})).value();
  EXPECT_EQ(std::get<Gone>(much).reason.size(), kReasonShownMax);
}

TEST(OrderTest, WhatIsNoneIsNotTaken) {
  for (const char* const text :
       {"", "want", "want x", "want 1 wakeups", "want 1 wakeups=2", "want 1 wakeup_pid=-1",
        "want 1 without=1,x", "want 1 with=1", "drain", "drain 1 2", "hello", "done 1"}) {
    EXPECT_FALSE(parse_order(text)) << text;
  }
  for (const char* const text :
       {"", "hello", "done", "done x", "failed 1", "failed 1 EIO x", "want 1"}) {
    EXPECT_FALSE(parse_reply(text)) << text;
  }
}

}  // namespace
}  // namespace tallyfs::wire
