#include "feeders/kernel/kernel_filter.h"

#include <gtest/gtest.h>

namespace tallyfs {
namespace {

TEST(KernelFilterTest, NamesWhatTheKernelNamesOtherwise) {
  EXPECT_EQ(kernel_filter(R"(common_comm == "bash")"), R"(COMM == "bash")");
  EXPECT_EQ(kernel_filter(R"(!(common_comm~"k*")&&common_cpu<2||prio>common_cpu_max)"),
            R"(!(COMM~"k*")&&CPU<2||prio>common_cpu_max)");
}

TEST(KernelFilterTest, LeavesTextsAndAllElseAlone) {
  for (const char* const text :
       {"", "0", R"(comm == "common_comm")", R"(comm == 'a common_cpu "b' && pid != 7)",
        R"(next_comm ~ "*common_comm)", "common_pid == 0x12 && uncommon_comm & 3"}) {
    EXPECT_EQ(kernel_filter(text), text);
  }
}

}  // namespace
}  // namespace tallyfs
