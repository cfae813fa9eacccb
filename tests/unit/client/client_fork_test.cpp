// Children that go on with the Client of their parent.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "client_fixture.h"

namespace tallyfs {
namespace {

class ForkTest : public ClientTest {
 protected:
  // What the child returns is its status; with failed expectations it is 99.
  template <typename Do>
  int in_child(Feeder& feeder, Do&& what) {
    feeder.client.forking().before();
    const pid_t child = ::fork();
    if (child == 0) {
      feeder.client.forking().after_in_child(feeder.buffer);
      what();
      ::_exit(HasFailure() ? 99 : 0);
    }
    feeder.client.forking().after_in_parent();
    EXPECT_GT(child, 0);
    // The daemon is the parent's; it goes on while the child is there.
    int status = -1;
    while (::waitpid(child, &status, WNOHANG) == 0) {
      daemon_->wait(1ms);
      const Log log = daemon_->serve();
      served_.insert(served_.end(), log.begin(), log.end());
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  Log served_;  // of children
};

TEST_F(ForkTest, AChildSendsNoneOfTheParentsSamplesAndEachCountsItsOwn) {
  start_daemon();
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  exchange(feeder);
  feeder.add(hits, 1);
  feeder.add(hits, 2);
  EXPECT_EQ(in_child(feeder,
                     [&] {
                       EXPECT_EQ(feeder.counts().added, 0u);
                       feeder.add(hits, 10);
                       EXPECT_EQ(feeder.client.sync(60s), 0);
                       const auto counts = feeder.counts();
                       EXPECT_EQ(counts.added, 1u);
                       EXPECT_EQ(counts.confirmed, 1u);
                     }),
            0);
  EXPECT_EQ(daemon_->xs("web/hits"), Xs{10});
  EXPECT_EQ(feeder.counts().held, 2u);
  exchange(feeder);
  EXPECT_EQ(daemon_->xs("web/hits"), (Xs{10, 1, 2}));
  EXPECT_EQ(feeder.counts().confirmed, 2u);
}

// Until it has heard of the daemon itself, its parent's switches count.
TEST_F(ForkTest, AChildsFirstSamplesCountWhereTheParentsDid) {
  start_daemon();
  daemon_->page = std::make_unique<SwitchPage>(4096);
  Feeder feeder(settings());
  FedInterface& web = feeder.interface("web");
  FedStatistic& off = feeder.statistic(web, "off");
  FedStatistic& on = feeder.started(web, "on");
  exchange(feeder);
  EXPECT_EQ(in_child(feeder,
                     [&] {
                       for (std::int64_t x = 0; x < 3; ++x) feeder.add(off, x);
                       for (std::int64_t x = 0; x < 3; ++x) feeder.add(on, x);
                       feeder.client.samples().drop(off);
                       EXPECT_EQ(feeder.counts().added, 3u);
                       EXPECT_EQ(feeder.client.sync(60s), 0);
                       for (std::int64_t x = 3; x < 6; ++x) feeder.add(off, x);
                       EXPECT_FALSE(off.is_on());
                       EXPECT_EQ(feeder.counts().added, 3u);
                     }),
            0);
  EXPECT_EQ(daemon_->xs("web/on"), (Xs{0, 1, 2}));
  EXPECT_EQ(daemon_->xs("web/off"), Xs{});
}

TEST_F(ForkTest, AChildOfAChildThatDidNothingHasTheSwitchesToo) {
  start_daemon();
  daemon_->page = std::make_unique<SwitchPage>(4096);
  Feeder feeder(settings());
  FedStatistic& off = feeder.statistic(feeder.interface("web"), "off");
  exchange(feeder);
  EXPECT_EQ(in_child(feeder,
                     [&] {
                       EXPECT_EQ(in_child(feeder, [&] { feeder.add(off, 1); }), 0);
                       feeder.add(off, 1);
                       EXPECT_EQ(feeder.counts().added, 0u);
                     }),
            0);
}

TEST_F(ForkTest, WhatAParentHadDroppedIsNothingToItsChild) {
  start_daemon();
  Feeder feeder(settings());
  FedInterface& web = feeder.interface("web");
  FedStatistic& hits = feeder.started(web, "hits");
  feeder.add(hits, 1);
  feeder.client.statistics().drop(hits, ServerSide::kKeep);
  EXPECT_EQ(in_child(feeder,
                     [&] {
                       feeder.add(feeder.started(web, "hits"), 2);
                       EXPECT_EQ(feeder.client.sync(60s), 0);
                     }),
            0);
  exchange(feeder);
  EXPECT_EQ(daemon_->xs("web/hits"), (Xs{2, 1}));
}

// A reset that a child sent too would discard what the parent has counted since.
TEST_F(ForkTest, AChildSendsNoneOfTheParentsChangesThatWait) {
  Feeder feeder(settings());
  FedInterface& web = feeder.interface("web");
  FedStatistic& hits = feeder.started(web, "hits");
  FedStatistic& stopped = feeder.started(web, "stopped");
  feeder.client.statistics().reset(hits);
  feeder.client.statistics().switch_off(stopped);
  feeder.client.statistics().drop(feeder.statistic(web, "gone"), ServerSide::kDelete);
  start_daemon();
  daemon_->there = {"web/hits", "web/stopped"};
  EXPECT_EQ(in_child(feeder, [&] { EXPECT_EQ(feeder.client.sync(60s), 0); }), 0);
  Log childs = served_;
  std::erase(childs, "(ping)");
  EXPECT_EQ(childs, (Log{"switches", "create web", "create web/hits on=1", "create web/stopped"}));
  const Log parents = exchange(feeder);
  for (const char* line :
       {"remove web/gone", "define web name=hits data=reset", "define web name=stopped on=0"}) {
    EXPECT_TRUE(has(parents, line)) << line;
  }
}

TEST_F(ForkTest, AChildThatAddsNothingSendsNothing) {
  start_daemon();
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  exchange(feeder);
  feeder.add(hits, 1);
  EXPECT_EQ(in_child(feeder, [&] { EXPECT_EQ(feeder.client.sync(60s), 0); }), 0);
  EXPECT_EQ(daemon_->count(), 0u);
}

TEST_F(ForkTest, TheParentsConnectionSurvivesTheChild) {
  start_daemon();
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  exchange(feeder);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(in_child(feeder, [&] { EXPECT_EQ(feeder.client.sync(60s), 0); }), 0);
  }
  feeder.add(hits, 1);
  EXPECT_EQ(feeder.client.flush(), 0);
  EXPECT_EQ(daemon_->take()->log.front(), "web/hits 1");
}

// Without a fork: what the child's side does to what it finds.

TEST_F(ForkTest, AChildCountsItsDropsByStatisticFromTheFork) {
  Feeder feeder(settings(1024));
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  for (std::int64_t x = 0; x < 1030; ++x) feeder.add(hits, x);
  ASSERT_EQ(hits.dropped, 6u);
  feeder.client.forking().before();
  feeder.client.forking().after_in_child(feeder.buffer);
  EXPECT_EQ(feeder.counts().dropped, 0u);
  EXPECT_EQ(hits.dropped, 0u);
}

// The fork did not lock this thread's buffer.
TEST_F(ForkTest, AThreadThatCameDuringTheForkKeepsItsLock) {
  Feeder feeder(settings());
  feeder.client.forking().before();
  ThreadBuffer* const buffer = feeder.own_buffer();
  ASSERT_TRUE(buffer);
  ASSERT_NE(buffer, feeder.buffer);
  buffer->mutex().lock();
  feeder.client.forking().after_in_parent();
  int value = 1;  // under the lock
  std::atomic<bool> wants{false};
  std::thread other([&] {
    wants = true;
    const MutexLock lock(buffer->mutex());
    EXPECT_EQ(value, 2);
  });
  while (!wants) std::this_thread::yield();
  for (int i = 0; i < 1000; ++i) std::this_thread::yield();
  value = 2;
  buffer->mutex().unlock();
  other.join();
  buffer->disown();
}

// The thread that was inside is not in the child, and will never leave.
TEST_F(ForkTest, ABufferWhoseThreadWasInsideAtTheForkServesAThreadOfTheChild) {
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  ThreadBuffer* const of_another_thread = feeder.own_buffer();
  ASSERT_TRUE(of_another_thread);
  of_another_thread->enter();
  feeder.client.forking().before();
  feeder.client.forking().after_in_child(feeder.buffer);
  ThreadBuffer* const buffer = feeder.own_buffer();
  ASSERT_EQ(buffer, of_another_thread);
  for (std::int64_t x = 0; x < 100; ++x) feeder.add_by(*buffer, hits, x);
  EXPECT_EQ(feeder.counts().held, 100u);
  EXPECT_EQ(hits.dropped, 0u);
}

}  // namespace
}  // namespace tallyfs
