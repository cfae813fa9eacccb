#include "feeders/kernel/own_filter.h"

#include <gtest/gtest.h>

#include "tests/unit/kernel_formats.h"

namespace tallyfs {
namespace {

tracing::TaskFields fields_of(std::string_view system, const char* format) {
  return tracing::TaskFields::of(system, tracing::parse_event_format(format).value());
}

TEST(OwnFilterTest, LeavesOutWhatThreadsDoButNotWhatInterruptsDoMeanwhile) {
  EXPECT_EQ(filter_without(fields_of("raw_syscalls", kSysExit), {7}),
            "(common_pid!=7)||common_flags&24");
}

TEST(OwnFilterTest, LeavesOutWhatIsAboutThreads) {
  EXPECT_EQ(filter_without(fields_of("sched", kSchedWakeup), {7}),
            "((common_pid!=7)||common_flags&24)&&(pid!=7)");
  EXPECT_EQ(filter_without(fields_of("other", kSchedWakeup), {7}),
            "(common_pid!=7)||common_flags&24")
      << "pid may be anything";
}

TEST(OwnFilterTest, LeavesOutASwitchFromOneThreadToAnother) {
  EXPECT_EQ(filter_without(fields_of("sched", kSchedSwitch), {7}), "(next_pid!=7)||(prev_pid!=7)");
}

TEST(OwnFilterTest, PutsNeighboursIntoOneCondition) {
  EXPECT_EQ(filter_without(fields_of("raw_syscalls", kSysExit), {9, 7, 8, 20, 30, 31}),
            "((common_pid<7||common_pid>9)&&common_pid!=20&&(common_pid<30||common_pid>31))"
            "||common_flags&24");
}

TEST(OwnFilterTest, GoesByTheThreadAloneForAUprobe) {
  EXPECT_EQ(
      filter_without(
          tracing::TaskFields::of_uprobe(tracing::parse_event_format(kSchedWakeup).value()), {7}),
      "common_pid!=7");
}

TEST(OwnFilterTest, IsEmptyWithoutThreads) {
  EXPECT_EQ(filter_without(fields_of("sched", kSchedSwitch), {}), "");
  EXPECT_EQ(filter_without({}, {7}), "") << "and without fields";
}

TEST(OwnFilterTest, AddsToAUsersFilter) {
  EXPECT_EQ(both_filters("", ""), "");
  EXPECT_EQ(both_filters("prio<100", ""), "prio<100");
  EXPECT_EQ(both_filters("", "pid!=7"), "pid!=7");
  EXPECT_EQ(both_filters("a==1||b==2", "pid!=7"), "(a==1||b==2)&&(pid!=7)");
}

}  // namespace
}  // namespace tallyfs
