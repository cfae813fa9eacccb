#include "program/sock_diag/socket_dump.h"

#include <gtest/gtest.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/socket.h>

#include <random>
#include <string>
#include <vector>

#include "tests/unit/program_sock_diag/messages.h"

namespace tallyfs {
namespace {

using State = SocketDump::State;

struct Seen {
  SocketDump::Visit visit() {
    return [this](std::span<const char> message) {
      messages.emplace_back(message.data(), message.size());
    };
  }
  std::vector<std::string> messages;
};

TEST(SocketDumpTest, VisitsEachSocketAndTellsTheLast) {
  Seen seen;
  const std::string one = message(SOCK_DIAG_BY_FAMILY, "one.");
  EXPECT_EQ(SocketDump::read(one + message(NLMSG_NOOP, "----") + one, seen.visit()).value(),
            State::kGoesOn);
  EXPECT_EQ(seen.messages, (std::vector<std::string>{"one.", "one."}));
  EXPECT_EQ(SocketDump::read(one + message(NLMSG_DONE, "") + one, seen.visit()).value(),
            State::kDone);
  EXPECT_EQ(seen.messages.size(), 3u);
  EXPECT_EQ(SocketDump::read({}, seen.visit()).value(), State::kGoesOn);
}

TEST(SocketDumpTest, TellsTheKernelsError) {
  Seen seen;
  nlmsgerr error{};
  error.error = -EINVAL;
  const auto done = SocketDump::read(message(NLMSG_ERROR, bytes_of(error)), seen.visit());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().reason, "sock_diag: Invalid argument");
}

TEST(SocketDumpTest, RefusesWhatIsNoMessage) {
  Seen seen;
  EXPECT_FALSE(SocketDump::read(std::string(64, '\0'), seen.visit()));  // a length of 0
  EXPECT_FALSE(SocketDump::read(std::string(64, '\x7f'), seen.visit()));
  EXPECT_TRUE(seen.messages.empty());
}

TEST(SocketDumpTest, WhatTheSystemRefusesIsTold) {
  SocketDump dump;
  unix_diag_req request{};
  request.sdiag_family = 255;
  Seen seen;
  const auto done = dump.ask(request, seen.visit());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().reason.substr(0, 11), "sock_diag: ");
}

TEST(SocketDumpTest, StaysWithinWhateverBytesItIsGiven) {
  const std::string whole =
      message(SOCK_DIAG_BY_FAMILY, "head" + attribute(1, "\1") + attribute(2, "value")) +
      message(NLMSG_DONE, "");
  std::mt19937 random(3);
  for (int round = 0; round < 20'000; ++round) {
    std::string damaged = whole.substr(0, random() % (whole.size() + 1));
    for (unsigned i = random() % 4; i > 0 && !damaged.empty(); --i) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    // Of its very size, for AddressSanitizer.
    const std::vector<char> exactly(damaged.begin(), damaged.end());
    std::size_t attributes = 0;
    (void)SocketDump::read(exactly, [&](std::span<const char> body) {
      each_attribute(body, 4, [&](auto, std::span<const char> value) {
        attributes += value.size() <= whole.size();
      });
    });
    EXPECT_LE(attributes, whole.size() / sizeof(nlattr)) << "round " << round << " of seed 3";
  }
}

}  // namespace
}  // namespace tallyfs
