// What tallyctl probe reads of a mount: its refusals, and its probes.
#include "tools/ctl/probe_files.h"

#include <gtest/gtest.h>

#include "tools/ctl/known_probes.h"

namespace tallyfs {
namespace {

std::string entry(const std::string& time, const std::string& reason, const std::string& line) {
  const std::string command = "  Command: ";
  return "[" + time + "] probe: error: " + reason + "\n" + command + line + "\n" +
         std::string(command.size(), ' ') + "^\n";
}

TEST(ProbeFilesTest, TheReasonOfARefusalIsTheNewestOfItsLines) {
  const std::string log = entry("   97.500000", "no function f", "p:a /x:f") +
                          entry("  102.250000", "its fields are others now", "=:a") +
                          entry("  103.000000", "of another line", "=:b");
  EXPECT_EQ(newest_refusal(log, "=:a\np:a /x:f\n"), "its fields are others now\n  =:a\n  ^");
  EXPECT_EQ(newest_refusal(log, "p:a /x:f\n=:a\n"), "its fields are others now\n  =:a\n  ^");
  EXPECT_EQ(newest_refusal(log + entry("  104.000000", "no function f", "p:a /x:f"),
                           "=:a\np:a /x:f\n"),
            "no function f\n  p:a /x:f\n  ^");
  EXPECT_EQ(newest_refusal(log, "=:c"), "");
}

TEST(ProbeFilesTest, AnOffsetOfAFileThatHasGoneIsNotFoundAgain) {
  const auto probe_of = [](const std::string& line, const std::string& stale) {
    const auto json = parse_json(
        R"({"probes":[{"group":"uprobes","event":"a","kind":"entry","target":"program",)"
        R"("lines":[{"line":")" +
        line + R"(","places":[{"place":"/x:0x10","hits":7,"stale":)" + stale + "}]}]}]}");
    return known_probes(json.value()).at(0);
  };
  EXPECT_TRUE(probe_of("p:a /x:0x10", "true").is_lost);
  EXPECT_FALSE(probe_of("p:a /x:0x10", "false").is_lost);
  EXPECT_FALSE(probe_of("p:a /x:0x10", "null").is_lost);
  const KnownProbe named = probe_of("p:a /x:work n=$arg1", "true");
  EXPECT_TRUE(named.is_stale);
  EXPECT_FALSE(named.is_lost);
  EXPECT_EQ(named.program, "/x");
}

}  // namespace
}  // namespace tallyfs
