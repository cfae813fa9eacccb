#include "feeders/kernel/probe_faults.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "tests/unit/temporary_directory.h"

namespace tallyfs {
namespace {

const Error kRefusal{ErrorCode::kInvalid, "cannot write '1' to events/g_1/a_1/enable: No such"};

TEST(ProbeFaultsTest, AnOffsetBeyondTheFileIsNamedWithTheFilesBytes) {
  const TemporaryDirectory directory;
  const std::string path = directory / "program";
  std::ofstream(path) << std::string(100, 'x');
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0) << "it is cached from now on";
  const std::string inside = path + ":0x63 n=%di", end = path + ":0x64(0x8) n=%di";
  const std::string beyond =
      " is beyond the end of the file, which has 100 bytes: remove the probe";
  EXPECT_EQ(why_not_on({inside, end}, kRefusal), path + ":0x64(0x8)" + beyond);
  EXPECT_EQ(why_not_on({inside}, kRefusal),
            "the kernel does not turn on " + path + ":0x63: No such");
  EXPECT_EQ(why_not_on({}, {ErrorCode::kInvalid, "no"}), "the kernel does not turn on the probe");
}

TEST(ProbeFaultsTest, APlaceHasOneCounterInAllProbes) {
  const std::vector<RealProbe> probes = {
      {.group = "g", .event = "other", .text = "/nowhere/x:0x20"},
      {.group = "g", .event = "counted", .text = "/nowhere/x:0x0000000000000010(0x8) n=%di"}};
  EXPECT_EQ(counter_fault("/nowhere/x:16 n=%di", probes),
            "another probe is at this place, with the counter (0x8): write it behind the offset");
  EXPECT_TRUE(counter_fault("/nowhere/x:0x10(0x9)", probes));
  EXPECT_EQ(counter_fault("/nowhere/x:0x20(0x8)", probes),
            "another probe is at this place, without a counter");
  EXPECT_FALSE(counter_fault("/nowhere/x:0x10(8) n=%di", probes));
  EXPECT_FALSE(counter_fault("/nowhere/x:0x20", probes));
  EXPECT_FALSE(counter_fault("/nowhere/y:0x10", probes));
}

}  // namespace
}  // namespace tallyfs
