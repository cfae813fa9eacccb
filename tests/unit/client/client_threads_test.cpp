// Threads that add to one Client, that come, end and are many.
#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

#include "client_fixture.h"

namespace tallyfs {
namespace {

TEST_F(ClientTest, AThreadThatEndsHasSentWhatItGathered) {
  start_daemon();
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  exchange(feeder);
  std::thread([&] {
    ThreadBuffer* const buffer = feeder.own_buffer();
    ASSERT_TRUE(buffer);
    EXPECT_NE(buffer, feeder.buffer);
    for (std::int64_t x = 0; x < 5; ++x) feeder.add_by(*buffer, hits, x);
    feeder.client.samples().give_back(*buffer);
  }).join();
  EXPECT_EQ(daemon_->serve(), Log{"web/hits 0 1 2 3 4"});
}

TEST_F(ClientTest, WhatAThreadLeftWithoutADaemonIsSentLater) {
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  ThreadBuffer* first = nullptr;
  ThreadBuffer* second = nullptr;
  std::thread([&] {
    first = feeder.own_buffer();
    feeder.add_by(*first, hits, 1);
    feeder.client.samples().give_back(*first);
  }).join();
  std::thread([&] {
    second = feeder.own_buffer();
    feeder.add_by(*second, hits, 2);
    feeder.client.samples().give_back(*second);
  }).join();
  EXPECT_EQ(first, second);
  EXPECT_EQ(feeder.counts().held, 2u);
  start_daemon();
  exchange(feeder);
  EXPECT_EQ(daemon_->xs("web/hits"), (Xs{1, 2}));
}

TEST_F(ClientTest, AThreadThatFoundNoBufferLooksAgainOnlyWhenOneWasGivenBack) {
  Feeder feeder(settings());
  std::vector<ThreadBuffer*> buffers{feeder.buffer};
  while (buffers.size() < ThreadBuffers::kThreadsMax) buffers.push_back(feeder.own_buffer());
  ThreadBuffers::Search search;
  EXPECT_EQ(feeder.client.buffers().own(search), nullptr);
  // Had it looked again, it would have found this one, of which it was not told.
  buffers[7]->disown();
  EXPECT_EQ(feeder.client.buffers().own(search), nullptr);
  ASSERT_TRUE(buffers[7]->try_own());
  feeder.client.samples().give_back(*buffers[8]);
  EXPECT_EQ(feeder.client.buffers().own(search), buffers[8]);
}

TEST_F(ClientTest, TheBufferOfAThreadWhoseEndWasNotToldIsTakenBack) {
  start_daemon();
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  ThreadBuffers::watch(*feeder.buffer);
  ThreadBuffer* gone = nullptr;
  std::thread([&] {
    gone = feeder.own_buffer();
    ThreadBuffers::watch(*gone);
    feeder.add_by(*gone, hits, 1);
    gone->enter();  // wherever it was
  }).join();
  ASSERT_FALSE(gone->try_own());
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  while (!gone->try_own() && std::chrono::steady_clock::now() < deadline) feeder.client.run_round();
  EXPECT_FALSE(gone->is_inside());
  EXPECT_EQ(gone->watched(), 0);
  // That of a thread that is still there is not.
  EXPECT_FALSE(feeder.buffer->try_own());
  exchange(feeder);
  EXPECT_EQ(daemon_->xs("web/hits"), Xs{1});
}

TEST_F(ClientTest, AThreadWithoutABufferDropsAndCounts) {
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  feeder.client.samples().drop(hits);
  const auto counts = feeder.counts();
  EXPECT_EQ(counts.added, 1u);
  EXPECT_EQ(counts.dropped, 1u);
  EXPECT_EQ(hits.dropped, 1u);
}

TEST_F(ClientTest, ThreadsThatAddAtOnceLoseNothing) {
  constexpr int kThreads = 4;
  constexpr std::int64_t kSamples = 20'000;
  start_daemon();
  auto given = settings(1024);
  given.wait_max = 60s;
  Feeder feeder(given);
  FedInterface& web = feeder.interface("web");
  FedStatistic& shared = feeder.started(web, "shared");
  std::vector<FedStatistic*> own;
  for (const char* name : {"a", "b", "c", "d"}) own.push_back(&feeder.started(web, name));
  exchange(feeder);
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (std::size_t n = 0; n < kThreads; ++n) {
    threads.emplace_back([&, n] {
      ThreadBuffer* const buffer = feeder.own_buffer();
      for (std::int64_t x = 0; x < kSamples; ++x) {
        feeder.add_by(*buffer, *own[n], x);
        feeder.add_by(*buffer, shared, x);
      }
      feeder.client.samples().give_back(*buffer);
      --running;
    });
  }
  while (running != 0) {
    feeder.client.run_round();
    daemon_->wait(1ms);
    daemon_->serve();
  }
  for (auto& thread : threads) thread.join();
  exchange(feeder);
  const auto counts = feeder.counts();
  EXPECT_EQ(counts.added, 2u * kThreads * kSamples);
  EXPECT_EQ(counts.confirmed, counts.added);
  EXPECT_EQ(daemon_->xs("web/shared").size(), std::size_t{kThreads} * kSamples);
  Xs expected(kSamples);
  std::iota(expected.begin(), expected.end(), 0);
  for (const char* name : {"web/a", "web/b", "web/c", "web/d"}) {
    EXPECT_EQ(daemon_->xs(name), expected);
  }
}

}  // namespace
}  // namespace tallyfs
