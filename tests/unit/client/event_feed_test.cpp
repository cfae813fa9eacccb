// An EventFeed with a daemon that the test plays.
#include "feeders/client/event_feed.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "fake_daemon.h"

namespace tallyfs {
namespace {

using namespace std::chrono_literals;

class EventFeedTest : public testing::Test {
 protected:
  FedEvent& added(const char* name, const char* fields = "u8 a; u16 b") {
    return *feed_.add("web", name, fields).value();
  }
  // A daemon with a page, and a feed that has heard of it.
  void meet(std::uint64_t epoch = FakeDaemon::kEpoch) {
    daemon_.reset();
    daemon_ = std::make_unique<FakeDaemon>(directory_ / "socket", epoch);
    daemon_->page = std::make_unique<SwitchPage>(4096);
    EXPECT_TRUE(link_.connect());
    EXPECT_TRUE(switches_.map(daemon_->page->fd(), 4096));
    conversation_.begin();
  }
  void exchange() {
    conversation_.request(now_);
    log_ = daemon_->serve();
    conversation_.take_responses(now_);
  }
  int write(FedEvent& event, std::uint8_t a, std::uint16_t b) {
    struct {
      std::uint8_t a;
      std::uint16_t b;
    } fields{a, b};
    return feed_.write(event, &fields, sizeof fields,
                       {.now = now_, .cpu = 1, .pid = 7, .comm = comm_});
  }
  std::vector<std::string> sent() {
    feed_.send();
    return daemon_->serve();
  }

  TemporaryDirectory directory_;
  EventFeed::Time now_{1'000};
  std::string comm_;
  Link link_{directory_ / "socket"};
  Switches switches_;
  std::vector<std::string> reports_;
  Conversation conversation_{link_,
                             {.other_epoch = [](std::uint64_t) {},
                              .confirmed = [](std::uint64_t, Conversation::Taken) {},
                              .report = [this](std::string text) { reports_.push_back(text); }}};
  RecordCounts counts_;
  EventFeed feed_{conversation_, switches_, counts_};
  std::unique_ptr<FakeDaemon> daemon_;
  std::vector<std::string> log_;
};

TEST_F(EventFeedTest, TellsTheDaemonOfItsEventsAndFollowsTheirSwitches) {
  FedEvent& done = added("done");
  EXPECT_FALSE(event_enabled(&done));
  meet();
  exchange();
  EXPECT_EQ(log_, std::vector<std::string>{"event define web/done lifetime=feeder u8 a; u16 b"});
  EXPECT_TRUE(feed_.is_idle());
  EXPECT_FALSE(event_enabled(&done));
  daemon_->switch_on("web/done");
  EXPECT_TRUE(event_enabled(&done));
  daemon_->switch_off("web/done");
  EXPECT_FALSE(event_enabled(&done));
}

TEST_F(EventFeedTest, RecordsOfSeveralEventsLeaveInTheirOrder) {
  FedEvent& begin = added("begin");
  FedEvent& end = added("end");
  meet();
  exchange();
  EXPECT_EQ(write(begin, 1, 2), 0);
  EXPECT_EQ(write(begin, 3, 4), 0);
  EXPECT_EQ(write(end, 5, 6), 0);
  comm_ = "cat";
  EXPECT_EQ(write(begin, 7, 8), 0);
  EXPECT_EQ(sent(), (std::vector<std::string>{"web/begin '' 1.0.0.0.0.0.0.0.2.0.0.0.0.0.0.0.",
                                              "web/begin '' 3.0.0.0.0.0.0.0.4.0.0.0.0.0.0.0.",
                                              "web/end '' 5.0.0.0.0.0.0.0.6.0.0.0.0.0.0.0.",
                                              "web/begin 'cat' 7.0.0.0.0.0.0.0.8.0.0.0.0.0.0.0."}));
  EXPECT_EQ(daemon_->records.back(), 1'000u) << "with their times";
  EXPECT_EQ(counts_.added, 4u);
  EXPECT_EQ(counts_.held, 0u);
}

TEST_F(EventFeedTest, AnotherDaemonHearsOfThemAgain) {
  FedEvent& done = added("done");
  meet();
  exchange();
  write(done, 1, 2);
  meet(FakeDaemon::kEpoch + 1);
  EXPECT_FALSE(event_enabled(&done)) << "it is not wanted there";
  EXPECT_EQ(counts_.dropped, 1u) << "the record was for the other";
  exchange();
  EXPECT_EQ(log_.size(), 1u);
  write(done, 3, 4);
  EXPECT_EQ(sent(), std::vector<std::string>{"web/done '' 3.0.0.0.0.0.0.0.4.0.0.0.0.0.0.0."});
}

TEST_F(EventFeedTest, OneThatAUserHasRemovedComesBack) {
  FedEvent& done = added("done");
  meet();
  exchange();
  daemon_->remove("web/done");
  now_ += 2s;
  feed_.look(now_);
  EXPECT_FALSE(event_enabled(&done));
  exchange();
  EXPECT_EQ(log_.size(), 1u);
}

TEST_F(EventFeedTest, WhatIsRefusedIsToldAndAskedForAgainLater) {
  FedEvent& done = added("done");
  meet();
  daemon_->refuses["event"] = EPERM;
  exchange();
  EXPECT_EQ(feed_.refusal(), EPERM);
  EXPECT_EQ(reports_.size(), 1u);
  EXPECT_EQ(write(done, 1, 2), 0);
  EXPECT_FALSE(feed_.has_records());
  exchange();
  EXPECT_TRUE(log_.empty());
  daemon_->refuses.clear();
  now_ += Conversation::kRefusedBackOff;
  exchange();
  EXPECT_EQ(log_.size(), 1u);
}

TEST_F(EventFeedTest, AnAnswerThatDoesNotComeIsAskedForAgain) {
  added("done");
  meet();
  conversation_.request(now_);
  while (daemon_->take()) {
  }
  exchange();
  EXPECT_TRUE(log_.empty());
  now_ += Conversation::kResponseTimeout;
  exchange();
  EXPECT_EQ(log_.size(), 1u);
}

TEST_F(EventFeedTest, WhatFindsNoRoomIsDroppedAndCounted) {
  FedEvent& done = added("done");
  meet();
  exchange();
  int error = 0;
  std::uint64_t written = 0;
  for (; error == 0 && written < 100'000; ++written) error = write(done, 1, 2);
  EXPECT_EQ(error, -EAGAIN);
  EXPECT_EQ(counts_.dropped, 1u);
  EXPECT_EQ(counts_.added, counts_.held + 1);
}

TEST_F(EventFeedTest, OfAnotherSizeARecordIsNone) {
  FedEvent& done = added("done");
  meet();
  exchange();
  const std::uint64_t fields = 0;
  EXPECT_EQ(feed_.write(done, &fields, sizeof fields, {}), -EINVAL);
}

TEST_F(EventFeedTest, NamesAndFieldsThatAreNoneAreRefused) {
  EXPECT_FALSE(feed_.add("", "a", "u8 a"));
  EXPECT_FALSE(feed_.add("a/b", "a", "u8 a"));
  EXPECT_FALSE(feed_.add("a", "a b", "u8 a"));
  EXPECT_FALSE(feed_.add("a", "b", "u8"));
  EXPECT_FALSE(feed_.add("a", "b", "u8 a;\nu8 b"));
  EXPECT_TRUE(feed_.add("a", "b", "u8 a"));
  EXPECT_FALSE(feed_.add("a", "b", "u8 a"));
}

TEST_F(EventFeedTest, OneThatIsRemovedLeavesTheOthersRecords) {
  FedEvent& begin = added("begin");
  FedEvent& end = added("end");
  meet();
  exchange();
  write(begin, 1, 2);
  feed_.remove(begin);
  write(end, 3, 4);
  EXPECT_EQ(sent().size(), 2u);
}

}  // namespace
}  // namespace tallyfs
