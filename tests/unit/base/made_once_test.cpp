// Objects of the whole process that are made by their first user.
#include "core/base/made_once.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <thread>
#include <vector>

namespace tallyfs {
namespace {

struct Counted {
  explicit Counted(std::atomic<int>& alive) : alive_(alive) { alive_ += 1; }
  ~Counted() { alive_ -= 1; }

  std::atomic<int>& alive_;
};

TEST(MadeOnceTest, IsMadeByItsFirstUserAndStays) {
  std::atomic<int> alive{0};
  MadeOnce<Counted> once;
  EXPECT_EQ(nullptr, once.get());
  Counted& made = once.get_or([&] { return std::make_unique<Counted>(alive); });
  EXPECT_EQ(&made, once.get());
  EXPECT_EQ(&made, &once.get_or([]() -> std::unique_ptr<Counted> { throw 1; }));
  EXPECT_EQ(1, alive);
  delete &made;
}

TEST(MadeOnceTest, IsNotThereIfItCannotBeMade) {
  MadeOnce<Counted> once;
  EXPECT_THROW(once.get_or([]() -> std::unique_ptr<Counted> { throw 1; }), int);
  EXPECT_EQ(nullptr, once.get());
}

TEST(MadeOnceTest, ThreadsThatComeAtOnceGetTheSame) {
  constexpr int kThreads = 4;
  std::atomic<int> alive{0};
  MadeOnce<Counted> once;
  std::vector<Counted*> got(kThreads);
  // All have found nothing before the first object is there.
  std::barrier together(kThreads);
  {
    std::vector<std::jthread> threads;
    for (Counted*& each : got) {
      threads.emplace_back([&] {
        each = &once.get_or([&] {
          together.arrive_and_wait();
          return std::make_unique<Counted>(alive);
        });
      });
    }
  }
  for (const Counted* each : got) EXPECT_EQ(once.get(), each);
  EXPECT_EQ(1, alive);
  delete once.get();
}

}  // namespace
}  // namespace tallyfs
