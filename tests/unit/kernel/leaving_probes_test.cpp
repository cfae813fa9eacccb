#include "feeders/kernel/leaving_probes.h"

#include <gtest/gtest.h>

#include <string>

namespace tallyfs {
namespace {

using namespace std::chrono_literals;
using Activity = LeavingProbes::Activity;

class LeavingProbesTest : public testing::Test {
 protected:
  void add(std::size_t probes) {
    for (; probes > 0; --probes) leaving_.add(std::to_string(added_++), now_);
  }
  // What goes by itself in the next while, as the feeder looks every 100 ms.
  std::size_t go(std::chrono::seconds time) {
    std::size_t gone = 0;
    for (const auto end = now_ + time; now_ < end; now_ += 100ms) {
      while (leaving_.take_due(now_, Activity::kRecording)) {
        leaving_.note_removal(now_);
        ++gone;
      }
    }
    return gone;
  }

  LeavingProbes leaving_;
  LeavingProbes::Time now_ = 1h;
  std::size_t added_ = 0;
};

TEST_F(LeavingProbesTest, WhileNothingIsRecordedAllGo) {
  add(3);
  EXPECT_EQ(leaving_.take_due(now_, Activity::kIdle), "0");
  EXPECT_EQ(leaving_.take_due(now_, Activity::kIdle), "1");
  leaving_.put_back("1", now_);
  EXPECT_EQ(leaving_.take_due(now_, Activity::kIdle), "2");
  EXPECT_EQ(leaving_.take_due(now_, Activity::kIdle), std::nullopt);
  EXPECT_EQ(leaving_.next(Activity::kIdle), now_ + LeavingProbes::kTryAgain);
}

TEST_F(LeavingProbesTest, WhileSomethingIsRecordedTheyStayForSomeTime) {
  add(3);
  EXPECT_EQ(leaving_.next(Activity::kRecording), now_ + LeavingProbes::kStay);
  EXPECT_EQ(go(LeavingProbes::kStay), 0u);
  EXPECT_EQ(go(LeavingProbes::kApart), 1u);
  EXPECT_EQ(go(2 * LeavingProbes::kApart), 2u);
  EXPECT_FALSE(leaving_.next(Activity::kRecording));
}

TEST_F(LeavingProbesTest, WhatAnotherToolUsesIsTriedAgain) {
  leaving_.put_back("0", now_);
  EXPECT_EQ(leaving_.next(Activity::kRecording), now_ + LeavingProbes::kTryAgain);
}

// A script that makes, uses and removes probes beside another event.
TEST_F(LeavingProbesTest, EachBeyondEnoughGoesApart) {
  add(LeavingProbes::kEnough + 5);
  EXPECT_EQ(go(1min), 5u);
}

TEST_F(LeavingProbesTest, BeyondTheMostEachMakesRoom) {
  add(LeavingProbes::kMost);
  EXPECT_FALSE(leaving_.take_surplus(now_));
  leaving_.put_back("used elsewhere", now_);
  EXPECT_EQ(leaving_.take_surplus(now_), "0");
  EXPECT_FALSE(leaving_.take_surplus(now_));
}

}  // namespace
}  // namespace tallyfs
