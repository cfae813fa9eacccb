// Descriptors of others are closed, and none is waited for.
#include "feeders/intake/descriptor_closer.h"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "core/base/descriptor_numbers.h"
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

// ThreadSanitizer sees no close of that process, and took this for a race.
TEST(DescriptorCloserTest, AnotherThreadMayHaveTheNumberNext) {
  DescriptorCloser closer;
  std::atomic<bool> is_closed{false};
  int number = -1;
  std::thread next([&] {
    while (!is_closed.load(std::memory_order_relaxed)) std::this_thread::yield();
    number = opened_unseen(::openat(AT_FDCWD, "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)).release();
    ::closedir(::fdopendir(number));
  });
  auto [ours, theirs] = pair();
  const int closed = theirs.get();
  closer.close(std::move(theirs));
  EXPECT_TRUE(sees_its_end(ours));
  is_closed.store(true, std::memory_order_relaxed);
  next.join();
  EXPECT_EQ(number, closed);
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
