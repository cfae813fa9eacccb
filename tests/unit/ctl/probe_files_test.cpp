// What tallyctl probe reads of a mount: its refusals, and its probes.
#include "tools/ctl/probe_files.h"

#include <gtest/gtest.h>

#include "tools/ctl/known_probes.h"
#include "tools/ctl/probe_checks.h"

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
  EXPECT_EQ(
      newest_refusal(log + entry("  104.000000", "no function f", "p:a /x:f"), "=:a\np:a /x:f\n"),
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

TEST(ProbeFilesTest, AProbeThatIsLeavingIsNoneOfTheMountsOwn) {
  const auto json = parse_json(
      R"({"probes":[],"leaving":[{"event":"a","target":"program","places":[)"
      R"({"place":"/x:0x10","hits":7},{"place":"/y:0x20","hits":5}]},)"
      R"({"event":"b","target":"kernel","places":[{"place":"vfs_read","hits":1}]}]})");
  EXPECT_TRUE(known_probes(json.value()).empty());
  const auto leaving = leaving_probes(json.value());
  ASSERT_EQ(leaving.size(), 1u);
  EXPECT_EQ(leaving[0].event, "a");
  EXPECT_EQ(leaving[0].program, "/x");
  EXPECT_EQ(leaving[0].places, 2u);
  EXPECT_EQ(leaving[0].hits, std::optional<std::uint64_t>(12));
  EXPECT_TRUE(note_of(leaving[0]).starts_with("leaving: ")) << note_of(leaving[0]);
  EXPECT_TRUE(leaving_probes(parse_json(R"({"probes":[],"leaving":null})").value()).empty());
}

KnownProbe probe(const std::string& event) {
  return {.event = event, .program = "/x", .lines = {}};
}

std::string text_of(const Findings& findings) {
  std::string text;
  for (const Finding& each : findings) {
    text.append(each.level == Level::kOk        ? "ok "
                : each.level == Level::kWarning ? "WARN "
                                                : "FAIL ");
    text.append(each.text).append(each.advice.empty() ? "" : "; do: ").append(each.advice + "\n");
  }
  return text;
}

TEST(ProbeChecksTest, ProbesWithoutAFaultAreCounted) {
  EXPECT_EQ(text_of(check_probes({.tracefs = "on"}, {}, {})), "ok 0\n");
  EXPECT_EQ(text_of(check_probes({.tracefs = "on"}, {probe("u/a"), probe("u/b")}, {})), "ok 2\n");
}

TEST(ProbeChecksTest, EachKindOfFaultHasItsProbesAndWhatToDo) {
  std::vector<KnownProbe> known;
  for (const char* const name : {"u/a", "u/b", "u/c", "u/d", "u/e"}) known.push_back(probe(name));
  for (std::size_t i = 0; i < 4; ++i) known[i].is_stale = true;
  EXPECT_EQ(text_of(check_probes({}, known, {})),
            "WARN 4 (u/a, u/b, u/c, ...) stale: their programs were replaced, and the new ones are "
            "not probed; do: tallyctl probe renew NAME\n");
  known[0].is_lost = true;
  known[4].is_whole = false;
  const std::string text = text_of(check_probes({}, known, {"tallyfs_4711_99"}));
  EXPECT_NE(text.find("WARN 1 (u/a) stale, by offset: "), text.npos) << text;
  EXPECT_NE(text.find("WARN 3 (u/b, u/c, u/d) stale: "), text.npos) << text;
  EXPECT_NE(text.find("WARN 1 (u/e) without a place"), text.npos) << text;
  EXPECT_NE(text.find("WARN 1 (tallyfs_4711_99) left in the kernel"), text.npos) << text;
  EXPECT_NE(text.find("do: tally-feed-tracefs --remove-orphans"), text.npos) << text;
}

TEST(ProbeChecksTest, ProbesWithoutTheirFeederAreAFailure) {
  EXPECT_EQ(text_of(check_probes({.tracefs = "lost"}, {probe("u/a")}, {})),
            "FAIL 1 count nothing: their feeder has ended; do: tallyctl errors says why; mount as "
            "root with -o tracefs\n");
  EXPECT_EQ(text_of(check_probes({.tracefs = "lost"}, {}, {})), "ok 0\n");
}

TEST(ProbeChecksTest, ProbesThatAreLeavingAreNoFault) {
  std::vector<KnownProbe> known{probe("u/a"), probe("b")};
  known[1].is_leaving = true;
  EXPECT_EQ(text_of(check_probes({}, known, {})),
            "ok 1 (b) leaving: they were removed, and the kernel has them until nothing is "
            "recorded, or for ten minutes\n");
}

TEST(ProbeChecksTest, ProbesThatACommandHasLeftAreNoFault) {
  std::vector<KnownProbe> known{probe("tallyctl_4711/calls")};
  known[0].is_left_over = true;
  EXPECT_EQ(check_probes({}, known, {}).at(0).level, Level::kOk);
  EXPECT_EQ(check_probes({}, known, {}).at(0).text,
            "1 (tallyctl_4711/calls) of commands that have ended");
}

}  // namespace
}  // namespace tallyfs
