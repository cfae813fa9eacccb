// Which descriptors become channels, how many, and when they end.
#include "feeders/intake/answer_channels.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "core/wire/binary.h"
#include "feeders/intake/peer_process.h"

namespace tallyfs {
namespace {

constexpr uid_t kStranger = 65534;

struct Pair {
  Fd ours, theirs;
};

Pair pair_of(int type = SOCK_SEQPACKET, int family = AF_UNIX) {
  std::array<int, 2> made{-1, -1};
  EXPECT_EQ(::socketpair(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, made.data()), 0);
  return {Fd(made[0]), Fd(made[1])};
}

// As another process makes it, which has ended, and left both ends to this one.
struct PairOfAnother {
  Pair pair;
  pid_t process = 0;
};

PairOfAnother pair_of_another() {
  alignas(16) static std::array<char, 64 * 1024> stack;
  std::array<int, 2> made{-1, -1};
  const auto make = [](void* to) {
    constexpr int kType = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK;
    return ::socketpair(AF_UNIX, kType, 0, static_cast<int*>(to));
  };
  constexpr int kShares = CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD;
  const pid_t process = ::clone(make, stack.data() + stack.size(), kShares, made.data());
  int status = 1;
  EXPECT_EQ(::waitpid(process, &status, 0), process);
  EXPECT_EQ(status, 0);
  return {{Fd(made[0]), Fd(made[1])}, process};
}

Origin feeder_named(std::string_view name, uid_t uid = ::geteuid(), pid_t pid = ::getpid()) {
  Origin origin{.pid = pid, .uid = uid};
  origin.address.sun_family = AF_UNIX;
  name.copy(origin.address.sun_path + 1, name.size());
  origin.address_size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return origin;
}

class AnswerChannelsTest : public testing::Test {
 protected:
  AnswerChannelsTest() {
    wire::DatagramWriter writer(0);
    writer.request(1, "create web");
    request_.assign(writer.bytes().begin(), writer.bytes().end());
    channels_.start();
  }
  bool offer(const Origin& from, Fd fd) { return channels_.offer(from, request_, std::move(fd)); }
  void run_loop() {
    loop_.context().restart();
    loop_.context().poll();
  }
  // Closings are another thread's.
  static void wait_for_end_of(const Fd& peer) {
    char byte = 0;
    while (::recv(peer.get(), &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN) ::usleep(100);
  }

  EventLoop loop_;
  AnswerChannels channels_{loop_, ::geteuid()};
  alignas(8) std::vector<char> request_;
};

TEST_F(AnswerChannelsTest, AnEndOfASocketpairIsAChannelOfItsSenderAlone) {
  auto [ours, theirs] = pair_of();
  ASSERT_TRUE(offer(feeder_named("a"), std::move(theirs)));
  const auto found = channels_.find(feeder_named("a"));
  ASSERT_TRUE(found);
  EXPECT_EQ(::send(found->fd(), "x", 1, 0), 1);
  char byte = 0;
  EXPECT_EQ(::recv(ours.get(), &byte, 1, 0), 1);
  EXPECT_FALSE(channels_.find(feeder_named("b")));
  EXPECT_FALSE(channels_.find(feeder_named("a", kStranger)));
  EXPECT_FALSE(channels_.find(feeder_named("a", ::geteuid(), ::getppid())));
  EXPECT_EQ(channels_.count(), 1u);
}

TEST_F(AnswerChannelsTest, AnythingElseIsClosed) {
  for (const int type : {SOCK_DGRAM, SOCK_STREAM}) {
    auto [ours, theirs] = pair_of(type);
    EXPECT_FALSE(offer(feeder_named("a"), std::move(theirs))) << type;
  }
  EXPECT_FALSE(offer(feeder_named("a"), Fd(::open("/dev/null", O_RDWR | O_CLOEXEC))));
  EXPECT_FALSE(offer(feeder_named("a"), Fd(::open("/", O_PATH | O_CLOEXEC))));
  EXPECT_FALSE(offer(feeder_named("a"), Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))));
  auto [another, given] = pair_of();
  EXPECT_FALSE(offer(feeder_named("a", ::geteuid(), ::getppid()), std::move(given)))
      << "another process has made it";
  wait_for_end_of(another);
  EXPECT_EQ(channels_.count(), 0u);
}

// The kernel says the effective uid of the pair, and the real one of the datagram.
TEST_F(AnswerChannelsTest, AProcessWithTwoUidsHasAChannel) {
  auto [ours, theirs] = pair_of();
  EXPECT_TRUE(offer(feeder_named("a", kStranger), std::move(theirs)));
  EXPECT_TRUE(channels_.find(feeder_named("a", kStranger)));
  EXPECT_FALSE(channels_.find(feeder_named("a")));
}

TEST_F(AnswerChannelsTest, AProcessThatHasChangedItsUidReplacesItsChannel) {
  auto [first, first_theirs] = pair_of();
  auto [second, second_theirs] = pair_of();
  ASSERT_TRUE(offer(feeder_named("a"), std::move(first_theirs)));
  EXPECT_TRUE(offer(feeder_named("a", kStranger), std::move(second_theirs)));
  EXPECT_EQ(channels_.count(), 1u);
  wait_for_end_of(first);
}

TEST_F(AnswerChannelsTest, AProcessHasOneChannel) {
  auto [first, first_theirs] = pair_of();
  auto [second, second_theirs] = pair_of();
  auto [third, third_theirs] = pair_of();
  ASSERT_TRUE(offer(feeder_named("a"), std::move(first_theirs)));
  EXPECT_FALSE(offer(feeder_named("b"), std::move(second_theirs)));
  wait_for_end_of(second);
  EXPECT_TRUE(channels_.find(feeder_named("a")));
  first.reset();
  // Before its end was noticed.
  EXPECT_TRUE(offer(feeder_named("b"), std::move(third_theirs)));
  EXPECT_FALSE(channels_.find(feeder_named("a")));
  EXPECT_TRUE(channels_.find(feeder_named("b")));
  EXPECT_EQ(channels_.count(), 1u);
}

// Which has its number from a process that left its channel to others.
TEST_F(AnswerChannelsTest, AProcessIsNotTakenForOneThatHasEnded) {
  auto [before, process] = pair_of_another();
  if (!pidfd_of_peer(pair_of().ours.get()).valid()) GTEST_SKIP() << "there are no pidfds of peers";
  ASSERT_TRUE(offer(feeder_named("a", 0, process), std::move(before.theirs)));
  const Fd same(::fcntl(channels_.find(feeder_named("a", 0, process))->fd(), F_DUPFD_CLOEXEC, 0));
  EXPECT_TRUE(offer(feeder_named("b", 0, process), Fd(::fcntl(same.get(), F_DUPFD_CLOEXEC, 0))));
}

TEST_F(AnswerChannelsTest, WhatDoesNotAskNeedsNoChannel) {
  wire::DatagramWriter writer(0);
  writer.dropped(1);
  for (const std::string_view bytes : {std::string_view("web/hits 1\n"), writer.bytes(),
                                       std::string_view()}) {
    std::vector<char> datagram(bytes.begin(), bytes.end());
    auto [ours, theirs] = pair_of();
    EXPECT_FALSE(channels_.offer(feeder_named("a"), datagram, std::move(theirs)));
    wait_for_end_of(ours);
  }
}

TEST_F(AnswerChannelsTest, AnEndThatTheFeederClosesEndsIt) {
  auto [ours, theirs] = pair_of();
  auto [kept, process] = pair_of_another();
  const Origin other = feeder_named("b", ::geteuid(), process);
  ASSERT_TRUE(offer(feeder_named("a"), std::move(theirs)));
  ASSERT_TRUE(offer(other, std::move(kept.theirs)));
  run_loop();
  EXPECT_EQ(channels_.count(), 2u);
  ours.reset();
  run_loop();
  EXPECT_EQ(channels_.count(), 1u);
  EXPECT_FALSE(channels_.find(feeder_named("a")));
  EXPECT_TRUE(channels_.find(other));
}

TEST_F(AnswerChannelsTest, WhatTheFeederWritesIsNoEnd) {
  auto [ours, theirs] = pair_of();
  ASSERT_TRUE(offer(feeder_named("a"), std::move(theirs)));
  ASSERT_EQ(::send(ours.get(), "x", 1, 0), 1);
  run_loop();
  EXPECT_TRUE(channels_.find(feeder_named("a")));
}

TEST_F(AnswerChannelsTest, AnotherOneTakesItsPlace) {
  auto [first, first_theirs] = pair_of();
  auto [second, second_theirs] = pair_of();
  ASSERT_TRUE(offer(feeder_named("a"), std::move(first_theirs)));
  ASSERT_TRUE(offer(feeder_named("a"), std::move(second_theirs)));
  EXPECT_EQ(channels_.count(), 1u);
  wait_for_end_of(first);
  first.reset();
  run_loop();
  EXPECT_EQ(channels_.count(), 1u) << "it is the first that has ended";
  ASSERT_EQ(::send(channels_.find(feeder_named("a"))->fd(), "x", 1, 0), 1);
  char byte = 0;
  EXPECT_EQ(::recv(second.get(), &byte, 1, 0), 1);
}

TEST_F(AnswerChannelsTest, AUidHasSoManyAndTheDaemonsHaveATenthMore) {
  std::vector<Fd> ours;
  const auto offer_as = [&](uid_t uid) {
    auto [pair, process] = pair_of_another();
    const bool done = offer(feeder_named("a", uid, process), std::move(pair.theirs));
    ours.push_back(std::move(pair.ours));
    return done;
  };
  for (std::size_t i = 0; i < AnswerChannels::kOfUidMax; ++i) ASSERT_TRUE(offer_as(kStranger));
  EXPECT_FALSE(offer_as(kStranger));
  wait_for_end_of(ours.back());
  const std::size_t of_others = AnswerChannels::kChannelsMax - AnswerChannels::kChannelsMax / 10;
  while (channels_.count() < of_others) ASSERT_TRUE(offer_as(0));
  EXPECT_FALSE(offer_as(kStranger - 1)) << "the last tenth is kept";
  while (channels_.count() < AnswerChannels::kChannelsMax) ASSERT_TRUE(offer_as(0));
  EXPECT_FALSE(offer_as(0));
  ours.clear();
  while (channels_.count() != 0) run_loop();
}

TEST_F(AnswerChannelsTest, WhatIsNotReadIsSeenAsUnread) {
  using Inbox = UnixSockets::Inbox;
  auto [ours, theirs] = pair_of();
  const Origin feeder = feeder_named("a");
  ASSERT_TRUE(offer(feeder, std::move(theirs)));
  std::vector<Inbox> seen;
  const auto look = [&](std::string_view name, Inbox inbox) {
    EXPECT_EQ(name, AnswerChannels::key_of(feeder));
    seen.push_back(inbox);
  };
  channels_.each(look);
  ASSERT_EQ(::send(channels_.find(feeder)->fd(), "x", 1, 0), 1);
  channels_.each(look);
  char byte = 0;
  EXPECT_EQ(::recv(ours.get(), &byte, 1, 0), 1);
  channels_.each(look);
  EXPECT_EQ(seen, (std::vector{Inbox::kEmpty, Inbox::kHasUnread, Inbox::kEmpty}));
}

TEST_F(AnswerChannelsTest, AProcessIsOpenedByItsChannel) {
  auto [ours, theirs] = pair_of();
  ASSERT_TRUE(offer(feeder_named("a"), std::move(theirs)));
  const Fd process = channels_.open_process(::getpid());
  ASSERT_TRUE(process.valid());
  pollfd polled{.fd = process.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&polled, 1, 0), 0) << "it runs";
  EXPECT_TRUE(channels_.open_process(::getppid()).valid()) << "without a channel by its number";
}

// It has ended, so that the kernel may have given its number to another one.
TEST_F(AnswerChannelsTest, WithoutPidfdsOfPeersAProcessIsOpenedWhileItsChannelIs) {
  AnswerChannels channels(loop_, ::geteuid(), AnswerChannels::PeerPidfds::kNone);
  auto [ours, theirs] = pair_of();
  ASSERT_TRUE(channels.offer(feeder_named("a"), request_, std::move(theirs)));
  EXPECT_TRUE(channels.open_process(::getpid()).valid());
  ours.reset();
  EXPECT_FALSE(channels.open_process(::getpid()).valid());
  EXPECT_EQ(errno, ESRCH);
}

TEST_F(AnswerChannelsTest, ThreadsMayAskConcurrentlyWhileChannelsComeAndEnd) {
  constexpr int kChannels = 200;
  std::atomic<bool> is_over{false};
  std::thread loop([&] { loop_.run([](int) {}); });
  std::thread asking([&] {
    while (!is_over) {
      if (const auto found = channels_.find(feeder_named("a"))) {
        EXPECT_GE(found->fd(), 0);
      }
      EXPECT_TRUE(channels_.open_process(::getpid()).valid());
      channels_.each([](std::string_view, UnixSockets::Inbox) {});
    }
  });
  for (int i = 0; i < kChannels; ++i) {
    auto [ours, theirs] = pair_of();
    EXPECT_TRUE(offer(feeder_named(i % 2 == 0 ? "a" : "b"), std::move(theirs)));
  }
  while (channels_.count() != 0) std::this_thread::yield();
  is_over = true;
  asking.join();
  loop_.stop();
  loop.join();
}

TEST_F(AnswerChannelsTest, NoSocketCanHaveTheNameOfAChannel) {
  EXPECT_GT(AnswerChannels::key_of(Origin{}).size(), sizeof(sockaddr_un::sun_path));
}

}  // namespace
}  // namespace tallyfs
