#include "feeders/kernel/woken_tasks.h"

#include <gtest/gtest.h>

namespace tallyfs {
namespace {

using Tasks = std::vector<pid_t>;

TEST(WokenTasksTest, ATaskThatIsSeenToComeNeedsNothingElse) {
  WokenTasks tasks;
  tasks.woken(10);
  tasks.switched(0, 0, 10);
  EXPECT_FALSE(tasks.ran(10));
  tasks.switched(0, 10, 0);
  EXPECT_EQ(tasks.unseen(), Tasks{});
}

TEST(WokenTasksTest, ATaskThatGoesOrActsWithoutHavingComeIsUnseen) {
  WokenTasks tasks;
  tasks.woken(20);
  tasks.switched(1, 20, 0);
  tasks.woken(10);
  EXPECT_TRUE(tasks.ran(10));
  EXPECT_FALSE(tasks.ran(10)) << "only the first time";
  tasks.woken(20);
  EXPECT_TRUE(tasks.ran(20));
  EXPECT_EQ(tasks.unseen(), (Tasks{10, 20}));
}

TEST(WokenTasksTest, ATaskThatIsWokenBeforeItHasGoneIsNotUnseen) {
  WokenTasks tasks;
  tasks.switched(2, 0, 10);
  tasks.woken(10);
  EXPECT_FALSE(tasks.ran(10));
  tasks.switched(2, 10, 0);
  EXPECT_EQ(tasks.unseen(), Tasks{});
}

TEST(WokenTasksTest, ConcludesNothingAcrossALoss) {
  WokenTasks tasks;
  tasks.woken(10);
  tasks.forget_woken();
  EXPECT_FALSE(tasks.ran(10));
}

TEST(WokenTasksTest, ForgetsTheUnseenWhenTheyAreTooMany) {
  WokenTasks tasks;
  for (pid_t task = 1; task <= static_cast<pid_t>(WokenTasks::kUnseenMax) + 1; ++task) {
    tasks.woken(task);
    EXPECT_TRUE(tasks.ran(task));
  }
  EXPECT_EQ(tasks.unseen(), Tasks{static_cast<pid_t>(WokenTasks::kUnseenMax) + 1});
}

TEST(WokenTasksTest, HoldsABoundedNumberOfTasks) {
  WokenTasks tasks;
  for (pid_t task = 1; task <= static_cast<pid_t>(WokenTasks::kTasksMax) + 1; ++task) {
    tasks.woken(task);
  }
  EXPECT_FALSE(tasks.ran(1));
  EXPECT_TRUE(tasks.ran(static_cast<pid_t>(WokenTasks::kTasksMax) + 1));
}

TEST(WokenTasksTest, IdleTasksAreNone) {
  WokenTasks tasks;
  tasks.woken(0);
  EXPECT_FALSE(tasks.ran(0));
}

}  // namespace
}  // namespace tallyfs
