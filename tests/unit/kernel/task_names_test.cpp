#include "feeders/kernel/task_names.h"

#include <gtest/gtest.h>

#include <map>

namespace tallyfs {
namespace {

TEST(TaskNamesTest, AreLookedForOnceAndThenAsTheyAreTold) {
  std::map<std::int32_t, int> looked;
  TaskNames names([&](std::int32_t pid) {
    looked[pid] += 1;
    return "task" + std::to_string(pid);
  });
  EXPECT_EQ(names.name(7), "task7");
  EXPECT_EQ(names.name(7), "task7");
  EXPECT_EQ(looked[7], 1);
  names.tell(7, "cat");
  EXPECT_EQ(names.name(7), "cat");
  names.tell(8, "a name of more than 15 bytes");
  EXPECT_EQ(names.name(8), "a name of more ");
  EXPECT_EQ(looked[8], 0);
  names.forget();
  EXPECT_EQ(names.name(7), "task7");
}

TEST(TaskNamesTest, TheIdleTaskIsTheSwapper) {
  TaskNames names([](std::int32_t) -> std::string { return "looked for"; });
  EXPECT_EQ(names.name(0), "swapper");
}

TEST(TaskNamesTest, ATaskThatIsGoneHasAnEmptyName) {
  TaskNames names([](std::int32_t) -> std::string { return ""; });
  EXPECT_EQ(names.name(7), "");
}

TEST(TaskNamesTest, OneMoreThanThereMayBeForgetsTheOthers) {
  std::size_t looked = 0;
  TaskNames names([&](std::int32_t) -> std::string {
    looked += 1;
    return "x";
  });
  for (std::int32_t pid = 1; pid <= static_cast<std::int32_t>(TaskNames::kTasksMax) + 1; ++pid) {
    (void)names.name(pid);
  }
  (void)names.name(1);
  EXPECT_EQ(looked, TaskNames::kTasksMax + 2);
}

TEST(TaskNamesTest, OfAWorkerWhatItWorksOnIsNotItsName) {
  EXPECT_EQ(task_name("kworker/u8:2-events_unbound\n"), "kworker/u8:2");
  EXPECT_EQ(task_name("kworker/0:1H+kblockd"), "kworker/0:1H");
  EXPECT_EQ(task_name("kworker/R-mld"), "kworker/R-mld");
  EXPECT_EQ(task_name("a-b+c\n"), "a-b+c");
}

}  // namespace
}  // namespace tallyfs
