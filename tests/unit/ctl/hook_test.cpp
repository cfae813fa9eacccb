// Commands of --run: their environment, their status, and their end.
#include "tools/ctl/hook.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace tallyfs {
namespace {

std::string reason_of(const std::string& command, const Environment& environment = {},
                      std::chrono::milliseconds longest = std::chrono::seconds(60)) {
  const auto done = run_hook(command, environment, longest);
  return done ? "" : done.error().reason;
}

TEST(HookTest, TheEnvironmentIsNoTextOfTheCommand) {
  const std::string name = "web/us{a:'; exit 9; \"$(exit 8)`exit 7`\n\x1b[31m}";
  ASSERT_EQ(::setenv("WANTED", name.c_str(), 1), 0);
  EXPECT_EQ(reason_of(R"([ "$TALLY_WHAT" = "$WANTED" ])", {{"TALLY_WHAT", name}}), "");
  EXPECT_EQ(reason_of(R"([ "$TALLY_WHAT" = "$WANTED" ])", {{"TALLY_WHAT", "other"}}),
            "--run: ended with status 1");
}

TEST(HookTest, ItsInputIsEmpty) { EXPECT_EQ(reason_of("! read line"), ""); }

// All of its group: what holds the pipe's other end has ended when read() finds the end.
TEST(HookTest, AfterItsTimeTheWholeGroupIsKilled) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  EXPECT_EQ(reason_of("sleep 1000 & sleep 1000", {}, std::chrono::milliseconds(50)),
            "--run: killed, as it ran for more than 50ms");
  ::close(ends[1]);
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 0);
  ::close(ends[0]);
}

}  // namespace
}  // namespace tallyfs
