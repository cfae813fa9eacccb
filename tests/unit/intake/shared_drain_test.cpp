// Callers that wait for a drain share it.
#include "feeders/intake/shared_drain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace tallyfs {
namespace {

TEST(SharedDrainTest, ADrainBeginsAfterTheCallThatItIsFor) {
  SharedDrain drain;
  int drained = 0;
  for (int i = 1; i <= 3; ++i) {
    drain.join(nullptr, [&](const Subjects&) { ++drained; }, {});
    EXPECT_EQ(drained, i);
  }
}

TEST(SharedDrainTest, AllThatComeWhileOneRunsShareTheNext) {
  constexpr int kCallers = 20;
  SharedDrain drain;
  std::atomic<bool> may_end = false;
  std::atomic<int> begun = 0;
  std::atomic<int> waiting = 0;
  std::thread first([&] {
    drain.join(nullptr,
               [&](const Subjects&) {
                 begun = 1;
                 may_end.wait(false);
               },
               {});
  });
  while (begun == 0) std::this_thread::yield();
  std::vector<std::thread> others;
  for (int i = 0; i < kCallers; ++i) {
    others.emplace_back([&] {
      drain.join(
          nullptr, [&](const Subjects&) { ++begun; }, [&] { ++waiting; });
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
TEST(SharedDrainTest, ADrainIsForTheSubjectsOfItsCallers) {
  const int one = 1, two = 2;
  SharedDrain drain;
  std::atomic<bool> may_end = false;
  std::atomic<int> waiting = 0;
  std::vector<std::vector<Subject>> drained;  // one after the other
  const auto note = [&](const Subjects& of) {
    drained.emplace_back(of.few().begin(), of.few().end());
    std::ranges::sort(drained.back());
  };
  std::atomic<bool> has_begun = false;
  std::thread first([&] {
    drain.join(&one,
               [&](const Subjects& of) {
                 note(of);
                 has_begun = true;
                 may_end.wait(false);
               },
               {});
  });
  while (!has_begun) std::this_thread::yield();
  std::vector<std::thread> others;
  for (const int* const each : {&one, &two, &two}) {
    others.emplace_back([&, each] { drain.join(each, note, [&] { ++waiting; }); });
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
TEST(SharedDrainTest, EachCallerGetsADrainForItsSubjectThatBeganAfterItsCall) {
  constexpr int kCallers = 4;
  constexpr int kCallsOfEach = 20'000;
  std::array<int, kCallers> subjects{};
  std::array<std::atomic<int>, kCallers> given{}, taken{};
  SharedDrain drain;
  const auto take = [&](const Subjects& of) {
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
        drain.join(&subjects[i], take, {});
        if (taken[i] != call) ++missed;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(missed, 0);
}

TEST(SubjectsTest, MoreThanAFewAreAnything) {
  std::array<int, Subjects::kFew + 1> things{};
  SharedSubjects shared;
  for (std::size_t i = 0; i < Subjects::kFew; ++i) {
    shared.add(&things[i]);
    shared.add(&things[0]);
  }
  Subjects few = shared.take();
  EXPECT_FALSE(few.are_anything());
  EXPECT_EQ(few.few().size(), Subjects::kFew);
  few.add(&things[Subjects::kFew]);
  EXPECT_TRUE(few.are_anything());
  EXPECT_TRUE(shared.take().few().empty());
  for (int& each : things) shared.add(&each);
  EXPECT_TRUE(shared.take().are_anything());
  shared.add(nullptr);
  EXPECT_TRUE(shared.take().are_anything());
  EXPECT_FALSE(shared.take().are_anything());
}

}  // namespace
}  // namespace tallyfs
