// Descriptors of others are closed, and none is waited for.
#include "feeders/intake/descriptor_closer.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>

#include "tests/unit/intake/lingering.h"

namespace tallyfs {
namespace {

std::pair<Fd, Fd> pair() {
  std::array<int, 2> made{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, made.data()), 0);
  return {Fd(made[0]), Fd(made[1])};
}

// Waits for that.
bool sees_its_end(const Fd& fd) {
  char byte = 0;
  return ::recv(fd.get(), &byte, 1, 0) == 0;
}

TEST(DescriptorCloserTest, ClosesInAProcessOfItsOwn) {
  DescriptorCloser closer;
  closer.close(Fd());
  for (int i = 0; i < 3; ++i) {
    auto [ours, theirs] = pair();
    closer.close(std::move(theirs));
    EXPECT_TRUE(sees_its_end(ours));
  }
}

TEST(DescriptorCloserTest, AtItsEndAllAreClosed) {
  auto [ours, theirs] = pair();
  DescriptorCloser().close(std::move(theirs));
  EXPECT_TRUE(sees_its_end(ours));
}

TEST(DescriptorCloserTest, WhileACloseWaitsNobodyElseDoesAndSoManyMayCome) {
  DescriptorCloser closer;
  Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::listen(listener.get(), 8), 0);
  const auto begun = std::chrono::steady_clock::now();
  closer.close(lingering_connection(listener));
  auto [ours, theirs] = pair();
  for (std::size_t i = 1; i < DescriptorCloser::kWaitingMax; ++i) {
    ASSERT_TRUE(closer.may_receive(1)) << i;
    closer.close(Fd(::dup(theirs.get())));
  }
  EXPECT_FALSE(closer.may_receive(1));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(5));
  theirs.reset();
  listener.reset();  // which resets the connection
  EXPECT_TRUE(sees_its_end(ours)) << "the wait has ended, and the others are closed";
  while (!closer.may_receive(DescriptorCloser::kWaitingMax)) ::usleep(100);
}

}  // namespace
}  // namespace tallyfs
