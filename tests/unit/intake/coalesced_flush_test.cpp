// Callers that wait for a drain share it.
#include "feeders/intake/fair_share/coalesced_flush.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace tallyfs {
namespace {

TEST(CoalescedFlushTest, ADrainBeginsAfterTheCallThatItIsFor) {
  CoalescedFlush drain;
  int drained = 0;
  for (int i = 1; i <= 3; ++i) {
    drain.wait_for(nullptr, [&](const InterfaceFilter&) { ++drained; }, {});
    EXPECT_EQ(drained, i);
  }
}

TEST(CoalescedFlushTest, AllThatComeWhileOneRunsShareTheNext) {
  constexpr int kCallers = 20;
  CoalescedFlush drain;
  std::atomic<bool> may_end = false;
  std::atomic<int> begun = 0;
  std::atomic<int> waiting = 0;
  std::thread first([&] {
    drain.wait_for(nullptr,
                   [&](const InterfaceFilter&) {
                     begun = 1;
                     may_end.wait(false);
                   },
                   {});
  });
  while (begun == 0) std::this_thread::yield();
  std::vector<std::thread> others;
  for (int i = 0; i < kCallers; ++i) {
    others.emplace_back([&] {
      drain.wait_for(
          nullptr, [&](const InterfaceFilter&) { ++begun; }, [&] { ++waiting; });
    });
  }
  while (waiting < kCallers) std::this_thread::yield();
  EXPECT_EQ(begun, 1);
  may_end = true;
  may_end.notify_all();
  first.join();
  for (std::thread& other : others) other.join();
  EXPECT_EQ(begun, 2);
}

// Those of all callers that wait for it, and of no others.
TEST(CoalescedFlushTest, ADrainIsForTheSubjectsOfItsCallers) {
  const int one = 1, two = 2;
  CoalescedFlush drain;
  std::atomic<bool> may_end = false;
  std::atomic<int> waiting = 0;
  std::vector<std::vector<Subject>> drained;  // one after the other
  const auto note = [&](const InterfaceFilter& of) {
    drained.emplace_back(of.few().begin(), of.few().end());
    std::ranges::sort(drained.back());
  };
  std::atomic<bool> has_begun = false;
  std::thread first([&] {
    drain.wait_for(&one,
                   [&](const InterfaceFilter& of) {
                     note(of);
                     has_begun = true;
                     may_end.wait(false);
                   },
                   {});
  });
  while (!has_begun) std::this_thread::yield();
  std::vector<std::thread> others;
  for (const int* const each : {&one, &two, &two}) {
    others.emplace_back([&, each] { drain.wait_for(each, note, [&] { ++waiting; }); });
  }
  while (waiting < 3) std::this_thread::yield();
  may_end = true;
  may_end.notify_all();
  first.join();
  for (std::thread& other : others) other.join();
  std::vector<Subject> both{&one, &two};
  std::ranges::sort(both);
  ASSERT_EQ(drained.size(), 2u);
  EXPECT_EQ(drained[0], std::vector<Subject>{&one});
  EXPECT_EQ(drained[1], both);
}

// However many begin and end while it calls.
TEST(CoalescedFlushTest, EachCallerGetsADrainForItsSubjectThatBeganAfterItsCall) {
  constexpr int kCallers = 4;
  constexpr int kCallsOfEach = 20'000;
  std::array<int, kCallers> subjects{};
  std::array<std::atomic<int>, kCallers> given{}, taken{};
  CoalescedFlush drain;
  const auto take = [&](const InterfaceFilter& of) {
    for (std::size_t i = 0; i < kCallers; ++i) {
      const auto few = of.few();
      if (std::ranges::find(few, &subjects[i]) != few.end()) taken[i] = given[i].load();
    }
  };
  std::atomic<int> missed = 0;
  std::vector<std::thread> callers;
  for (std::size_t i = 0; i < kCallers; ++i) {
    callers.emplace_back([&, i] {
      for (int call = 1; call <= kCallsOfEach; ++call) {
        given[i] = call;
        drain.wait_for(&subjects[i], take, {});
        if (taken[i] != call) ++missed;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(missed, 0);
}

TEST(SubjectsTest, MoreThanAFewAreAnything) {
  std::array<int, InterfaceFilter::kFew + 1> things{};
  SharedInterfaceFilter shared;
  for (std::size_t i = 0; i < InterfaceFilter::kFew; ++i) {
    shared.add(&things[i]);
    shared.add(&things[0]);
  }
  InterfaceFilter few = shared.take();
  EXPECT_FALSE(few.is_all());
  EXPECT_EQ(few.few().size(), InterfaceFilter::kFew);
  few.add(&things[InterfaceFilter::kFew]);
  EXPECT_TRUE(few.is_all());
  EXPECT_TRUE(shared.take().few().empty());
  for (int& each : things) shared.add(&each);
  EXPECT_TRUE(shared.take().is_all());
  shared.add(nullptr);
  EXPECT_TRUE(shared.take().is_all());
  EXPECT_FALSE(shared.take().is_all());
}

}  // namespace
}  // namespace tallyfs
