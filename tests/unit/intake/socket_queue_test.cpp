// Whose datagrams are queued is known without taking them off the socket.
#include "feeders/intake/socket_queue.h"

#include <sys/wait.h>

#include <array>
#include <chrono>

#include "tests/unit/intake/intake_fixture.h"
#include "tests/unit/intake/lingering.h"

namespace tallyfs {
namespace {

constexpr uid_t kOtherDaemon = 4'000'000;  // so that this test's uid is one of others, unless root

class SocketQueueTest : public testing::Test {
 protected:
  void send(std::string_view text) { Feeder(path_).send(text); }
  std::size_t take() {
    const auto taken = queue_.receive().size();
    queue_.finish_received();
    return taken;
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_ / "socket";
  FeedSocket socket_ = FeedSocket::bind({.path = path_}).value();
  SocketQueue queue_{socket_.fd(), kOtherDaemon, socket_.queue_length()};
  const SenderKey own_ = queue_.key_of({.pid = ::getpid(), .uid = ::getuid()});
};

TEST_F(SocketQueueTest, TellsWhetherOnlyHeldSendersWait) {
  EXPECT_EQ(queue_.waiting(), SocketQueue::Waiting::kNothing);
  send("a");
  EXPECT_EQ(queue_.waiting(), SocketQueue::Waiting::kOfOthers);
  queue_.hold(own_);
  EXPECT_EQ(queue_.waiting(), SocketQueue::Waiting::kOfHeldOnly);
  queue_.let_go(own_);
  EXPECT_EQ(queue_.waiting(), SocketQueue::Waiting::kOfOthers);
}

TEST_F(SocketQueueTest, FindsASenderBehindOthersOfAnyLength) {
  queue_.hold(own_);
  send("long" + std::string(50'000, 'x'));
  send("");
  send("short");
  EXPECT_EQ(queue_.waiting(), SocketQueue::Waiting::kOfHeldOnly);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // Another sender: of root's another process, else another uid is out of reach.
    Feeder(path_).send("b");
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  const bool is_other = ::getuid() == 0;
  EXPECT_EQ(queue_.waiting(),
            is_other ? SocketQueue::Waiting::kOfOthers : SocketQueue::Waiting::kOfHeldOnly);
  EXPECT_EQ(take(), 4u);
  EXPECT_EQ(queue_.waiting(), SocketQueue::Waiting::kNothing);
}

TEST_F(SocketQueueTest, TellsWhenThereIsMoreThanItMayLookAt) {
  queue_.hold(own_);
  for (int i = 0; i < 3; ++i) send("a");
  EXPECT_EQ(queue_.waiting(2), SocketQueue::Waiting::kTooMany);
  // Two are known by now.
  EXPECT_EQ(queue_.waiting(2), SocketQueue::Waiting::kOfHeldOnly);
  queue_.let_go(own_);
  EXPECT_EQ(queue_.waiting(0), SocketQueue::Waiting::kOfOthers);
}

TEST_F(SocketQueueTest, KnowsWhatWasReceivedUntilItIsFinished) {
  send("a");
  ASSERT_EQ(queue_.receive().size(), 1u);
  EXPECT_TRUE(queue_.received_of_others());
  EXPECT_EQ(queue_.waiting(), SocketQueue::Waiting::kOfOthers);
  queue_.finish_received();
  EXPECT_EQ(queue_.waiting(), SocketQueue::Waiting::kNothing);
  queue_.hold(own_);
  send("a");
  ASSERT_EQ(queue_.receive().size(), 1u);
  EXPECT_FALSE(queue_.received_of_others());
  EXPECT_EQ(queue_.waiting(), SocketQueue::Waiting::kOfHeldOnly);
}

TEST_F(SocketQueueTest, LooksFurtherAfterSomeWereTakenOff) {
  queue_.hold(own_);
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 3; ++i) send(std::string(static_cast<std::size_t>(round * 7 + i), 'x'));
    ASSERT_EQ(queue_.waiting(), SocketQueue::Waiting::kOfHeldOnly);
    ASSERT_NE(take(), 0u);
  }
  while (take() != 0) continue;
  EXPECT_EQ(queue_.waiting(), SocketQueue::Waiting::kNothing);
}

TEST_F(SocketQueueTest, OthersMayWaitBehindADatagramOfASenderWithNothingPutOff) {
  EXPECT_FALSE(queue_.others_may_wait());
  send("a");
  EXPECT_TRUE(queue_.others_may_wait());
  queue_.hold(own_);
  EXPECT_TRUE(queue_.others_may_wait());
  queue_.note_deferred(own_);
  EXPECT_FALSE(queue_.others_may_wait());
  queue_.note_caught_up(own_);
  EXPECT_TRUE(queue_.others_may_wait());
  queue_.note_deferred(own_);
  queue_.let_go(own_);
  ASSERT_EQ(queue_.receive().size(), 1u);
  EXPECT_TRUE(queue_.others_may_wait());
  queue_.finish_received();
  EXPECT_FALSE(queue_.others_may_wait());
}

TEST_F(SocketQueueTest, OthersMayWaitForAPlaceInAQueueThatIsLongForItsLength) {
  queue_.note_deferred(own_);
  SocketQueue of_default(socket_.fd(), kOtherDaemon, std::nullopt);
  of_default.note_deferred(own_);
  for (unsigned i = 0; i + 1 < SocketQueue::kDefaultLength; ++i) send("a");
  EXPECT_FALSE(of_default.others_may_wait());
  send("a");
  EXPECT_TRUE(of_default.others_may_wait());
  if (!socket_.queue_length() || *socket_.queue_length() <= SocketQueue::kLong) {
    GTEST_SKIP() << "only root makes the queue long enough";
  }
  for (std::size_t i = SocketQueue::kDefaultLength; i + 1 < SocketQueue::kLong; ++i) send("a");
  EXPECT_FALSE(queue_.others_may_wait());
  send("a");
  EXPECT_TRUE(queue_.others_may_wait());
  while (take() != 0) continue;
  EXPECT_FALSE(queue_.others_may_wait());
}

// The intake asks anew for each datagram, and each look costs a walk from the queue's start.
TEST_F(SocketQueueTest, HoweverOftenItIsAskedWhetherOthersWaitItLooksAtTheFirstOnly) {
  if (!socket_.queue_length() || *socket_.queue_length() <= SocketQueue::kLong + 3) {
    GTEST_SKIP() << "only root makes the queue long enough";
  }
  queue_.hold(own_);
  queue_.note_deferred(own_);
  for (std::size_t i = 0; i < SocketQueue::kLong + 3; ++i) send("a");
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(queue_.others_may_wait());
  // Three are not known yet.
  EXPECT_EQ(queue_.waiting(2), SocketQueue::Waiting::kTooMany);
  EXPECT_EQ(queue_.waiting(2), SocketQueue::Waiting::kOfHeldOnly);
}

// ---- descriptors that senders attach

// On a socket that takes them, as all did before Linux 6.16.
TEST(AttachedDescriptorsTest, ACloseThatWaitsHoldsUpNoReceiver) {
  std::array<int, 2> pair{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair.data()), 0);
  const Fd sender(pair[0]), receiver(pair[1]);
  const int on = 1;
  ASSERT_EQ(::setsockopt(receiver.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on), 0);
  const Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::listen(listener.get(), 8), 0);
  for (int i = 0; i < 3; ++i) {
    EXPECT_GT(send_with(sender.get(), "web/hits 1", lingering_connection(listener).get()), 0);
  }
  SocketQueue queue(receiver.get(), kOtherDaemon, std::nullopt);
  const auto begun = std::chrono::steady_clock::now();
  const auto received = queue.receive();
  const auto took = std::chrono::steady_clock::now() - begun;
  ASSERT_EQ(received.size(), 3u);
  for (const Datagram& each : received) EXPECT_TRUE(each.fds_refused);
  EXPECT_LT(took, std::chrono::seconds(5)) << "one of them was waited for";
}

}  // namespace
}  // namespace tallyfs
