#include "feeders/client/publisher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "core/model/switch.h"
#include "fake_daemon.h"
#include "switch_page.h"

namespace tallyfs {
namespace {

using namespace std::chrono_literals;
using Holder = Publisher::Holder;

class PublisherTest : public testing::Test {
 protected:
  PublisherTest() {
    EXPECT_TRUE(link_.connect());
    conversation_.begin();
    run_until_idle();
  }

  // What was asked until there was nothing more to ask.
  Log run_until_idle() {
    Log all;
    for (int i = 0; i < 1000; ++i) {
      conversation_.request(now_);
      const Log log = daemon_.serve();
      all.insert(all.end(), log.begin(), log.end());
      conversation_.take_responses(now_);
      if (log.empty() && conversation_.is_idle()) break;
    }
    return all;
  }
  FedObject& object(std::string_view subsystem, std::string_view name,
                    Holder holder = Holder::kProgram, unsigned flags = 0) {
    return *publisher_.create(subsystem, name, flags, holder).value();
  }
  int publish(FedObject& object) { return publisher_.publish(object, "bytes"); }

  TemporaryDirectory directory_;
  const std::string path_ = directory_ / "socket";
  FakeDaemon daemon_{path_};
  Link link_{path_};
  Switches switches_;
  Log reports_;
  Conversation conversation_{
      link_,
      {.other_epoch = [](std::uint64_t) {},
       .confirmed = [](std::uint64_t, Conversation::Taken) {},
       .report = [this](std::string text) { reports_.push_back(std::move(text)); }}};
  Publisher publisher_{conversation_, switches_};
  std::chrono::nanoseconds now_ = 100s;
};

TEST_F(PublisherTest, AsksForTheSubsystemThenTheObjectThenSendsTheLastBlob) {
  FedObject& total = object("web", "total");
  EXPECT_EQ(publish(total), 0);
  EXPECT_EQ(run_until_idle(), (Log{"subsystem web ", "object web/total", "blob web/total"}));
  EXPECT_EQ(publish(total), 0);
  EXPECT_EQ(daemon_.serve(), (Log{"blob web/total"}));
}

TEST_F(PublisherTest, WhatIsKeptWithoutDemandIsSentOnceWhenItIsFlushed) {
  FedObject& total = object("web", "total");
  publish(total);
  run_until_idle();
  EXPECT_TRUE(publisher_.send_kept());
  EXPECT_EQ(daemon_.serve(), Log{}) << "nothing is kept";
  publisher_.keep(total, "older");
  publisher_.keep(total, "bytes");
  EXPECT_EQ(run_until_idle(), Log{});
  EXPECT_TRUE(publisher_.send_kept());
  EXPECT_TRUE(publisher_.send_kept());
  EXPECT_EQ(daemon_.serve(), (Log{"blob web/total"}));
  publisher_.keep(total, "bytes");
  publish(total);
  EXPECT_TRUE(publisher_.send_kept());
  EXPECT_EQ(daemon_.serve(), (Log{"blob web/total"})) << "a later one was sent";
  publisher_.keep(total, "bytes");
  publisher_.inherit();
  EXPECT_TRUE(publisher_.send_kept());
  EXPECT_EQ(daemon_.serve(), Log{}) << "the parent sends it";
}

TEST_F(PublisherTest, RatesThatACallbackRefusesAreToldOf) {
  object("web", "total");
  run_until_idle();
  publisher_.refuse_rates("web", EINVAL);
  EXPECT_EQ(run_until_idle(), (Log{"refused web 22"}));
  EXPECT_EQ(run_until_idle(), Log{});
}

TEST_F(PublisherTest, AnObjectThatGoesWithItsFeederIsMadeSo) {
  object("tcp", "a", Holder::kProgram, STATS_LIFETIME_FEEDER);
  EXPECT_EQ(run_until_idle(), (Log{"subsystem tcp ", "object tcp/a lifetime=feeder"}));
}

TEST_F(PublisherTest, EveryObjectOfManyThatAreRemovedAtOnceIsWithdrawn) {
  std::vector<FedObject*> made;
  for (int i = 0; i < 3'000; ++i) made.push_back(&object("web", "object" + std::to_string(i)));
  run_until_idle();
  for (FedObject* const each : made) publisher_.remove(*each);
  const Log log = run_until_idle();
  EXPECT_EQ(std::ranges::count_if(
                log, [](const std::string& each) { return each.starts_with("withdraw web/"); }),
            3'000);
}

TEST_F(PublisherTest, AnObjectWhoseAnswerWasLostIsWithdrawnToo) {
  daemon_.ignores.insert("object web/a");
  FedObject& a = object("web", "a");
  run_until_idle();
  now_ += 2s;
  run_until_idle();
  publisher_.remove(a);
  now_ += 2s;
  const Log log = run_until_idle();
  EXPECT_EQ(std::ranges::count(log, "withdraw web/a"), 1);
}

TEST_F(PublisherTest, ASubsystemThatIsWithdrawnLeavesHandlesToTheProgram) {
  FedObject& held = object("web", "held");
  object("web", "named", Holder::kNames);
  run_until_idle();
  EXPECT_TRUE(publisher_.remove_subsystem("web"));
  EXPECT_EQ(publish(held), -ENOENT);
  EXPECT_EQ(run_until_idle(), (Log{"withdraw web"}));
  FedObject& again = object("web", "held");
  EXPECT_NE(&again, &held);
  publisher_.look(now_);
  EXPECT_EQ(publish(held), -ENOENT);
  publisher_.remove(held);
  EXPECT_EQ(run_until_idle(), (Log{"subsystem web ", "object web/held"}))
      << "nothing is withdrawn twice";
}

// The page says so when a server was killed before it had saved the object.
TEST_F(PublisherTest, AnObjectThatIsLostIsRequestedAgainAndOneThatIsRemovedIsNot) {
  FedObject& total = object("web", "total");
  FedObject& other = object("web", "other");
  run_until_idle();
  SwitchPage page(1 << 16);
  const auto set = [&](std::uint64_t number, std::uint32_t generation) {
    page.set(static_cast<std::uint32_t>(number), generation, 1);
  };
  set(total.subsystem->number, static_cast<std::uint32_t>(total.subsystem->number >> 32));
  set(total.number, kLostGeneration);
  set(other.number, static_cast<std::uint32_t>(other.number >> 32) + 1);
  ASSERT_TRUE(switches_.map(page.fd(), page.bytes()));
  EXPECT_EQ(publish(other), -ENOENT);
  EXPECT_EQ(publish(total), 0);
  EXPECT_EQ(run_until_idle(), (Log{"object web/total", "blob web/total"}));
}

TEST_F(PublisherTest, ThatAnotherProcessPublishesAnObjectIsSaidOnce) {
  daemon_.refuses["web/a"] = EEXIST;
  FedObject& a = object("web", "a");
  run_until_idle();
  EXPECT_EQ(reports_, (Log{"the daemon refused stats/web/a: File exists"}));
  EXPECT_EQ(publish(a), -EEXIST);
  EXPECT_EQ(publisher_.refusal(), 0);
  now_ += 11s;
  EXPECT_EQ(run_until_idle(), (Log{"object web/a"}));
  EXPECT_EQ(reports_.size(), 1u);
  daemon_.refuses.clear();
  now_ += 11s;
  EXPECT_EQ(run_until_idle(), (Log{"object web/a"}));
  EXPECT_EQ(publish(a), 0);
  publisher_.remove(a);
}

TEST_F(PublisherTest, WhatIsAnothersIsNotWithdrawn) {
  daemon_.refuses["web/a"] = EEXIST;
  FedObject& a = object("web", "a");
  run_until_idle();
  publisher_.remove(a);
  EXPECT_EQ(run_until_idle(), Log{});
}

TEST_F(PublisherTest, AChildAsksForItsParentsObjectsWhenItPublishesThem) {
  FedObject& a = object("web", "a");
  run_until_idle();
  publisher_.inherit();
  conversation_.begin();
  EXPECT_EQ(run_until_idle(), (Log{"subsystem web "}));
  EXPECT_EQ(publish(a), 0);
  EXPECT_EQ(run_until_idle(), (Log{"object web/a", "blob web/a"}));
}

TEST_F(PublisherTest, RefusesNamesAndMoreThingsThanThereMayBe) {
  const auto refusal = [this](std::string_view subsystem, std::string_view name,
                              unsigned flags = 0) {
    const auto made = publisher_.create(subsystem, name, flags, Holder::kProgram);
    return made ? ErrorCode::kStale : made.error().code;
  };
  EXPECT_EQ(refusal("we b", "a"), ErrorCode::kInvalid);
  EXPECT_EQ(refusal("web", "a.json"), ErrorCode::kInvalid);
  EXPECT_EQ(refusal("web", "sample_rates"), ErrorCode::kInvalid);
  EXPECT_EQ(refusal("templates", "a"), ErrorCode::kInvalid);
  EXPECT_EQ(refusal("web", "a", 4), ErrorCode::kInvalid);
  for (std::size_t i = 1; i < Publisher::kThingsMax; ++i) object("web", std::to_string(i));
  EXPECT_EQ(refusal("web", "a"), ErrorCode::kNoSpace);
  EXPECT_EQ(refusal("web", "1"), ErrorCode::kExists);
}

// It goes on with what the last one had.
TEST_F(PublisherTest, WithdrawalsThatWaitWhenAnotherDaemonTakesOverAreSentToIt) {
  object("web", "total", Holder::kNames);
  run_until_idle();
  EXPECT_TRUE(publisher_.remove_subsystem("web"));
  conversation_.ping(now_, 0);
  daemon_.epoch = 2;
  daemon_.serve();
  conversation_.take_responses(now_);
  EXPECT_EQ(run_until_idle(), Log{"withdraw web"});
}

}  // namespace
}  // namespace tallyfs
