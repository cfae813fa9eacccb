// Processes outside of the daemon's PID namespace: what they are known by, and when they end.
#include <poll.h>

#include <array>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "core/branch/command.h"
#include "core/wire/binary.h"
#include "feeders/intake/answer_channels.h"
#include "feeders/intake/peer_process.h"
#include "tests/unit/held_descriptors.h"
#include "tests/unit/intake/outsider.h"

namespace tallyfs {
namespace {

using PeerPidfds = AnswerChannels::PeerPidfds;
constexpr std::chrono::hours kNever{1};

Origin unseen_named(std::string_view name) {
  Origin origin{.pid = 0, .uid = ::geteuid()};
  origin.address.sun_family = AF_UNIX;
  name.copy(origin.address.sun_path + 1, name.size());
  origin.address_size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return origin;
}

// What a daemon has of channels.
class Side {
 public:
  explicit Side(PeerPidfds pidfds) : channels(loop_, ::geteuid(), pidfds) {
    wire::DatagramWriter writer(0);
    writer.request(1, "create web");
    request_.assign(writer.bytes().begin(), writer.bytes().end());
  }
  bool offer(std::string_view name, Fd fd) {
    return channels.offer(unseen_named(name), request_, std::move(fd));
  }
  pid_t number_of(std::string_view name) const { return channels.number_of(unseen_named(name)); }
  // Until something has happened.
  void run_loop() {
    loop_.context().restart();
    loop_.context().run_one();
  }

 private:
  EventLoop loop_;
  alignas(8) std::vector<char> request_;

 public:
  AnswerChannels channels;
};

bool has_ended(const Fd& process) {
  pollfd polled{.fd = process.get(), .events = POLLIN, .revents = 0};
  return ::poll(&polled, 1, 0) != 0;
}

void hand_over(Side& from, Side& to) {
  std::string bytes;
  ByteWriter out(bytes);
  HeldDescriptors held;
  TransferredFds sent(&held);
  from.channels.save(out, sent);
  TransferredFds left(nullptr, held.received());
  ByteReader in(bytes);
  to.channels.load(in, left);
  EXPECT_TRUE(in.ok());
}

#define IN_PID_NAMESPACE(...) \
  if (!in_pid_namespace([&] __VA_ARGS__)) GTEST_SKIP() << "needs root, for a PID namespace"

TEST(UnseenProcessTest, HasANumberOfItsOwnFromItsFirstChannel) {
  const Outsider one, other;
  IN_PID_NAMESPACE({
    Side side(PeerPidfds::kUsed);
    side.channels.start(kNever);
    EXPECT_EQ(side.number_of("a"), 0);
    const Fd kept = one.ours(0), others = other.ours(0);
    ASSERT_TRUE(side.offer("a", one.theirs(0)));
    ASSERT_TRUE(side.offer("b", other.theirs(0)));
    EXPECT_GE(side.number_of("a"), kFirstUnseenProcess);
    EXPECT_GE(side.number_of("b"), kFirstUnseenProcess);
    EXPECT_NE(side.number_of("a"), side.number_of("b"));
    EXPECT_EQ(shown_pid(side.number_of("a")), 0);
    Origin numbered = unseen_named("a");
    numbered.pid = side.number_of("a");
    EXPECT_TRUE(side.channels.find(numbered)) << "it is answered";
  });
}

TEST(UnseenProcessTest, KeepsItsNumberWithoutAChannelAndWithAnother) {
  const Outsider one;
  IN_PID_NAMESPACE({
    Side side(PeerPidfds::kUsed);
    side.channels.start(kNever);
    Fd first = one.ours(0);
    const Fd second = one.ours(1);
    ASSERT_TRUE(side.offer("a", one.theirs(0)));
    const pid_t number = side.number_of("a");
    const Fd process = side.channels.open_process(number);
    first.reset();
    while (side.channels.count() != 0) side.run_loop();
    EXPECT_EQ(side.number_of("a"), number);
    EXPECT_FALSE(has_ended(process));
    ASSERT_TRUE(side.offer("a", one.theirs(1)));
    EXPECT_EQ(side.number_of("a"), number);
    EXPECT_EQ(side.channels.count(), 1u);
  });
}

TEST(UnseenProcessTest, IsForgottenAtItsEndNotAtThatOfItsChannel) {
  const Outsider one;
  IN_PID_NAMESPACE({
    Side side(PeerPidfds::kUsed);
    side.channels.start(kNever);
    Fd kept = one.ours(0);
    ASSERT_TRUE(side.offer("a", one.theirs(0)));
    const Fd process = side.channels.open_process(side.number_of("a"));
    kept.reset();
    one.ask_for_end();
    while (side.number_of("a") != 0) side.run_loop();
    EXPECT_TRUE(has_ended(process));
  });
}

// Pidfds are told apart since Linux 6.9.
TEST(UnseenProcessTest, AnotherOneAtItsAddressIsNotTakenForIt) {
  const Outsider one, other, third;
  IN_PID_NAMESPACE({
    Side side(PeerPidfds::kUsed);
    side.channels.start(kNever);
    const Fd kept = one.ours(0);
    const std::array<Fd, 3> others{other.ours(0), other.ours(1), third.ours(0)};
    ASSERT_TRUE(side.offer("a", one.theirs(0)));
    ASSERT_TRUE(side.offer("b", other.theirs(0)));
    const pid_t number = side.number_of("a");
    const Fd process = side.channels.open_process(number);
    const Fd another = side.channels.open_process(side.number_of("b"));
    if (may_be_one_process(process.get(), another.get())) GTEST_SKIP() << "pidfds look alike";
    EXPECT_FALSE(side.offer("a", other.theirs(1)));
    EXPECT_EQ(side.number_of("a"), number);
    one.ask_for_end();
    pollfd polled{.fd = process.get(), .events = POLLIN, .revents = 0};
    ::poll(&polled, 1, -1);
    ASSERT_TRUE(side.offer("a", third.theirs(0)));
    EXPECT_NE(side.number_of("a"), number);
  });
}

// The same.
TEST(UnseenProcessTest, HasOneChannelAndKeepsItsNumberWithAnotherSocket) {
  const Outsider one, other;
  IN_PID_NAMESPACE({
    Side side(PeerPidfds::kUsed);
    side.channels.start(kNever);
    Fd first = one.ours(0);
    const Fd second = one.ours(1), third = one.ours(2);
    ASSERT_TRUE(side.offer("a", one.theirs(0)));
    ASSERT_TRUE(side.offer("o", other.theirs(0)));
    const pid_t number = side.number_of("a");
    const Fd process = side.channels.open_process(number);
    const Fd another = side.channels.open_process(side.number_of("o"));
    if (may_be_one_process(process.get(), another.get())) GTEST_SKIP() << "pidfds look alike";
    EXPECT_FALSE(side.offer("b", one.theirs(1)));
    EXPECT_EQ(side.number_of("b"), 0);
    first.reset();
    ASSERT_TRUE(side.offer("c", one.theirs(2)));
    EXPECT_EQ(side.number_of("c"), number);
    EXPECT_EQ(side.number_of("a"), 0);
    EXPECT_FALSE(has_ended(process));
    EXPECT_EQ(side.channels.count(), 2u);
  });
}

TEST(UnseenProcessTest, WithoutPidfdsTheEndOfItsChannelIsItsEnd) {
  const Outsider one;
  IN_PID_NAMESPACE({
    Side side(PeerPidfds::kNone);
    side.channels.start(kNever);
    Fd first = one.ours(0), second = one.ours(1);
    ASSERT_TRUE(side.offer("a", one.theirs(0)));
    const pid_t number = side.number_of("a");
    const Fd process = side.channels.open_process(number);
    ASSERT_TRUE(side.offer("a", one.theirs(1)));
    first.reset();
    EXPECT_EQ(side.number_of("a"), number) << "it has another one";
    EXPECT_FALSE(has_ended(process));
    second.reset();
    while (side.number_of("a") != 0) side.run_loop();
    EXPECT_TRUE(has_ended(process));
  });
}

TEST(UnseenProcessTest, TheNextServerKnowsItByItsNumber) {
  for (const PeerPidfds pidfds : {PeerPidfds::kUsed, PeerPidfds::kNone}) {
    const Outsider one, other;
    IN_PID_NAMESPACE({
      Side before(pidfds), next(pidfds);
      const Fd first = one.ours(0), second = one.ours(1);
      ASSERT_TRUE(before.offer("a", one.theirs(0)));
      const pid_t number = before.number_of("a");
      hand_over(before, next);
      next.channels.start(kNever);
      EXPECT_EQ(next.number_of("a"), number);
      EXPECT_EQ(next.channels.count(), 0u) << "it is to send another one";
      ASSERT_TRUE(next.offer("a", one.theirs(1)));
      EXPECT_EQ(next.number_of("a"), number);
      ASSERT_TRUE(next.offer("b", other.theirs(0)));
      EXPECT_NE(next.number_of("b"), number) << "no number is given again";
    });
  }
}

TEST(UnseenProcessTest, TheNextServerWithoutPidfdsWaitsSoLongForAChannel) {
  const Outsider absent, present;
  IN_PID_NAMESPACE({
    Side before(PeerPidfds::kNone), next(PeerPidfds::kNone);
    const Fd first = absent.ours(0), second = present.ours(0), third = present.ours(1);
    ASSERT_TRUE(before.offer("a", absent.theirs(0)));
    ASSERT_TRUE(before.offer("p", present.theirs(0)));
    const pid_t number = before.number_of("p");
    hand_over(before, next);
    const Fd process = next.channels.open_process(next.number_of("a"));
    ASSERT_TRUE(next.offer("p", present.theirs(1)));
    next.channels.start(std::chrono::milliseconds(1));
    while (next.number_of("a") != 0) next.run_loop();
    EXPECT_TRUE(has_ended(process));
    EXPECT_EQ(next.number_of("p"), number);
  });
}

TEST(UnseenProcessTest, AnEndBetweenTwoServersIsNoticedByTheNext) {
  const Outsider one;
  IN_PID_NAMESPACE({
    Side before(PeerPidfds::kUsed), next(PeerPidfds::kUsed);
    const Fd first = one.ours(0);
    ASSERT_TRUE(before.offer("a", one.theirs(0)));
    hand_over(before, next);
    one.ask_for_end();
    next.channels.start(kNever);
    while (next.number_of("a") != 0) next.run_loop();
  });
}

}  // namespace
}  // namespace tallyfs
