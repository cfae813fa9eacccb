// How a feeder offers a channel, and what it makes of daemons that take it and of others.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fake_daemon.h"
#include "feeders/client/link.h"

namespace tallyfs {
namespace {

using Sent = Link::Sent;

class AnswerChannelTest : public testing::Test {
 protected:
  AnswerChannelTest() { EXPECT_TRUE(link_.connect()); }
  Sent request() {
    wire::DatagramWriter writer(0);
    writer.request(++sequence_, "x");
    return link_.request(writer.bytes());
  }
  bool offers() {
    daemon_.channel.reset();
    EXPECT_EQ(request(), Sent::kDone);
    EXPECT_TRUE(daemon_.take());
    return daemon_.channel.valid();
  }
  std::string received() {
    const auto received = link_.receive();
    return received ? std::string(received->datagram.data(), received->datagram.size()) : "-";
  }
  bool polls_channel() { return link_.polled(POLLIN)[1].fd >= 0; }

  TemporaryDirectory directory_;
  const std::string path_ = directory_ / "socket";
  FakeDaemon daemon_{path_};
  Link link_{path_};
  std::uint32_t sequence_ = 0;
};

TEST_F(AnswerChannelTest, GoesWithTheFirstRequestAndBringsTheAnswers) {
  daemon_.takes_channels = true;
  EXPECT_FALSE(polls_channel());
  ASSERT_TRUE(offers());
  EXPECT_TRUE(polls_channel());
  EXPECT_GE(link_.polled(POLLIN)[1].fd, 10);
  EXPECT_NE(::fcntl(link_.polled(POLLIN)[1].fd, F_GETFD) & FD_CLOEXEC, 0);
  daemon_.send("over it");
  EXPECT_EQ(received(), "over it");
  EXPECT_EQ(received(), "-");
  const Fd channel = std::move(daemon_.channel);
  EXPECT_FALSE(offers()) << "it is there";
}

TEST_F(AnswerChannelTest, ADaemonThatTakesNoneAnswersAtTheAddress) {
  EXPECT_FALSE(offers());
  daemon_.send("to the address");
  EXPECT_EQ(received(), "to the address");
  EXPECT_FALSE(polls_channel());
  EXPECT_FALSE(link_.has_lost_channel()) << "it had none";
  daemon_.takes_channels = true;
  EXPECT_FALSE(offers()) << "it is not asked again";
  link_.renew_channel();
  EXPECT_TRUE(offers());
}

TEST_F(AnswerChannelTest, AfterTheEndOfOneThatWasUsedTheNextRequestOffersAnother) {
  daemon_.takes_channels = true;
  ASSERT_TRUE(offers());
  daemon_.send("over it");
  EXPECT_EQ(received(), "over it");
  daemon_.channel.reset();
  EXPECT_EQ(received(), "-");
  EXPECT_TRUE(link_.has_lost_channel());
  EXPECT_TRUE(offers());
  EXPECT_FALSE(link_.has_lost_channel());
  daemon_.send("over the other");
  EXPECT_EQ(received(), "over the other");
}

TEST_F(AnswerChannelTest, ARequestThatFindsNoRoomLeavesItToTheNext) {
  daemon_.takes_channels = true;
  while (link_.send("web/hits 1") == Sent::kDone) {
  }
  EXPECT_EQ(request(), Sent::kFull);
  EXPECT_FALSE(polls_channel());
  daemon_.drop_all();
  EXPECT_TRUE(offers());
  EXPECT_FALSE(link_.full());
}

TEST_F(AnswerChannelTest, ADescriptorThatTheProgramClosedIsOfferedAnew) {
  daemon_.takes_channels = true;
  ASSERT_TRUE(offers());
  const int number = link_.polled(POLLIN)[1].fd;
  ::close(number);
  EXPECT_EQ(received(), "-");
  EXPECT_TRUE(offers());
}

TEST_F(AnswerChannelTest, AFileOfTheProgramInItsPlaceIsNeitherReadNorClosed) {
  daemon_.takes_channels = true;
  ASSERT_TRUE(offers());
  const int number = link_.polled(POLLIN)[1].fd;
  const std::string path = directory_ / "file";
  const Fd made(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const Fd file(::dup3(made.get(), number, O_CLOEXEC));
  EXPECT_EQ(received(), "-");
  EXPECT_TRUE(offers());
  link_.disconnect();
  EXPECT_GE(::fcntl(file.get(), F_GETFD), 0);
}

TEST_F(AnswerChannelTest, AfterAChangeOfTheUidAnotherOneIsOffered) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to be another uid";
  daemon_.takes_channels = true;
  ASSERT_TRUE(offers());
  EXPECT_FALSE(offers()) << "it is there";
  // Of this thread alone, and back.
  const auto become = [](uid_t real, uid_t effective) {
    ASSERT_EQ(::syscall(SYS_setresuid, real, effective, 0), 0);
  };
  become(65534, 65534);
  const bool does = offers();
  become(0, 65534);
  const bool does_with_two = offers();
  become(0, 0);
  EXPECT_TRUE(does);
  EXPECT_TRUE(does_with_two) << "the daemon takes that of a program with two uids";
  EXPECT_FALSE(offers()) << "the daemon sees the real one, which has not changed";
}

TEST_F(AnswerChannelTest, DisconnectClosesIt) {
  daemon_.takes_channels = true;
  ASSERT_TRUE(offers());
  link_.disconnect();
  char byte = 0;
  EXPECT_EQ(::recv(daemon_.channel.get(), &byte, 1, MSG_DONTWAIT), 0);
}

}  // namespace
}  // namespace tallyfs
