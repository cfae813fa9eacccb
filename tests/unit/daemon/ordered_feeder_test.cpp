// The daemon's side of its conversation with the feeder, beside a feeder that is played here.
// Longer than most: all cases share that feeder.
#include "fs/daemon/kernel_feeder/ordered_feeder.h"

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/daemon/ordered_feeder_fixture.h"

namespace tallyfs {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

TEST_F(OrderedFeederTest, AnOrderIsDoneWhenTheFeederSaysSo) {
  arrive();
  auto waiting = want(true);
  const std::string number = played_.number_of("want");
  EXPECT_EQ(waiting.wait_for(50ms), std::future_status::timeout);
  played_.say("done " + number);
  EXPECT_TRUE(waiting.get());
}

TEST_F(OrderedFeederTest, ARefusalComesWithItsReason) {
  arrive();
  auto waiting = want(true);
  played_.say("failed " + played_.number_of("want") + " EACCES not root");
  const auto done = waiting.get();
  EXPECT_EQ(done.error().code, ErrorCode::kNoAccess);
  EXPECT_EQ(done.error().reason, "not root");
}

TEST_F(OrderedFeederTest, IsReadyOnceItsFirstFeederHasArrived) {
  auto ready = ready_.get_future();
  EXPECT_EQ(ready.wait_for(50ms), std::future_status::timeout);
  arrive();
  EXPECT_EQ(ready.get(), 1);
}

// A feeder that another server had before.
class ReplacedFeederTest : public OrderedFeederTest {
 protected:
  ReplacedFeederTest() : OrderedFeederTest(Before::kAServer) {
    EXPECT_TRUE(played_.hear().starts_with("end"));
  }

  bool is_ready(std::chrono::milliseconds within) {
    return ready_future_.wait_for(within) == std::future_status::ready;
  }

  std::future<int> ready_future_ = ready_.get_future();
};

TEST_F(ReplacedFeederTest, ItsEndIsNotThatOfTheNext) {
  played_.say("gone the feeder ended");
  EXPECT_FALSE(is_ready(50ms));
  arrive();
  EXPECT_EQ(ready_future_.get(), 1);
}

TEST_F(ReplacedFeederTest, TheNextMayNotStart) {
  played_.say("gone the feeder ended");
  played_.say("gone cannot start it");
  EXPECT_EQ(ready_future_.get(), 0);
}

TEST_F(ReplacedFeederTest, OneThatHasToldAnotherServerIsReplacedAgain) {
  is_whole_ = false;
  arrive();
  EXPECT_TRUE(played_.hear().starts_with("end"));
  EXPECT_FALSE(feeder_.is_there());
  is_whole_ = true;
  played_.say("gone the feeder ended");
  EXPECT_FALSE(is_ready(50ms));
  arrive();
  EXPECT_EQ(ready_future_.get(), 2);
  played_.number_of("probes");
  played_.number_of("events");
  EXPECT_TRUE(feeder_.is_there());
}

TEST_F(ReplacedFeederTest, OneThatDiesWhileItIsToldOfProbesHasNotArrived) {
  places_ = {{.serial = 3, .event = "a", .text = "/bin/x:0x10"}};
  played_.say("gone the feeder ended");
  arrive();
  played_.number_of("probe");
  played_.say("gone it was killed");
  arrive();
  played_.say("probed " + played_.number_of("probe") + " 3 1400 - /bin/x:0x10\nname: a\n");
  EXPECT_EQ(ready_future_.get(), 2);
}

TEST_F(ReplacedFeederTest, TheNextMayNotStartAfterOneThatDied) {
  places_ = {{.serial = 3, .event = "a", .text = "/bin/x:0x10"}};
  played_.say("gone the feeder ended");
  arrive();
  played_.number_of("probe");
  played_.say("gone it was killed");
  played_.say("gone cannot start it");
  EXPECT_EQ(ready_future_.get(), 1);
}

TEST_F(ReplacedFeederTest, OneThatAlwaysMissesSomeIsTakenAtLast) {
  is_whole_ = false;
  for (int i = 0; i < 3; ++i) arrive();
  EXPECT_EQ(ready_future_.get(), 3);
}

TEST_F(ReplacedFeederTest, OneThatBeganAfterTheEndOfAnotherIsTakenWhateverIsMissing) {
  is_whole_ = false;
  played_.say("gone the feeder ended");
  arrive();
  EXPECT_EQ(ready_future_.get(), 1);
  played_.number_of("probes");
  played_.number_of("events");
  EXPECT_TRUE(feeder_.is_there());
}

class BusyFeederTest : public OrderedFeederTest {
 protected:
  BusyFeederTest() : OrderedFeederTest(Before::kOrders) {}
};

TEST_F(BusyFeederTest, AnEndThatFindsNoRoomIsOrderedWhenThereIsSome) {
  std::string order = played_.hear();
  while (order.starts_with("drain ")) order = played_.hear();
  EXPECT_TRUE(order.starts_with("end ")) << order;
  played_.say("gone the feeder ended");
  arrive();
  played_.number_of("probes");
  played_.number_of("events");
  EXPECT_TRUE(feeder_.is_there());
}

class UnheardReplyTest : public OrderedFeederTest {
 protected:
  UnheardReplyTest() : OrderedFeederTest(Before::kReply) {}
};

TEST_F(UnheardReplyTest, TheEndOfAFeederBeforeThatOneIsNotItsEnd) {
  EXPECT_TRUE(played_.hear().starts_with("end"));
  is_whole_ = false;
  arrive();
  EXPECT_TRUE(played_.hear().starts_with("end")) << "it may have told the server before";
}

TEST_F(OrderedFeederTest, OrdersGivenBeforeTheFeederIsThereWaitForIt) {
  auto waiting = want(true);
  EXPECT_EQ(played_.hear(50), "");
  arrive();
  played_.say("done " + played_.number_of("want"));
  EXPECT_TRUE(waiting.get());
}

TEST_F(OrderedFeederTest, WithoutAFeederAnOrderFailsAndSaysWhy) {
  played_.say("gone cannot start it");
  const auto start = Clock::now();
  const auto done = want(true).get();
  EXPECT_EQ(done.error().code, ErrorCode::kNoDevice);
  EXPECT_NE(done.error().reason.find("cannot start it"), std::string::npos);
  EXPECT_LT(since(start), 5s);
}

TEST_F(OrderedFeederTest, ASilentFeederIsWaitedForOnceAndForNoLongerThanASecond) {
  arrive();
  const auto start = Clock::now();
  (void)fall_silent();
  EXPECT_GE(since(start), 900ms);
  EXPECT_LT(since(start), OrderedFeeder::kWantMax) << "not as long as one that is at work";
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(want(false).get().error().code, ErrorCode::kTimedOut);
    feeder_.drain({});
  }
  EXPECT_EQ(cuts_, 10) << "drains that were none";
  EXPECT_EQ(played_.hear(0), "") << "no orders meanwhile";
}

TEST_F(OrderedFeederTest, AFeederThatIsAtWorkIsWaitedForLonger) {
  arrive();
  for (const bool is_runnable : {true, false}) {
    state_ = is_runnable ? FeederActivity::State::kAtWork : FeederActivity::State::kAsleep;
    is_computing_ = !is_runnable;
    auto waiting = want(true);
    const std::string number = played_.number_of("want");
    EXPECT_TRUE(is_waiting(waiting, FeederDialogue::kSilenceMax + 500ms));
    played_.say("done " + number);
    EXPECT_TRUE(waiting.get());
  }
}

TEST_F(OrderedFeederTest, OneThatIsAlwaysAtWorkIsWaitedForTenSeconds) {
  arrive();
  const auto start = Clock::now();
  EXPECT_EQ(want(true).get().error().code, ErrorCode::kTimedOut);
  EXPECT_GE(since(start), 9'900ms);
  EXPECT_LT(since(start), 15s);
}

TEST_F(OrderedFeederTest, AStoppedOneIsNotWaitedFor) {
  arrive();
  state_ = FeederActivity::State::kStopped;
  is_computing_ = true;  // for which one that is not stopped is waited for ten seconds
  const auto start = Clock::now();
  EXPECT_EQ(want(true).get().error().code, ErrorCode::kTimedOut);
  EXPECT_EQ(want(true).get().error().code, ErrorCode::kTimedOut);
  EXPECT_LT(since(start), OrderedFeeder::kWantMax);
  state_ = FeederActivity::State::kAtWork;
  auto waiting = want(false);
  // Both are heard first: a late response makes the daemon send the current demand, too.
  const std::string late = played_.number_of("want"), number = played_.number_of("want");
  played_.say("done " + late);
  played_.say("done " + number);
  EXPECT_TRUE(waiting.get()) << "as it goes on";
}

TEST_F(OrderedFeederTest, TheEndOfAFeederEndsAllWaits) {
  arrive();
  std::vector<std::future<Result<void>>> all;
  for (int i = 0; i < 3; ++i) all.push_back(want(true));
  for (int i = 0; i < 3; ++i) (void)played_.number_of("want");
  played_.say("gone it was killed");
  for (auto& each : all) EXPECT_EQ(each.get().error().code, ErrorCode::kNoDevice);
}

TEST_F(OrderedFeederTest, TheDaemonsEndInterruptsAllWaits) {
  arrive();
  auto waiting = want(true);
  (void)played_.number_of("want");
  feeder_.end_waits();
  EXPECT_EQ(waiting.get().error().code, ErrorCode::kInterrupted);
  EXPECT_EQ(want(true).get().error().code, ErrorCode::kInterrupted);
}

TEST_F(OrderedFeederTest, ACallWaitsForItsOwnOrderOnly) {
  arrive();
  auto first = want({{.source_id = 7, .demand = {.on = true}}});
  const std::string number = played_.number_of("events");
  auto second = want(true);
  const std::string other = played_.number_of("want");
  played_.say("done " + number);
  EXPECT_TRUE(first.get());
  played_.say("done " + other);
  EXPECT_TRUE(second.get());
}

TEST_F(OrderedFeederTest, AnEventThatAnotherCallHasOrderedIsWaitedFor) {
  arrive();
  const std::vector<tracing::WantedEvent> seven = {{.source_id = 7, .demand = {.on = true}}};
  auto first = want(seven);
  const std::string number = played_.number_of("events");
  auto second = want(seven);
  EXPECT_TRUE(is_waiting(second, 50ms));
  played_.say("done " + number);
  EXPECT_TRUE(first.get());
  EXPECT_TRUE(second.get());
}

TEST_F(OrderedFeederTest, AnOpenWaitsATenthOfASecondWhateverOthersWaitFor) {
  arrive();
  auto writing = want(true);
  const std::string number = played_.number_of("want");
  const auto start = Clock::now();
  for (int i = 0; i < 5; ++i) feeder_.drain({});
  EXPECT_EQ(cuts_, 5);
  EXPECT_LT(since(start), OrderedFeeder::kWantMax) << "none waits as long as the write";
  played_.number_of("drain");
  EXPECT_EQ(played_.hear(0), "") << "the feeder has one drain to do, not five";
  played_.say("done " + number);
  EXPECT_TRUE(writing.get());
}

TEST(FeederActivityTest, IsInTheTextOfStat) {
  using State = FeederActivity::State;
  const auto of = [](const std::string& state) {
    return parse_activity("7 (a) b (c) " + state + " 1 7 7 0 -1 4194560 1 0 0 0 25 17 0 0 20 0 1");
  };
  EXPECT_EQ(of("R"), (FeederActivity{State::kAtWork, 42}));
  EXPECT_EQ(of("D").state, State::kAtWork);
  EXPECT_EQ(of("S").state, State::kAsleep);
  EXPECT_EQ(of("T").state, State::kStopped);
  EXPECT_EQ(of("t").state, State::kStopped);
  EXPECT_EQ(of("Z").state, State::kUnknown);
  for (const char* const broken :
       {"", "7 (a", "7 (a)", "7 (a) R 1 2", "7 (a) R 1 2 3 4 5 6 7 8 9 10 x y"}) {
    EXPECT_EQ(parse_activity(broken), FeederActivity()) << broken;
  }
}

TEST_F(OrderedFeederTest, AnInterruptedCallWaitsForNoAnswer) {
  arrive();
  auto first = want(true);
  (void)played_.number_of("want");
  std::atomic<bool> is_interrupted = false;
  const auto start = Clock::now();
  auto second = std::async(std::launch::async, [&] {
    const CancellationToken cancel([&] { return is_interrupted.load(); });
    return feeder_.want([] { return WantedEvents{.wakeups = false}; }, cancel);
  });
  EXPECT_EQ(second.wait_for(50ms), std::future_status::timeout);
  is_interrupted = true;
  EXPECT_EQ(second.get().error().code, ErrorCode::kInterrupted);
  EXPECT_LT(since(start), OrderedFeeder::kWantMax);
  state_ = FeederActivity::State::kAsleep;
  EXPECT_EQ(first.get().error().code, ErrorCode::kTimedOut) << "and waits on";
}

TEST_F(OrderedFeederTest, WhatAnInterruptedOneHasOrderedIsOrderedAnewOrTakenBack) {
  arrive();
  ready_.get_future().wait();  // orders are taken from here on
  const auto want_interrupted = [this](std::vector<tracing::WantedEvent> events) {
    const CancellationToken cancelled([] { return true; });
    return feeder_.want(tracing::EventSource::Wanted([events] { return events; }), cancelled);
  };
  EXPECT_EQ(want_interrupted({{.source_id = 5, .demand = {.on = true}}}).error().code,
            ErrorCode::kInterrupted);
  EXPECT_EQ(want_interrupted({}).error().code, ErrorCode::kInterrupted);
  const std::string first = played_.hear(), second = played_.hear();
  EXPECT_TRUE(first.starts_with("events ")) << first;
  EXPECT_TRUE(second.starts_with("events ")) << second;
}

TEST_F(OrderedFeederTest, OneThatAnswersAfterAllIsToldAnewWhatIsWanted) {
  arrive();
  const std::string number = fall_silent();
  wanted_ = false;
  played_.say("done " + number);
  const std::string anew = played_.hear();
  EXPECT_NE(anew.find("wakeups=0"), std::string::npos) << anew;
  auto waiting = want(true);
  played_.say("done " + played_.number_of("want"));
  EXPECT_TRUE(waiting.get()) << "and is there again";
}

TEST_F(OrderedFeederTest, ANewFeederEndsTheSilence) {
  arrive();
  (void)fall_silent();
  played_.say("gone it was killed");
  wanted_ = true;
  arrive();
  EXPECT_NE(played_.hear().find("wakeups=1"), std::string::npos) << "it is told what is wanted";
  played_.number_of("probes");
  const std::string all = played_.hear();
  EXPECT_TRUE(all.starts_with("events ")) << all;
  EXPECT_EQ(all.find("on="), std::string::npos) << "and that this is all: " << all;
  EXPECT_EQ(changes_, 2) << "there was none, and it is another one";
  auto waiting = want(true);
  played_.say("done " + played_.number_of("want"));
  EXPECT_TRUE(waiting.get());
}

TEST_F(OrderedFeederTest, WhatANewFeederRefusesIsTold) {
  wanted_ = true;
  arrive();
  played_.say("failed " + played_.number_of("want") + " ENODEV no tracefs");
  const auto refused = refused_.get_future().get();
  EXPECT_EQ(refused.first, OrderedFeeder::Asked::kForLatencyHist);
  EXPECT_EQ(refused.second, "no tracefs");
}

TEST_F(OrderedFeederTest, ADrainThatTheFeederGivesUpIsCounted) {
  arrive();
  auto draining = std::async(std::launch::async, [this] { feeder_.drain({}); });
  played_.say("failed " + played_.number_of("drain") + " EBUSY too many");
  draining.get();
  EXPECT_EQ(cuts_, 1);
}

TEST_F(OrderedFeederTest, OnlyWhatChangesIsOrdered) {
  arrive();
  const tracing::WantedEvent seven{.source_id = 7, .demand = {.on = true, .filter = "pid==1"}};
  const tracing::WantedEvent eight{.source_id = 8, .demand = {.on = true, .stack = true}};
  auto first = want({seven});
  std::string order = played_.hear();
  EXPECT_NE(order.find("\n7 on=1 stack=0 comm=0 pid==1"), std::string::npos) << order;
  played_.say("done 1");
  EXPECT_TRUE(first.get());
  EXPECT_TRUE(want({seven}).get()) << "which is nothing to order";
  auto second = want({eight});
  order = played_.hear();
  EXPECT_NE(order.find("\n7 on=0"), std::string::npos) << order;
  EXPECT_NE(order.find("\n8 on=1 stack=1"), std::string::npos) << order;
  played_.say("done 2");
  EXPECT_TRUE(second.get());
}

TEST_F(OrderedFeederTest, EventsThatWereGivenUpAreSwitchedOffOnceTheFeederAnswers) {
  arrive();
  state_ = FeederActivity::State::kAsleep;
  const tracing::EventSource::Wanted nothing = [] { return std::vector<tracing::WantedEvent>(); };
  auto waiting = want({{.source_id = 7, .demand = {.on = true}}});
  const std::string number = played_.number_of("events");
  EXPECT_EQ(waiting.get().error().code, ErrorCode::kTimedOut);
  EXPECT_FALSE(feeder_.want(nothing, {})) << "as a refused caller takes it back";
  played_.say("done " + number);
  EXPECT_TRUE(played_.hear().starts_with("want "));
  const std::string order = played_.hear();
  EXPECT_NE(order.find("\n7 on=0"), std::string::npos) << order;
}

TEST_F(OrderedFeederTest, WhatFindsNoRoomIsToldOnceTheFeederHasReadSome) {
  constexpr int kMoreThanFit = 2'000;
  const tracing::EventSource::Wanted wanted = [] {
    return std::vector<tracing::WantedEvent>{{.source_id = 7, .demand = {.on = true}}};
  };
  on_arrival_ = [&] { EXPECT_TRUE(feeder_.want(wanted, {})); };
  for (int i = 0; i < kMoreThanFit; ++i) played_.say("hello 4711");
  for (int seen = arrivals_; seen < kMoreThanFit; seen = arrivals_) arrivals_.wait(seen);
  while (!feeder_.is_there()) std::this_thread::yield();
  int heard = 0;
  std::string order, last;
  while (!(order = played_.hear(0)).empty()) {
    last = order;
    heard += 1;
  }
  ASSERT_LT(heard, kMoreThanFit) << "all found room";
  const auto begin = last.find(' ') + 1;
  played_.say("done " + last.substr(begin, last.find_first_of(" \n", begin) - begin));
  EXPECT_TRUE(played_.hear().starts_with("want "));
  order = played_.hear();
  EXPECT_NE(order.find("\n7 on=1"), std::string::npos) << order;
}

TEST_F(OrderedFeederTest, ANameThatDoesNotComeInTimeIsNoneUntilItComes) {
  arrive();
  const auto all = feeder_.symbols({});
  const Symbols& symbols = *all;
  auto asking = std::async(std::launch::async, [&] { return symbols.place(0x1010).name; });
  const std::string number = played_.number_of("place");
  EXPECT_EQ(asking.get(), "");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(symbols.place(0x1010).name, "");
  EXPECT_EQ(played_.hear(0), "") << "it is asked once";
  played_.say("placed " + number + " 16 32 - copy_process");
  const auto until = Clock::now() + 10s;
  while (symbols.place(0x1010).name.empty() && Clock::now() < until) std::this_thread::yield();
  EXPECT_EQ(symbols.place(0x1010).name, "copy_process");
}

TEST_F(OrderedFeederTest, TextsOfTheKernelAreRequestedOnceInACallThatMissesOne) {
  arrive();
  const auto first = feeder_.symbols({});
  auto asking = std::async(std::launch::async, [&] {
    return first->text(0x10).value_or("none") + first->text(0x20).value_or("none") +
           first->text(0x30).value_or("none");
  });
  played_.say("texts " + played_.number_of("texts") + "\n0x10 : \"ten\"\n0x20 : \"twenty\"\n");
  EXPECT_EQ(asking.get(), "tentwentynone");
  EXPECT_EQ(feeder_.symbols({})->text(0x20), "twenty");
  EXPECT_EQ(played_.hear(0), "") << "they are remembered";
  auto reading = std::async(std::launch::async, [&] { return feeder_.printk_formats({}); });
  played_.say("texts " + played_.number_of("texts") + "\n0x30 : \"thirty\"\n");
  EXPECT_EQ(reading.get(), "0x30 : \"thirty\"\n");
}

// A text may have hundreds of addresses, and the feeder half a second for each.
TEST_F(OrderedFeederTest, ACallRequestsNoNameAfterOneThatDoesNotCome) {
  arrive();
  const auto first = feeder_.symbols({});
  auto asking = std::async(std::launch::async, [&] {
    return first->place(0x1010).name + first->place(0x2020).name + first->place(0x3030).name;
  });
  (void)played_.number_of("place");
  EXPECT_EQ(asking.get(), "");
  EXPECT_EQ(played_.hear(0), "");
  const auto second = feeder_.symbols({});
  asking = std::async(std::launch::async, [&] { return second->place(0x2020).name; });
  played_.say("placed " + played_.number_of("place") + " 16 32 - copy_process");
  EXPECT_EQ(asking.get(), "copy_process");
}

}  // namespace
}  // namespace tallyfs
