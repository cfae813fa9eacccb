// Callers that wait for a drain share it.
#include "feeders/intake/shared_drain.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace tallyfs {
namespace {

TEST(SharedDrainTest, ADrainBeginsAfterTheCallThatItIsFor) {
  SharedDrain drain;
  int drained = 0;
  for (int i = 1; i <= 3; ++i) {
    drain.join([&] { ++drained; }, {});
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
    drain.join(
        [&] {
          begun = 1;
          may_end.wait(false);
        },
        {});
  });
  while (begun == 0) std::this_thread::yield();
  std::vector<std::thread> others;
  for (int i = 0; i < kCallers; ++i) {
    others.emplace_back([&] { drain.join([&] { ++begun; }, [&] { ++waiting; }); });
  }
  while (waiting < kCallers) std::this_thread::yield();
  EXPECT_EQ(begun, 1);
  may_end = true;
  may_end.notify_all();
  first.join();
  for (std::thread& other : others) other.join();
  EXPECT_EQ(begun, 2);
}

}  // namespace
}  // namespace tallyfs
