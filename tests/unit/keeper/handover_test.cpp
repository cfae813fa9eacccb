#include "fs/keeper/handover.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

namespace tallyfs {
namespace {

// Runs in another process, which ends with 0.
template <typename Do>
void in_a_child(Do what) {
  const pid_t child = ::fork();
  if (child == 0) {
    what();
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

DescriptorQueue queue() { return DescriptorQueue::create().value(); }

TEST(HandoverTest, BeginsEmpty) {
  const auto made = Handover::create();
  ASSERT_TRUE(made);
  EXPECT_EQ(made.value().servers(), 0u);
  EXPECT_EQ(made.value().init(), "");
}

TEST(HandoverTest, ShowsASuccessorWhatAServerLeft) {
  auto made = Handover::create();
  ASSERT_TRUE(made);
  Handover& handover = made.value();
  in_a_child([&] {
    handover.keep_init("the first request");
    handover.note_poll(7);
  });
  handover.note_end(9, 2, 1'000);
  in_a_child([&] { ::_exit(handover.init() == "the first request" ? 0 : 1); });
  EXPECT_EQ(handover.init(), "the first request");
  EXPECT_EQ(handover.servers(), 1u);
  EXPECT_EQ(handover.status(), 9);
  EXPECT_EQ(handover.failures(), 2);
  EXPECT_EQ(handover.ended_ns(), 1'000);
  EXPECT_EQ(handover.take_poll(7), 7u);
  EXPECT_EQ(handover.take_poll(7), 0u) << "taken once";
}

TEST(HandoverTest, KeepsTheLaterOfTwoPollsInOnePlace) {
  auto made = Handover::create();
  ASSERT_TRUE(made);
  made.value().note_poll(5);
  made.value().note_poll(5 + Handover::kPollsMax);
  EXPECT_EQ(made.value().take_poll(5), 5 + Handover::kPollsMax);
}

TEST(HandoverTest, DoesNotKeepARequestThatIsTooLong) {
  auto made = Handover::create();
  ASSERT_TRUE(made);
  made.value().keep_init(std::string(Handover::kInitBytesMax + 1, 'x'));
  EXPECT_EQ(made.value().init(), "");
  made.value().keep_init(std::string(Handover::kInitBytesMax, 'x'));
  EXPECT_EQ(made.value().init().size(), Handover::kInitBytesMax);
}

TEST(HandoverTest, HandsAStateOnOnce) {
  auto made = Handover::create();
  ASSERT_TRUE(made);
  Handover& handover = made.value();
  in_a_child([&] {
    if (!handover.append_state("the first ") || !handover.append_state("piece")) ::_exit(1);
    handover.finish_state();
  });
  EXPECT_EQ(handover.take_state().view(), "the first piece");
  EXPECT_EQ(handover.take_state().view(), "");
}

TEST(HandoverTest, HandsOnNoStateThatWasNotFinished) {
  auto made = Handover::create();
  ASSERT_TRUE(made);
  ASSERT_TRUE(made.value().append_state("half of it"));
  EXPECT_EQ(made.value().take_state().view(), "");
  ASSERT_TRUE(made.value().append_state("all"));
  made.value().finish_state();
  EXPECT_EQ(made.value().take_state().view(), "all");
}

TEST(HandoverTest, IsAdoptedByItsDescriptors) {
  auto made = Handover::create();
  ASSERT_TRUE(made);
  made.value().note_reload(5);
  made.value().keep_init("the first request");
  auto adopted = Handover::adopt(Fd(::dup(made.value().memory_fd())),
                                 Fd(::dup(made.value().state_fd())),
                                 Fd(::dup(made.value().kept_fd())), queue());
  ASSERT_TRUE(adopted);
  EXPECT_EQ(adopted.value().servers(), 1u);
  EXPECT_EQ(adopted.value().reloads(), 1u);
  EXPECT_TRUE(adopted.value().was_reload());
  EXPECT_EQ(adopted.value().init(), "the first request");
}

TEST(HandoverTest, AdoptsNothingElse) {
  EXPECT_FALSE(Handover::adopt(Fd(), Fd(), Fd(), queue()));
  Fd empty(::memfd_create("empty", MFD_CLOEXEC));
  EXPECT_FALSE(Handover::adopt(std::move(empty), Fd(), Fd(), queue()));
}

ino_t inode_of(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 ? status.st_ino : 0;
}

TEST(DescriptorQueueTest, HandsDescriptorsOnInTheirOrderWhenTheirProcessHasEnded) {
  constexpr std::size_t kDescriptors = 600;  // of several messages
  const DescriptorQueue made = queue();
  const Fd first(::memfd_create("first", MFD_CLOEXEC)), last(::memfd_create("last", MFD_CLOEXEC));
  in_a_child([&] {
    std::vector<int> all(kDescriptors, first.get());
    all.back() = last.get();
    if (!made.put(all)) ::_exit(1);
  });
  const auto other = DescriptorQueue::adopt(Fd(::dup(made.in())), Fd(::dup(made.out())));
  const std::vector<Fd> taken = other.value().take();
  ASSERT_EQ(taken.size(), kDescriptors);
  EXPECT_EQ(inode_of(taken.front().get()), inode_of(first.get()));
  EXPECT_EQ(inode_of(taken.back().get()), inode_of(last.get()));
  EXPECT_TRUE(made.take().empty()) << "taken once";
}

TEST(DescriptorQueueTest, TakesNothingOfNothing) {
  const DescriptorQueue made = queue();
  EXPECT_TRUE(made.put({}));
  EXPECT_TRUE(made.take().empty());
}

}  // namespace
}  // namespace tallyfs
