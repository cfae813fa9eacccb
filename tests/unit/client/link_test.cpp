#include "feeders/client/link.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "fake_daemon.h"

namespace tallyfs {
namespace {

using Sent = Link::Sent;
using namespace std::chrono_literals;

// Is at `number` until it goes, as what a program opens there.
class FileOfTheProgram {
 public:
  FileOfTheProgram(const std::string& path, int number) {
    const Fd made(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    fd_ = Fd(::dup3(made.get(), number, O_CLOEXEC));
    EXPECT_EQ(fd_.get(), number);
  }
  // -1: it is not open any more.
  off_t size() const {
    struct stat status {};
    return ::fstat(fd_.get(), &status) == 0 && S_ISREG(status.st_mode) ? status.st_size : -1;
  }

 private:
  Fd fd_;
};

int open_fds() {
  int open = 0;
  for (int fd = 0; fd < 256; ++fd) open += ::fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
  return open;
}

class LinkTest : public testing::Test {
 protected:
  std::string request(std::uint32_t sequence) {
    wire::DatagramWriter writer(0);
    writer.request(sequence, "x");
    return std::string(writer.bytes());
  }
  Sent send(std::uint32_t sequence = 1) { return link_.send(request(sequence)); }
  void fill() {
    for (int i = 0; i < 1'000'000 && send() == Sent::kDone; ++i) {
    }
    ASSERT_TRUE(link_.full());
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_ / "socket";
  std::optional<FakeDaemon> daemon_{path_};
  Link link_{path_};
};

TEST_F(LinkTest, IsNotConnectedAtFirst) {
  EXPECT_FALSE(link_.connected());
  EXPECT_EQ(link_.fd(), -1);
  EXPECT_EQ(send(), Sent::kGone);
  EXPECT_FALSE(link_.receive());
}

TEST_F(LinkTest, WhatIsSentArrivesInItsOrder) {
  ASSERT_TRUE(link_.connect());
  EXPECT_TRUE(link_.connected());
  EXPECT_EQ(send(1), Sent::kDone);
  EXPECT_EQ(send(2), Sent::kDone);
  EXPECT_EQ(daemon_->take()->requests.at(0).first, 1u);
  EXPECT_EQ(daemon_->take()->requests.at(0).first, 2u);
  EXPECT_FALSE(daemon_->take());
}

TEST_F(LinkTest, IsClosedOnExecAndNotAmongTheSmallNumbers) {
  ASSERT_TRUE(link_.connect());
  EXPECT_GE(link_.fd(), 10);
  EXPECT_NE(::fcntl(link_.fd(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(LinkTest, AnswersArrive) {
  ASSERT_TRUE(link_.connect());
  EXPECT_FALSE(link_.receive());
  send();
  daemon_->take();
  daemon_->send("first");
  daemon_->send("second");
  auto received = link_.receive();
  ASSERT_TRUE(received);
  EXPECT_EQ(std::string(received->datagram.data(), received->datagram.size()), "first");
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(received->datagram.data()) % 8, 0u);
  EXPECT_FALSE(received->attached.valid());
  received = link_.receive();
  ASSERT_TRUE(received);
  EXPECT_EQ(std::string(received->datagram.data(), received->datagram.size()), "second");
  EXPECT_FALSE(link_.receive());
}

TEST_F(LinkTest, AnAttachedDescriptorArrivesClosedOnExec) {
  ASSERT_TRUE(link_.connect());
  send();
  daemon_->take();
  const SwitchPage page(4096);
  daemon_->send("page", {page.fd().get()});
  const auto received = link_.receive();
  ASSERT_TRUE(received);
  ASSERT_TRUE(received->attached.valid());
  EXPECT_NE(::fcntl(received->attached.get(), F_GETFD) & FD_CLOEXEC, 0);
  struct stat sent {};
  struct stat arrived {};
  ::fstat(page.fd().get(), &sent);
  ::fstat(received->attached.get(), &arrived);
  EXPECT_EQ(sent.st_ino, arrived.st_ino);
}

TEST_F(LinkTest, OfSeveralAttachedDescriptorsNoneStaysOpen) {
  ASSERT_TRUE(link_.connect());
  send();
  daemon_->take();
  const SwitchPage page(4096);
  const int before = open_fds();
  const int fd = page.fd().get();
  daemon_->send("pages", {fd, fd, fd, fd});
  EXPECT_TRUE(link_.receive());
  EXPECT_EQ(open_fds(), before);
}

TEST_F(LinkTest, OnlyTheDaemonReachesIt) {
  ASSERT_TRUE(link_.connect());
  send();
  daemon_->take();
  sockaddr_un own{};
  socklen_t size = sizeof own;
  ASSERT_EQ(::getsockname(link_.fd(), reinterpret_cast<sockaddr*>(&own), &size), 0);
  const Fd other(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  EXPECT_LT(::sendto(other.get(), "x", 1, 0, reinterpret_cast<sockaddr*>(&own), size), 0);
  EXPECT_FALSE(link_.receive());
}

TEST_F(LinkTest, WithoutASocketThereIsNoDaemon) {
  Link link(directory_ / "nothing");
  const auto done = link.connect();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(link.connected());
}

TEST_F(LinkTest, ASocketThatIsNotServedIsNoDaemon) {
  const sockaddr_un own = address_of(directory_ / "dead");
  {
    const Fd dead(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(dead.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
  }
  const auto done = Link(directory_ / "dead").connect();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kNotFound);
}

TEST_F(LinkTest, APathThatIsEmptyOrTooLongOrNoSocketIsInvalid) {
  EXPECT_EQ(Link("").connect().error().code, ErrorCode::kInvalid);
  EXPECT_EQ(Link("/" + std::string(107, 'x')).connect().error().code, ErrorCode::kInvalid);
}

TEST_F(LinkTest, AFailedConnectLeavesNothingOpen) {
  const int before = open_fds();
  Link link(directory_ / "nothing");
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(link.connect());
  EXPECT_EQ(open_fds(), before);
}

TEST_F(LinkTest, WhenTheQueueIsFullItSaysSoUntilThereIsRoom) {
  ASSERT_TRUE(link_.connect());
  fill();
  EXPECT_EQ(send(), Sent::kFull);
  EXPECT_TRUE(link_.connected());
  while (daemon_->take()) {
  }
  EXPECT_EQ(send(), Sent::kDone);
  EXPECT_FALSE(link_.full());
}

TEST_F(LinkTest, WaitingForRoomEndsWhenTheDaemonTakesSomething) {
  ASSERT_TRUE(link_.connect());
  fill();
  std::thread daemon([&] {
    while (daemon_->take()) {
    }
  });
  link_.wait_for_room(60s);
  daemon.join();
  EXPECT_EQ(send(), Sent::kDone);
}

TEST_F(LinkTest, WaitingForRoomEndsWhenTheDaemonDoes) {
  ASSERT_TRUE(link_.connect());
  fill();
  std::thread daemon([&] { daemon_->end(); });
  link_.wait_for_room(60s);
  daemon.join();
  EXPECT_EQ(send(), Sent::kGone);
}

TEST_F(LinkTest, WaitingForRoomEndsInTimeWhenNothingHappens) {
  ASSERT_TRUE(link_.connect());
  fill();
  const auto before = std::chrono::steady_clock::now();
  link_.wait_for_room(20ms);
  EXPECT_GE(std::chrono::steady_clock::now() - before, 20ms);
  EXPECT_EQ(send(), Sent::kFull);
}

TEST_F(LinkTest, WhenTheDaemonIsGoneItSaysSo) {
  ASSERT_TRUE(link_.connect());
  daemon_.reset();
  EXPECT_EQ(send(), Sent::kGone);
  EXPECT_FALSE(link_.connected());
  EXPECT_EQ(link_.fd(), -1);
  EXPECT_EQ(send(), Sent::kGone);
}

TEST_F(LinkTest, AnotherDaemonIsNotReachedBeforeTheNextConnect) {
  ASSERT_TRUE(link_.connect());
  daemon_.reset();
  daemon_.emplace(path_);
  EXPECT_EQ(send(), Sent::kGone);
  EXPECT_FALSE(daemon_->take());
  ASSERT_TRUE(link_.connect());
  EXPECT_EQ(send(), Sent::kDone);
  EXPECT_TRUE(daemon_->take());
}

TEST_F(LinkTest, TheDescriptorKeepsItsNumberOverManyConnections) {
  ASSERT_TRUE(link_.connect());
  const int number = link_.fd();
  const int before = open_fds();
  for (int i = 0; i < 10; ++i) {
    daemon_.reset();
    EXPECT_EQ(send(), Sent::kGone);
    daemon_.emplace(path_);
    const Fd other(::dup(0));  // takes another number away each time
    ASSERT_TRUE(link_.connect());
    EXPECT_EQ(link_.fd(), number);
    EXPECT_NE(::fcntl(link_.fd(), F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_EQ(send(), Sent::kDone);
  }
  EXPECT_EQ(open_fds(), before);
}

TEST_F(LinkTest, DisconnectClosesIt) {
  const int before = open_fds();
  ASSERT_TRUE(link_.connect());
  EXPECT_EQ(open_fds(), before + 1);
  link_.disconnect();
  EXPECT_EQ(open_fds(), before);
  EXPECT_FALSE(link_.connected());
  EXPECT_EQ(send(), Sent::kGone);
}

// ---- programs that close what they did not open

TEST_F(LinkTest, ADescriptorThatTheProgramClosedIsGone) {
  ASSERT_TRUE(link_.connect());
  ::close(link_.fd());
  EXPECT_EQ(send(), Sent::kGone);
  EXPECT_FALSE(link_.connected());
  ASSERT_TRUE(link_.connect());
  EXPECT_EQ(send(), Sent::kDone);
}

TEST_F(LinkTest, AFileOfTheProgramInItsPlaceIsNeitherWrittenNorClosed) {
  ASSERT_TRUE(link_.connect());
  const FileOfTheProgram file(directory_ / "file", link_.fd());
  EXPECT_FALSE(link_.receive());
  EXPECT_EQ(send(), Sent::kGone);
  EXPECT_EQ(file.size(), 0);
  ASSERT_TRUE(link_.connect());
  EXPECT_EQ(send(), Sent::kDone);
  EXPECT_TRUE(daemon_->take());
  EXPECT_EQ(file.size(), 0);
  link_.disconnect();
  EXPECT_EQ(file.size(), 0);
}

TEST_F(LinkTest, AFileOfTheProgramInItsPlaceSurvivesDisconnect) {
  ASSERT_TRUE(link_.connect());
  const FileOfTheProgram file(directory_ / "file", link_.fd());
  link_.disconnect();
  EXPECT_EQ(file.size(), 0);
}

TEST_F(LinkTest, ASocketOfTheProgramInItsPlaceGetsNothing) {
  ASSERT_TRUE(link_.connect());
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
  const Fd far(pair[1]);
  const Fd near(::dup3(pair[0], link_.fd(), O_CLOEXEC));
  ::close(pair[0]);
  ASSERT_EQ(::send(far.get(), "for the program", 15, 0), 15);
  EXPECT_FALSE(link_.receive());
  EXPECT_EQ(send(), Sent::kGone);
  char byte;
  EXPECT_LT(::recv(far.get(), &byte, 1, 0), 0);
  EXPECT_EQ(::recv(near.get(), &byte, 1, 0), 1);
}

}  // namespace
}  // namespace tallyfs
