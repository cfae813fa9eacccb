// Signal handlers that add while their thread does.
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include <atomic>
#include <numeric>
#include <thread>

#include "client_fixture.h"

namespace tallyfs {
namespace {

// What the handler adds, and how often it has.
struct Interrupting {
  Feeder* feeder = nullptr;
  FedStatistic* statistic = nullptr;
  std::int64_t added = 0;
  std::int64_t sum = 0;
};
Interrupting* g_interrupting = nullptr;

void add_in_handler(int) {
  Interrupting& now = *g_interrupting;
  now.added += 1;
  now.sum += now.added;
  now.feeder->add(*now.statistic, now.added);
}

class SignalTest : public ClientTest {
 protected:
  void handle(int signal, Feeder& feeder, FedStatistic& statistic) {
    interrupting_ = {.feeder = &feeder, .statistic = &statistic};
    g_interrupting = &interrupting_;
    struct sigaction action {};
    action.sa_handler = &add_in_handler;
    action.sa_flags = SA_RESTART;
    ASSERT_EQ(::sigaction(signal, &action, nullptr), 0);
  }
  // Of X of all that has arrived.
  std::int64_t sum(const std::string& target) {
    const Xs xs = daemon_->xs(target);
    return std::accumulate(xs.begin(), xs.end(), std::int64_t{0});
  }

  Interrupting interrupting_;
};

TEST_F(SignalTest, AHandlerThatInterruptsTheThreadLosesAndDoublesNothing) {
  constexpr std::int64_t kSignals = 100;
  // Room for all: a thread that waits for some has room for 64 of its handler only.
  constexpr std::size_t kRoom = 1 << 20;
  start_daemon();
  Feeder feeder(settings(kRoom));
  FedInterface& web = feeder.interface("web");
  FedStatistic& hits = feeder.started(web, "hits");
  FedStatistic& handled = feeder.started(web, "handled");
  exchange(feeder);
  handle(SIGALRM, feeder, handled);
  const itimerval every{.it_interval = {.tv_sec = 0, .tv_usec = 100},
                        .it_value = {.tv_sec = 0, .tv_usec = 100}};
  std::atomic<bool> done{false};
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  ::pthread_sigmask(SIG_BLOCK, &alarm, nullptr);
  std::thread daemon([&] {
    while (!done) {
      daemon_->wait(1ms);
      daemon_->serve();
    }
  });
  ::pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr);
  ASSERT_EQ(::setitimer(ITIMER_REAL, &every, nullptr), 0);
  std::int64_t added = 0;
  std::int64_t expected = 0;
  while (interrupting_.added < kSignals) {
    if (feeder.buffer->held() < kRoom - 1000) {
      feeder.add(hits, ++added);
      expected += added;
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::signal(SIGALRM, SIG_IGN);
  done = true;
  daemon.join();
  exchange(feeder);
  EXPECT_GE(interrupting_.added, kSignals);
  EXPECT_EQ(sum("web/hits"), expected);
  EXPECT_EQ(sum("web/handled"), interrupting_.sum);
  const auto counts = feeder.counts();
  EXPECT_EQ(counts.added, static_cast<std::uint64_t>(added + interrupting_.added));
  EXPECT_EQ(counts.confirmed, counts.added);
}

// The signal comes while the thread is inside, between two of its own samples.
TEST_F(SignalTest, WhatAHandlerAddsWhileItsThreadIsInsideComesBehindTheThreadsSample) {
  start_daemon();
  Feeder feeder(settings());
  FedInterface& web = feeder.interface("web");
  FedStatistic& hits = feeder.started(web, "hits");
  exchange(feeder);
  handle(SIGUSR1, feeder, hits);
  feeder.client.samples().add_slow_path(*feeder.buffer, hits, 100, 1, [&] {
    ::pthread_kill(::pthread_self(), SIGUSR1);
    ::pthread_kill(::pthread_self(), SIGUSR1);
    return feeder.client.samples().now();
  });
  EXPECT_EQ(interrupting_.added, 2);
  exchange(feeder);
  EXPECT_EQ(daemon_->xs("web/hits"), (Xs{100, 1, 2}));
}

TEST_F(SignalTest, AHandlerHasRoomFor64SamplesWhileItsThreadIsInside) {
  start_daemon();
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  exchange(feeder);
  handle(SIGUSR1, feeder, hits);
  feeder.client.samples().add_slow_path(*feeder.buffer, hits, 0, 1, [&] {
    for (int i = 0; i < 70; ++i) ::pthread_kill(::pthread_self(), SIGUSR1);
    return feeder.client.samples().now();
  });
  exchange(feeder);
  Xs expected(65);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(daemon_->xs("web/hits"), expected);
  EXPECT_EQ(hits.dropped, 6u);
  const auto counts = feeder.counts();
  EXPECT_EQ(counts.added, 71u);
  EXPECT_EQ(counts.dropped, 6u);
  EXPECT_EQ(daemon_->dropped, 6u);
}

TEST_F(SignalTest, WhatAHandlerAddsToAFullBufferIsDroppedAndCountedOnce) {
  Feeder feeder(settings(1024));
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  for (std::int64_t x = 0; x < 1023; ++x) feeder.add(hits, x);
  handle(SIGUSR1, feeder, hits);
  feeder.client.samples().add_slow_path(*feeder.buffer, hits, 0, 1, [&] {
    for (int i = 0; i < 3; ++i) ::pthread_kill(::pthread_self(), SIGUSR1);
    return feeder.client.samples().now();
  });
  const auto counts = feeder.counts();
  EXPECT_EQ(counts.added, 1027u);
  EXPECT_EQ(counts.held, 1024u);
  EXPECT_EQ(counts.dropped, 3u);
  EXPECT_EQ(hits.dropped, 3u);
}

}  // namespace
}  // namespace tallyfs
