#include "fs/session.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fuse.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace tallyfs {
namespace {

struct NoBarrier final : Barrier {
  using Barrier::drain_feeders;
  Timestamp drain_feeders(Subject, const std::function<void()>&) override { return {}; }
};

struct NoCounters final : DaemonCounters {
  void record(DaemonCounter, std::int64_t, std::uint64_t, Timestamp) override {}
};

// Counts how often it is read.
class CountingClock final : public Clock {
 public:
  Timestamp now() const override {
    ++reads_;
    return {};
  }
  int reads() const { return reads_; }

 private:
  mutable std::atomic<int> reads_{0};
};

struct ShortFile final : File {
  Result<std::string> render(const CallContext&, std::size_t) const override {
    return std::string("text\n");
  }
  Timestamp last_change(Timestamp) const override { return {}; }
  std::optional<std::uint64_t> version(Timestamp) const override { return 1; }
};

// Of a source that does not answer, say, or longer than any text that is open.
struct FailingFile final : File {
  explicit FailingFile(ErrorCode its_code) : code(its_code) {}
  Result<std::string> render(const CallContext&, std::size_t) const override {
    ++renders;
    return Error{code, "there is no text"};
  }
  Timestamp last_change(Timestamp) const override { return {}; }

  const ErrorCode code;
  mutable std::atomic<int> renders{0};
};

// The kernel's end of /dev/fuse, as a socket that keeps requests apart.
class Kernel {
 public:
  Kernel() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
    ours_ = Fd(ends[0]);
    theirs_ = Fd(ends[1]);
    const timeval limit{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(ours_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::fcntl(ours_.get(), F_SETFL, 0);
  }
  int device() const { return theirs_.get(); }
  template <typename Body>
  void send(std::uint32_t opcode, std::uint64_t unique, std::uint64_t node, const Body& body) {
    fuse_in_header header{};
    header.len = sizeof header + sizeof body;
    header.opcode = opcode;
    header.unique = unique;
    header.nodeid = node;
    std::array<char, sizeof header + sizeof body> bytes;
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + sizeof header, &body, sizeof body);
    ASSERT_EQ(::send(ours_.get(), bytes.data(), bytes.size(), 0), ssize_t(bytes.size()));
  }
  fuse_out_header receive() {
    std::array<char, 65'536> bytes{};
    fuse_out_header header{};
    const auto size = ::recv(ours_.get(), bytes.data(), bytes.size(), 0);
    EXPECT_GE(size, ssize_t(sizeof header)) << std::strerror(errno);
    if (size < ssize_t(sizeof header)) return header;
    std::memcpy(&header, bytes.data(), sizeof header);
    body_.assign(bytes.data() + sizeof header, std::size_t(size) - sizeof header);
    return header;
  }
  const std::string& body() const { return body_; }

 private:
  Fd ours_;
  Fd theirs_;
  std::string body_;
};

class SessionTest : public testing::Test {
 protected:
  // A server: its tree, its operations and its session.
  struct Server {
    explicit Server(SessionTest& of, NodeId first)
        : tree(of.clock_.now(), first),
          errors(of.clock_.now()),
          operations(Operations::Dependencies{tree, errors, counters, barrier, of.clock_}, {}, {}) {
      session = Session::create(operations, {.fd = of.kernel_.device(),
                                             .mount_options = {},
                                             .handover = &of.handover_,
                                             .take_away = [] {}})
                    .value();
      session->start([] {}, [] {});
    }

    Tree tree;
    ErrorLog errors;
    NoCounters counters;
    NoBarrier barrier;
    Operations operations;
    std::unique_ptr<Session> session;
  };

  void send_init(std::uint32_t flags2) {
    struct {
      std::uint32_t major = 7, minor = 38, max_readahead = 0, flags = protocol::kInitExt;
      std::uint32_t flags2 = 0;
      std::array<std::uint32_t, 11> unused{};
    } init;
    init.flags2 = flags2;
    kernel_.send(FUSE_INIT, 2, 0, init);
  }

  CountingClock clock_;
  Kernel kernel_;
  Handover handover_ = Handover::create().value();
};

TEST_F(SessionTest, ReplaysTheFirstRequestToASuccessorAndSwallowsTheReply) {
  {
    Server first(*this, Tree::kFirst);
    send_init(protocol::kHasResend);
    EXPECT_EQ(kernel_.receive().unique, 2u);
  }
  handover_.note_poll(77);
  handover_.note_end(0, 0, 0);
  Server second(*this, (NodeId{1} << 40) + Tree::kFirst);
  const fuse_out_header resend = kernel_.receive();
  EXPECT_EQ(resend.unique, 0u);
  EXPECT_EQ(resend.error, protocol::kNotifyResend);
  EXPECT_EQ(resend.len, sizeof resend);
  const fuse_out_header woken = kernel_.receive();
  EXPECT_EQ(woken.error, FUSE_NOTIFY_POLL);
  EXPECT_EQ(kernel_.body(), std::string("\x4d\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(kernel_.receive().error, FUSE_NOTIFY_INVAL_INODE);
  // It serves, with no INIT of its own. The node of the server before is looked up anew.
  kernel_.send(FUSE_GETATTR, 6, Tree::kRoot, fuse_getattr_in{});
  EXPECT_EQ(kernel_.receive().error, 0);
  kernel_.send(FUSE_GETATTR, 8, 20, fuse_getattr_in{});
  EXPECT_EQ(kernel_.receive().error, -ESTALE);
}

TEST_F(SessionTest, DoesNotAskForRequestsWhereTheKernelCannotSendThemAgain) {
  {
    Server first(*this, Tree::kFirst);
    send_init(0);
    EXPECT_EQ(kernel_.receive().unique, 2u);
  }
  handover_.note_end(0, 0, 0);
  Server second(*this, (NodeId{1} << 40) + Tree::kFirst);
  EXPECT_EQ(kernel_.receive().error, FUSE_NOTIFY_INVAL_INODE);
}

TEST_F(SessionTest, RefusesWhatIsSentAgainAfterSeveralCrashes) {
  {
    Server first(*this, Tree::kFirst);
    send_init(protocol::kHasResend);
    EXPECT_EQ(kernel_.receive().unique, 2u);
  }
  handover_.note_end(0, 3, 0);
  Server second(*this, (NodeId{1} << 40) + Tree::kFirst);
  EXPECT_EQ(kernel_.receive().error, protocol::kNotifyResend);
  EXPECT_EQ(kernel_.receive().error, FUSE_NOTIFY_INVAL_INODE);
  constexpr std::uint64_t kAgain = std::uint64_t{1} << 63 | 4;
  kernel_.send(FUSE_GETATTR, kAgain, Tree::kRoot, fuse_getattr_in{});
  const fuse_out_header refused = kernel_.receive();
  EXPECT_EQ(refused.unique, kAgain);
  EXPECT_EQ(refused.error, -EIO);
  kernel_.send(FUSE_GETATTR, 6, Tree::kRoot, fuse_getattr_in{});
  EXPECT_EQ(kernel_.receive().error, 0);
}

TEST_F(SessionTest, AnswersARemovalThatAKilledServerHasDone) {
  {
    Server first(*this, Tree::kFirst);
    send_init(protocol::kHasResend);
    EXPECT_EQ(kernel_.receive().unique, 2u);
  }
  handover_.begin_request(3, {.unique = 4});
  handover_.note_outcome(3, 0);
  handover_.begin_request(5, {.unique = 6});
  handover_.note_outcome(5, ENOENT);
  handover_.begin_request(6, {.unique = 8});
  handover_.note_end(SIGKILL, 0, 0);
  Server second(*this, (NodeId{1} << 40) + Tree::kFirst);
  EXPECT_EQ(kernel_.receive().error, protocol::kNotifyResend);
  EXPECT_EQ(kernel_.receive().error, FUSE_NOTIFY_INVAL_INODE);
  constexpr std::uint64_t kAgain = std::uint64_t{1} << 63;
  constexpr std::array kName{'x', '\0'};
  kernel_.send(FUSE_RMDIR, kAgain | 4, 20, kName);
  EXPECT_EQ(kernel_.receive().error, 0) << "of a node that is not there any more";
  kernel_.send(FUSE_UNLINK, kAgain | 6, 20, kName);
  EXPECT_EQ(kernel_.receive().error, -ENOENT);
  kernel_.send(FUSE_RMDIR, kAgain | 8, 20, kName);
  EXPECT_EQ(kernel_.receive().error, -ESTALE) << "it was not done";
}

// The log, `opens_refused` and tallyctl's advice on bounds are of ENFILE.
TEST_F(SessionTest, OnlyATextThatIsTooLongIsABoundOfOpenFiles) {
  Server server(*this, Tree::kFirst);
  send_init(0);
  EXPECT_EQ(kernel_.receive().unique, 2u);
  std::uint64_t unique = 2;
  // The error, and how often the text was asked for.
  using Tried = std::pair<int, int>;
  const auto tried = [&](std::uint32_t opcode, ErrorCode code, const auto& body) {
    const auto file = std::make_shared<FailingFile>(code);
    const std::string name = "file" + std::to_string(unique);
    const NodeId node = server.tree.add_file(Tree::kRoot, name, {0444}, file, {});
    kernel_.send(opcode, unique += 2, node, body);
    const int error = -kernel_.receive().error;
    return Tried(error, file->renders);
  };
  const fuse_open_in open{};
  EXPECT_EQ(tried(FUSE_OPEN, ErrorCode::kTimedOut, open), Tried(ETIMEDOUT, 1));
  EXPECT_EQ(tried(FUSE_OPEN, ErrorCode::kNoDevice, open), Tried(ENODEV, 1));
  EXPECT_EQ(tried(FUSE_OPEN, ErrorCode::kNoSpace, open), Tried(ENFILE, 2));
  EXPECT_EQ(tried(FUSE_GETATTR, ErrorCode::kTimedOut, fuse_getattr_in{}), Tried(0, 1));
}

// What the barrier gives is the time of the rest of the request.
TEST_F(SessionTest, ARequestReadsTheClockNoMoreThanItHasTo) {
  Server server(*this, Tree::kFirst);
  send_init(0);
  EXPECT_EQ(kernel_.receive().unique, 2u);
  const NodeId file =
      server.tree.add_file(Tree::kRoot, "data", {0444}, std::make_shared<ShortFile>(), {});
  std::uint64_t unique = 2;
  const auto reads_of = [&](std::uint32_t opcode, const auto& body) {
    const int before = clock_.reads();
    kernel_.send(opcode, unique += 2, file, body);
    EXPECT_EQ(kernel_.receive().error, 0);
    return clock_.reads() - before;
  };
  EXPECT_EQ(reads_of(FUSE_GETATTR, fuse_getattr_in{}), 0);
  EXPECT_EQ(reads_of(FUSE_OPEN, fuse_open_in{}), 1) << "File::opened() comes before the barrier";
  fuse_open_out opened{};
  ASSERT_GE(kernel_.body().size(), sizeof opened);
  std::memcpy(&opened, kernel_.body().data(), sizeof opened);
  fuse_read_in read{};
  read.fh = opened.fh;
  read.size = 100;
  EXPECT_EQ(reads_of(FUSE_READ, read), 0);
  EXPECT_EQ(kernel_.body(), "text\n");
  fuse_release_in release{};
  release.fh = opened.fh;
  EXPECT_EQ(reads_of(FUSE_RELEASE, release), 0);
}

}  // namespace
}  // namespace tallyfs
