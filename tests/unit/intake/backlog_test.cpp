// Which senders wait behind others, in which order, and for how long.
#include "feeders/intake/backlog.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace tallyfs {
namespace {

using namespace std::chrono_literals;

constexpr uid_t kOwner = 500;

Datagram datagram_of(std::string& text, uid_t uid, pid_t pid) {
  return {.bytes = text, .origin = {.pid = pid, .uid = uid}};
}

class BacklogTest : public testing::Test {
 protected:
  void charge(uid_t uid, pid_t pid, std::chrono::nanoseconds spent) {
    accounts_.charge(key_of(uid, pid), Cost::kCommands, spent, now_);
  }
  bool holds(uid_t uid, pid_t pid) { return accounts_.holds(key_of(uid, pid), now_); }
  bool put(std::string text, uid_t uid, pid_t pid) {
    const Datagram datagram = datagram_of(text, uid, pid);
    if (!backlog_.has_room(datagram.origin, text.size())) return false;
    backlog_.put(datagram);
    return true;
  }
  std::string take() {
    const auto deferred = backlog_.take();
    return {deferred.datagram.bytes.begin(), deferred.datagram.bytes.end()};
  }

  // What makes room for a byte of this uid.
  std::string taken_for(uid_t uid) {
    const auto deferred = backlog_.take_in_the_way_of({.pid = 9, .uid = uid}, 1);
    return {deferred.datagram.bytes.begin(), deferred.datagram.bytes.end()};
  }

  SenderKey key_of(uid_t uid, pid_t pid) const { return queue_.key_of({.pid = pid, .uid = uid}); }

  SocketQueue queue_{-1, kOwner, std::nullopt};
  Accounts accounts_{queue_};
  Backlog backlog_{queue_, accounts_};
  std::chrono::nanoseconds now_{1h};
};

TEST_F(BacklogTest, HoldsASenderWhoseCommandsCostMoreThanTheAllowance) {
  charge(0, 7, Accounts::kAllowance);
  EXPECT_FALSE(holds(0, 7));
  charge(0, 7, 1us);
  EXPECT_TRUE(holds(0, 7));
}

TEST_F(BacklogTest, HoldsNoSenderThatKeepsToItsShareOfTheTime) {
  for (int i = 0; i < 1000; ++i) {
    charge(0, 7, 5ms);
    ASSERT_FALSE(holds(0, 7));
    now_ += 5ms * Debt::kShareOfCommands;
  }
}

TEST_F(BacklogTest, HoldsASenderWhoseSamplesTakeMoreThanHalfOfTheTime) {
  const SenderKey sender = key_of(1000, 7);
  for (int i = 0; i < 1000; ++i) {
    accounts_.charge(sender, Cost::kAll, 5ms, now_);
    ASSERT_FALSE(holds(1000, 7));
    now_ += 5ms * Debt::kShareOfAll;
  }
  for (int i = 0; i < 50; ++i) {
    accounts_.charge(sender, Cost::kAll, 5ms, now_);
    now_ += 5ms;
  }
  EXPECT_TRUE(holds(1000, 7));
  EXPECT_FALSE(accounts_.holds_for_commands(sender));
  EXPECT_TRUE(queue_.holds_any());
}

TEST_F(BacklogTest, RoomIsMadeByTheSenderThatHasTooManyElseByTheOneWithMost) {
  charge(0, 7, 1s);
  charge(0, 8, 1s);
  for (const char* text : {"a1", "a2"}) ASSERT_TRUE(put(text, 0, 7));
  ASSERT_TRUE(put("b1", 0, 8));
  const auto taken = [&](std::size_t bytes) {
    const auto deferred = backlog_.take_in_the_way_of({.pid = 8, .uid = 0}, bytes);
    return std::string(deferred.datagram.bytes.begin(), deferred.datagram.bytes.end());
  };
  EXPECT_EQ(taken(Backlog::kBytesOfSenderMax), "b1");
  EXPECT_EQ(taken(1), "a1");
  EXPECT_EQ(taken(1), "a2");
  EXPECT_TRUE(backlog_.empty());
}

// What root has put there is never dropped, so that a stranger's room would cost others time.
TEST_F(BacklogTest, RoomIsMadeByUidsBeforeProcessesThatMayHaveMore) {
  charge(0, 7, 1s);
  charge(1000, 8, 1s);
  ASSERT_TRUE(put("long of root's", 0, 7));
  ASSERT_TRUE(put("a", 1000, 8));
  EXPECT_EQ(taken_for(1001), "a");
  EXPECT_EQ(taken_for(1001), "long of root's");
}

TEST_F(BacklogTest, UidsLoseNothingThatDoesNotMakeTheRoom) {
  charge(1000, 8, 1s);
  ASSERT_TRUE(put("a", 1000, 8));
  constexpr std::size_t kEach = Backlog::kBytesMax / 4 - 4096;
  for (const pid_t pid : {1, 2, 3, 4}) {
    charge(0, pid, 1s);
    ASSERT_TRUE(put(std::string(kEach, 'r'), 0, pid));
  }
  const auto deferred = backlog_.take_in_the_way_of({.pid = 9, .uid = 1001}, 65'536);
  EXPECT_EQ(deferred.datagram.bytes.size(), kEach);
}

TEST_F(BacklogTest, AUidLosesForOthersOnlyWhatItHasBeyondEachOfThem) {
  constexpr std::size_t kBytes = 1000;
  const auto fill = [&](uid_t uid, char text, int times) {
    charge(uid, 8, 1s);
    for (; times != 0; --times) ASSERT_TRUE(put(std::string(kBytes, text), uid, 8));
  };
  fill(1000, 'h', 5);
  for (const uid_t uid : {100'001u, 100'002u, 100'003u}) fill(uid, 'a', 3);
  std::string order;
  for (int i = 0; i < 11; ++i) order += taken_for(100'004).front();
  EXPECT_EQ(order.substr(0, 2), "hh");
  EXPECT_EQ(std::ranges::count(order.substr(0, 6), 'h'), 3) << order;
  EXPECT_EQ(std::ranges::count(order.substr(6, 4), 'h'), 1) << order;
}

TEST_F(BacklogTest, HoldsAProcessOfTheOwnersByItselfAndAStrangerWithAllItsProcesses) {
  charge(kOwner, 7, 1s);
  charge(1000, 8, 1s);
  EXPECT_TRUE(holds(kOwner, 7));
  EXPECT_FALSE(holds(kOwner, 8));
  EXPECT_TRUE(holds(1000, 7));
  EXPECT_FALSE(holds(1001, 8));
}

TEST_F(BacklogTest, LetsGoOfASenderWithAnOldDebtAndNothingPending) {
  charge(0, 7, 1h);
  ASSERT_TRUE(put("a", 0, 7));
  now_ += Debt::kMost * Debt::kShareOfCommands;
  EXPECT_TRUE(holds(0, 7));
  EXPECT_EQ(take(), "a");
  now_ += 1s;
  EXPECT_FALSE(holds(0, 7));
}

TEST_F(BacklogTest, GivesEachSenderItsTurnAndKeepsTheOrderOfEach) {
  charge(0, 7, 1s);
  charge(0, 8, 1s);
  for (const char* text : {"a1", "a2", "a3"}) ASSERT_TRUE(put(text, 0, 7));
  for (const char* text : {"b1", "b2"}) ASSERT_TRUE(put(text, 0, 8));
  std::string order;
  while (!backlog_.empty()) order += take() + " ";
  EXPECT_EQ(order, "a1 b1 a2 b2 a3 ");
}

TEST_F(BacklogTest, PutsARestBeforeWhatItsSenderSentLater) {
  charge(0, 7, 1s);
  ASSERT_TRUE(put("first second", 0, 7));
  ASSERT_TRUE(put("third", 0, 7));
  const auto deferred = backlog_.take();
  EXPECT_FALSE(deferred.is_rest);
  const std::string rest = "second";
  backlog_.put_rest(deferred.datagram, {rest.begin(), rest.end()}, {.next = 7});
  const auto again = backlog_.take();
  EXPECT_TRUE(again.is_rest);
  EXPECT_EQ(again.progress.next, 7u);
  EXPECT_EQ(std::string(again.bytes.begin(), again.bytes.end()), "second");
  EXPECT_EQ(take(), "third");
  EXPECT_TRUE(backlog_.empty());
}

TEST_F(BacklogTest, HasNoRoomBeyondTheBoundOfASenderAndOfAll) {
  constexpr std::size_t kBytes = 256 * 1024;
  constexpr pid_t kSenders = Backlog::kBytesMax / Backlog::kBytesOfSenderMax + 1;
  std::size_t kept = 0;
  for (pid_t pid = 1; pid <= kSenders; ++pid) {
    charge(0, pid, 1s);
    std::size_t of_this = 0;
    while (put(std::string(kBytes, 'x'), 0, pid)) of_this += kBytes;
    EXPECT_LE(of_this, Backlog::kBytesOfSenderMax);
    kept += of_this;
  }
  EXPECT_LE(kept, Backlog::kBytesMax);
  EXPECT_GT(kept, Backlog::kBytesMax - 2 * kSenders * kBytes);
  // What is taken makes room.
  while (!backlog_.empty()) take();
  EXPECT_TRUE(put("x", 0, 1));
}

TEST_F(BacklogTest, ProcessesBeyondABoundedNumberAreHeldAsOne) {
  constexpr auto kProcesses = static_cast<pid_t>(Accounts::kProcessesMax);
  for (pid_t pid = 1; pid <= kProcesses; ++pid) charge(0, pid, 1us);
  charge(0, 5000, Accounts::kAllowance);
  EXPECT_FALSE(holds(0, 5000));
  charge(0, 5001, 1us);
  EXPECT_TRUE(holds(0, 5000));
  EXPECT_TRUE(holds(0, 5002));
  EXPECT_FALSE(holds(0, 1));
}

// A user namespace has as many as its root likes.
TEST_F(BacklogTest, AnyNumberOfUidsTogetherHaveTheTimeOfOneSender) {
  constexpr auto kDatagram = 500us;
  std::chrono::nanoseconds taken{0};
  for (uid_t uid = 100'000; uid < 103'000; ++uid) {
    if (holds(uid, 7)) continue;
    charge(uid, 7, kDatagram);
    taken += kDatagram;
  }
  EXPECT_LE(taken, 2 * Accounts::kAllowance);
  EXPECT_TRUE(holds(200'000, 7));
  EXPECT_FALSE(holds(0, 7));
}

TEST_F(BacklogTest, AUidThatSendsLittleIsNotHeldBesideManyThatSendMuch) {
  for (int second = 0; second < 60; ++second) {
    charge(1000, 7, 10us);
    EXPECT_FALSE(holds(1000, 7)) << second;
    for (uid_t uid = 100'000; uid < 101'000; ++uid) {
      if (!holds(uid, 8)) charge(uid, 8, 5ms);
    }
    now_ += 1s;
  }
}

// What was put off of one of them would be overtaken else.
TEST_F(BacklogTest, AUidWithSomethingPutOffKeepsItsOrderThoughThereIsRoomForAnAccount) {
  for (uid_t uid = 1; uid <= Accounts::kUidsMax; ++uid) charge(100'000 + uid, 7, 1us);
  charge(1000, 8, 1s);
  ASSERT_TRUE(put("first", 1000, 8));
  now_ += Accounts::kKeptUnused * 2;
  EXPECT_TRUE(holds(1000, 8));
  charge(1000, 8, 1us);
  EXPECT_TRUE(backlog_.has_any_of({.pid = 8, .uid = 1000}));
  EXPECT_EQ(take(), "first");
}

TEST_F(BacklogTest, LongRingsOfUidsWithoutAnAccountHaveOneTimeTogether) {
  accounts_.spend_reading(key_of(100'000, 7), Accounts::kReadingMax, now_);
  EXPECT_EQ(accounts_.reading_left(key_of(100'001, 7), now_), 0ns);
  charge(1000, 8, 1us);
  EXPECT_EQ(accounts_.reading_left(key_of(1000, 8), now_), Accounts::kReadingMax);
}

}  // namespace
}  // namespace tallyfs
