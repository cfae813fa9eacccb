// Which senders are sent answers while others leave theirs unread.
#include "feeders/intake/unread_responses.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/unit/fake_clock.h"
#include "tests/unit/intake/intake_fixture.h"

namespace tallyfs {
namespace {

using Inbox = UnixSockets::Inbox;

constexpr uid_t kDaemon = 500;
constexpr uid_t kGreedy = 1000;
constexpr uid_t kPolite = 1001;
constexpr std::size_t kRoom = 1 << 20;
constexpr std::size_t kResponse = 8 * 1024;

class UnreadResponsesTest : public testing::Test {
 protected:
  std::string name(int number) const {
    return std::string(1, '\0') + "socket" + std::to_string(number);
  }
  bool send(uid_t uid, int number) {
    if (!responses_.may_send(uid, kResponse)) return false;
    responses_.sent(uid, name(number), kResponse);
    sockets_[name(number)] = Inbox::kHasUnread;
    return true;
  }
  // As many as it may, one to each socket.
  std::size_t send_until_refused(uid_t uid, int first) {
    std::size_t sent = 0;
    while (sent < 10'000 && send(uid, first + static_cast<int>(sent))) ++sent;
    return sent;
  }

  FakeClock clock_{std::chrono::hours(1)};
  std::map<std::string, Inbox> sockets_;
  int looks_ = 0;
  UnreadResponses responses_{kDaemon, kRoom, clock_, [this](const UnixSockets::Visit& visit) {
                               ++looks_;
                               for (const auto& [each, inbox] : sockets_) visit(each, inbox);
                             }};
};

TEST_F(UnreadResponsesTest, AUidHasAQuarterOfTheRoomAndAllStrangersThreeQuarters) {
  const std::size_t of_one = send_until_refused(kGreedy, 0);
  EXPECT_GT(of_one * 2 * kResponse, kRoom / 5);
  EXPECT_LE(of_one * 2 * kResponse, kRoom / 4);
  std::size_t of_all = of_one;
  for (uid_t uid = kGreedy + 1; uid < kGreedy + 9; ++uid) {
    of_all += send_until_refused(uid, static_cast<int>(uid) * 10'000);
  }
  EXPECT_GT(of_all * 2 * kResponse, kRoom / 2);
  EXPECT_LE(of_all * 2 * kResponse, kRoom - kRoom / 4);
}

// A response to a request is some ten bytes.
TEST_F(UnreadResponsesTest, UidsThatReadNothingLeaveRoomForOthers) {
  for (uid_t uid = 2000; uid < 2010; ++uid) send_until_refused(uid, static_cast<int>(uid) * 10'000);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(responses_.may_send(kPolite, 64)) << i;
    responses_.sent(kPolite, name(1), 64);
    sockets_[name(1)] = Inbox::kEmpty;
    clock_.advance(std::chrono::milliseconds(10));
  }
}

TEST_F(UnreadResponsesTest, RootAndTheOwnerAreHeldToNoShare) {
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(send(0, i));
    ASSERT_TRUE(send(kDaemon, i));
  }
  EXPECT_EQ(looks_, 0);
}

TEST_F(UnreadResponsesTest, AClientThatHasReadMayBeSentMore) {
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(send(kPolite, 1)) << i;
    sockets_[name(1)] = Inbox::kEmpty;
    clock_.advance(std::chrono::milliseconds(1));
  }
  EXPECT_LE(looks_, 1000 / 10);
}

TEST_F(UnreadResponsesTest, ASocketThatIsGoneHoldsNothing) {
  send_until_refused(kGreedy, 0);
  clock_.advance(UnreadResponses::kLookPause);
  EXPECT_FALSE(send(kGreedy, 5));
  sockets_.clear();
  clock_.advance(UnreadResponses::kLookPause);
  EXPECT_TRUE(send(kGreedy, 5));
}

TEST_F(UnreadResponsesTest, LooksNoMoreOftenThanThePause) {
  send_until_refused(kGreedy, 0);
  const int before = looks_;
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(send(kGreedy, 5));
  EXPECT_LE(looks_, before + 1);
}

TEST(UnixSocketsTest, SeesWhatWaitsInASocketUntilItIsRead) {
  const TemporaryDirectory directory;
  const std::string path = directory / "socket";
  const Fd reader(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = address_of(path);
  ASSERT_EQ(::bind(reader.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const auto inbox = [&] {
    std::optional<Inbox> found;
    UnixSockets sockets;
    const auto done = sockets.each([&](std::string_view name, Inbox in) {
      if (name == path) found = in;
    });
    EXPECT_TRUE(done) << done.error().reason;
    return found;
  };
  EXPECT_EQ(inbox(), Inbox::kEmpty);
  Feeder(path).send("x");
  EXPECT_EQ(inbox(), Inbox::kHasUnread);
  char byte = 0;
  ASSERT_EQ(::read(reader.get(), &byte, 1), 1);
  EXPECT_EQ(inbox(), Inbox::kEmpty);
}

}  // namespace
}  // namespace tallyfs
