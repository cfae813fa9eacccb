// The intake on a test stand: a socket in a directory of its own, feeders that send to it, and what
// is read of it, without a mount.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/stats3/branch/stats_branch.h"
#include "core/wire/binary.h"
#include "feeders/intake/intake.h"
#include "tests/unit/attach.h"
#include "tests/unit/fake_clock.h"
#include "tests/unit/receiving_socket.h"

namespace tallyfs {

// A feeder: connected, and bound to a name of the kernel's choice so that it can be answered.
class Feeder {
 public:
  explicit Feeder(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_un own{.sun_family = AF_UNIX, .sun_path = {}};
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&own), sizeof(sa_family_t)), 0);
    const sockaddr_un daemon = address_of(path);
    EXPECT_EQ(::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&daemon), sizeof daemon), 0);
  }
  void send(std::string_view bytes) {
    ASSERT_EQ(::send(fd_.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  // The responses of the next datagram, which must be there already; their reasons are as they were
  // received, until the next call.
  std::vector<wire::Response> responses() { return responses_of(fd_); }
  // The same of its channel, which went with a datagram.
  std::vector<wire::Response> responses_by_channel() { return responses_of(channel_); }
  void send_with_channel(std::string_view bytes) {
    std::array<int, 2> made{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, made.data()), 0);
    channel_ = Fd(made[0]);
    const Fd theirs(made[1]);
    ASSERT_EQ(send_with(fd_.get(), bytes, theirs.get()), static_cast<ssize_t>(bytes.size()));
  }
  // It is told once, without being asked, that its epoch is not the daemon's.
  void expect_stale() {
    const auto told = responses();
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told[0].sequence, 0u);
    EXPECT_EQ(told[0].error, static_cast<std::uint32_t>(ESTALE));
  }
  std::uint64_t epoch() const { return epoch_; }
  // What was attached to the last of them.
  const Fd& attached() const { return attached_; }

 private:
  std::vector<wire::Response> responses_of(const Fd& from) {
    std::vector<wire::Response> responses;
    const ssize_t size = receive(from);
    if (size < 0) return responses;
    auto reader =
        wire::DatagramReader::open(std::span(buffer_).first(static_cast<std::size_t>(size)));
    epoch_ = reader.value().epoch();
    while (const auto message = reader.value().next()) {
      responses.push_back(std::get<wire::Response>(message->value()));
    }
    return responses;
  }
  ssize_t receive(const Fd& from) {
    iovec part{buffer_.data(), buffer_.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    const ssize_t size = ::recvmsg(from.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    attached_.reset();
    const cmsghdr* const rights = size < 0 ? nullptr : CMSG_FIRSTHDR(&header);
    if (rights && rights->cmsg_type == SCM_RIGHTS) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(rights), sizeof fd);
      attached_.reset(fd);
    }
    return size;
  }

  Fd fd_;
  Fd channel_;
  Fd attached_;
  alignas(8) std::array<char, 16 * 1024> buffer_{};
  std::uint64_t epoch_ = 0;
};

class IntakeTest : public testing::Test {
 protected:
  explicit IntakeTest(BranchDependencies shared = {}) : shared_(std::move(shared)) {}
  // nullptr: there is no such interface.
  std::shared_ptr<File> file_of(std::string_view interface, std::string_view file = "data") {
    const auto directory = tree_.lookup(Tree::kRoot, "statistics").value();
    const auto found = tree_.lookup(directory.id, interface);
    if (!found) return nullptr;
    return tree_.file(tree_.lookup(found.value().id, file).value().id).value();
  }
  std::string read(std::string_view interface, std::string_view file = "data") {
    const auto found = file_of(interface, file);
    return found ? found->render(clock_.now(), 1 << 20).value() : "(no interface)";
  }
  std::uint64_t own(const std::string& name) {
    const std::string text = "\n" + read("tallyfs");
    return std::stoull(text.substr(text.find("\n" + name + " ") + name.size() + 2));
  }

  // The feeder learns the daemon's epoch.
  void meet(Feeder& feeder) {
    wire::DatagramWriter writer(0);
    writer.request(1, "create web");
    feeder.send(writer.bytes());
    intake_.drain_feeders();
    ASSERT_EQ(feeder.responses().size(), 1u);
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_ / "socket";
  FakeClock clock_;  // so that no turn ends early on a busy machine
  Tree tree_{clock_.now()};
  Ledger ledger_{Ledger::Limits{}};
  BranchDependencies shared_;  // of statistics_, until then
  statistics::StatisticsBranch statistics_{tree_, ledger_, ::geteuid(), clock_.now(),
                                           std::move(shared_)};
  stats3::StatsBranch subsystems_{tree_, ledger_, ::geteuid(), clock_.now()};
  ErrorLog errors_{clock_.now()};
  EventLoop loop_;
  FeedSocket socket_ = FeedSocket::bind({.path = path_}).value();
  const std::array<Branch*, 2> branches_{&statistics_, &subsystems_};
  Intake intake_{loop_, socket_, dependencies()};

  Dispatcher::Dependencies dependencies(Dispatcher::SharedPage switches = {}) {
    return {.statistics = statistics_,
            .branches = branches_,
            .errors = errors_,
            .clock = clock_,
            .switches = switches};
  }
};

}  // namespace tallyfs
