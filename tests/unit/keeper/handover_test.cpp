#include "fs/keeper/handover.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/attach.h"

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

using Requests = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

Requests taken(Handover& handover) {
  Requests all;
  for (const auto& each : handover.take_requests()) all.emplace_back(each.unique, each.crashes);
  return all;
}

TEST(HandoverTest, ShowsWithWhichRequestsAServerHasCrashed) {
  auto made = Handover::create();
  ASSERT_TRUE(made);
  Handover& handover = made.value();
  in_a_child([&] {
    handover.begin_request(0, {.unique = 4, .crashes = 1});
    handover.begin_request(1, {.unique = 6});
    handover.begin_request(7, {.unique = 8});
    handover.end_request(1);
  });
  handover.note_end(SIGABRT, 1, 1'000);
  EXPECT_EQ(taken(handover), (Requests{{4, 2}, {8, 1}}));
  EXPECT_EQ(taken(handover), Requests()) << "taken once";
}

TEST(HandoverTest, LeavesAnOutcomeToLaterServersUntilOneHasAnswered) {
  auto made = Handover::create();
  ASSERT_TRUE(made);
  Handover& handover = made.value();
  const auto outcomes = [&] {
    handover.note_end(SIGKILL, 0, 1'000);
    std::map<std::uint64_t, int> errors;
    for (const auto& each : handover.take_requests()) {
      if (each.error) errors[each.unique] = *each.error;
    }
    return errors;
  };
  using Errors = std::map<std::uint64_t, int>;
  handover.begin_request(2, {.unique = 4});
  handover.note_outcome(2, ENOENT);
  EXPECT_EQ(outcomes(), (Errors{{4, ENOENT}}));
  EXPECT_EQ(outcomes(), (Errors{{4, ENOENT}})) << "killed before it came again";
  handover.begin_request(2, {.unique = 6});
  handover.note_outcome(2, 0);
  EXPECT_EQ(outcomes(), (Errors{{4, ENOENT}, {6, 0}}));
  handover.forget_outcome(4);
  EXPECT_EQ(outcomes(), (Errors{{6, 0}}));
  handover.begin_request(2, {.unique = 8});
  EXPECT_EQ(outcomes(), (Errors{{6, 0}})) << "the last one has none";
}

TEST(HandoverTest, CountsNoKillAsACrash) {
  auto made = Handover::create();
  ASSERT_TRUE(made);
  made.value().begin_request(2, {.unique = 4, .crashes = 1});
  made.value().note_end(SIGKILL, 0, 1'000);
  EXPECT_EQ(taken(made.value()), (Requests{{4, 1}}));
}

TEST(HandoverTest, APageOfAnEarlierVersionHasNoRequests) {
  constexpr std::size_t kBytes = 33'088;
  auto made = Handover::create();
  ASSERT_TRUE(made);
  made.value().note_end(SIGABRT, 1, 1'000);
  std::array<char, kBytes> bytes;
  ASSERT_EQ(::pread(made.value().memory_fd(), bytes.data(), kBytes, 0), ssize_t{kBytes});
  Fd earlier(::memfd_create("earlier", MFD_CLOEXEC));
  ASSERT_EQ(::write(earlier.get(), bytes.data(), kBytes), ssize_t{kBytes});
  auto adopted = Handover::adopt(std::move(earlier), Fd(::dup(made.value().state_fd())), Fd(),
                                 queue());
  ASSERT_TRUE(adopted);
  EXPECT_EQ(adopted.value().servers(), 1u);
  adopted.value().begin_request(2, {.unique = 4});
  adopted.value().end_request(2);
  EXPECT_EQ(taken(adopted.value()), Requests());
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

TEST(DescriptorQueueTest, HoldsDescriptorsWhenTheirProcessHasEndedHoweverOftenOneLooks) {
  const DescriptorQueue made = queue();
  const Fd first(::memfd_create("first", MFD_CLOEXEC)), last(::memfd_create("last", MFD_CLOEXEC));
  in_a_child([&] {
    if (!made.hold(7, first.get()) || !made.hold(5, last.get())) ::_exit(1);
  });
  const auto other = DescriptorQueue::adopt(Fd(::dup(made.in())), Fd(::dup(made.out())));
  for (int look = 0; look < 3; ++look) {
    const auto held = other.value().look().held;
    ASSERT_EQ(held.size(), 2u);
    EXPECT_EQ(held[0].first, 5u);
    EXPECT_EQ(inode_of(held[0].second.get()), inode_of(last.get()));
    EXPECT_EQ(held[1].first, 7u);
    EXPECT_EQ(inode_of(held[1].second.get()), inode_of(first.get()));
  }
}

TEST(DescriptorQueueTest, LetsGoOfAllButSome) {
  const DescriptorQueue made = queue();
  std::vector<std::uint32_t> kept;
  {
    const Fd one(::memfd_create("one", MFD_CLOEXEC));
    for (std::uint32_t i = 0; i < 600; ++i) {  // some at a time: each is a message
      ASSERT_TRUE(made.hold(i, one.get())) << i;
      kept.push_back(i);
      if (i % 100 != 99) continue;
      ASSERT_TRUE(made.keep_only(kept));
    }
  }
  EXPECT_EQ(made.look().held.size(), 600u);
  EXPECT_TRUE(made.keep_only(std::span(kept).subspan(590)));
  const auto held = made.look().held;
  ASSERT_EQ(held.size(), 10u);
  EXPECT_EQ(held.front().first, 590u);
  EXPECT_TRUE(made.keep_only({}));
  EXPECT_TRUE(made.look().held.empty());
}

// A process that may not have as many files sees some of them, and lets go of none.
TEST(DescriptorQueueTest, ALimitOfFilesLetsGoOfNothingThatIsNamed) {
  const DescriptorQueue made = queue();
  std::vector<std::uint32_t> all;
  {
    const Fd one(::memfd_create("one", MFD_CLOEXEC));
    for (std::uint32_t i = 0; i < 200; ++i) {
      ASSERT_TRUE(made.hold(i, one.get()));
      all.push_back(i);
    }
  }
  ASSERT_TRUE(made.keep_only(all));  // they are few messages now
  in_a_child([&] {
    const Fd next(::memfd_create("next", MFD_CLOEXEC));
    rlimit few{};
    ::getrlimit(RLIMIT_NOFILE, &few);
    few.rlim_cur = static_cast<rlim_t>(next.get()) + 20;
    ::setrlimit(RLIMIT_NOFILE, &few);
    if (made.look().is_whole) ::_exit(2);
    (void)made.keep_only(std::span(all).subspan(100));
  });
  const auto look = made.look();
  EXPECT_TRUE(look.is_whole);
  EXPECT_GE(look.held.size(), 100u);
  EXPECT_TRUE(made.keep_only(std::span(all).subspan(100)));
  EXPECT_EQ(made.look().held.size(), 100u);
}

// A message of a byte, with a descriptor.
TEST(DescriptorQueueTest, WhatAnotherVersionHasPutThereIsPassedOverAndDropped) {
  const DescriptorQueue made = queue();
  const Fd one(::memfd_create("one", MFD_CLOEXEC));
  ASSERT_EQ(send_with(made.in(), "x", one.get()), 1);
  ASSERT_TRUE(made.hold(3, one.get()));
  const auto look = made.look();
  EXPECT_TRUE(look.is_whole);
  ASSERT_EQ(look.held.size(), 1u);
  EXPECT_EQ(look.held[0].first, 3u);
  const std::uint32_t kept[] = {3};
  ASSERT_TRUE(made.keep_only(kept));
  char first = 0;
  EXPECT_EQ(::recv(made.out(), &first, sizeof first, MSG_TRUNC | MSG_DONTWAIT), 4);
}

// It was killed between the two steps of letting go.
TEST(DescriptorQueueTest, ADescriptorThatIsThereTwiceIsFoundOnce) {
  const DescriptorQueue made = queue();
  const Fd one(::memfd_create("one", MFD_CLOEXEC));
  ASSERT_TRUE(made.hold(3, one.get()) && made.hold(3, one.get()));
  EXPECT_EQ(made.look().held.size(), 1u);
}

}  // namespace
}  // namespace tallyfs
