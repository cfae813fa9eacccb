// Texts of sample rates beyond those of the golden file, and how a program's callback is called.
#include "core/stats3/blob/rates.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <string>

#include "tests/unit/stats3_blob/fixture.h"

namespace tallyfs::stats3::blob {
namespace {

constexpr std::uint32_t kHash = 77;

// What parsing a text gives where there is a template A with hash 77: nothing, or the error's code.
std::optional<ErrorCode> answer(std::string_view text) {
  const auto find = [](std::optional<std::string_view> name, std::uint32_t hash) {
    return (!name || *name == "A") && (hash == 0 || hash == kHash) ? 0 : -ESRCH;
  };
  const auto parsed = parse_rates(text, find);
  return parsed ? std::nullopt : std::optional(parsed.error().code);
}

TEST(RatesTest, AnswerAsFreeBsdDoes) {
  // The number and the sum are looked at before the template.
  for (const char* text : {"NOPE=101", "NOPE=x", "NOPE=", "NOPE=-1", "A=60,NOPE=50", "A=5 junk",
                           "A=-1", "=5", ":=5", "A"}) {
    EXPECT_EQ(answer(text), ErrorCode::kInvalid) << text;
  }
  for (const char* text : {"NOPE=1", "A=60,NOPE=40", ":0=5", "A:5x=5", "\"A\"x=5", "\"A\" =5",
                           "\"\"=5", ",A=5", "A:1=5", "A:99999999999=5"}) {
    EXPECT_EQ(answer(text), ErrorCode::kNoTemplate) << text;
  }
  for (const char* text : {"A= 5", "A=+5", "A:x=5", "\"A\":x=5", "A: 77=5", "\"A=5", "A\"=5",
                           "\"\":77=5", "A:77x=5", "A:+77=5", "A=5, ", "  ", ""}) {
    EXPECT_EQ(answer(text), std::nullopt) << text;
  }
}

TEST(RatesTest, EndAtTheirMostAndLookAtNothingBehindIt) {
  int asked = 0;
  const auto find = [&asked](std::optional<std::string_view>, std::uint32_t) { return asked++; };
  std::string text;
  for (int i = 0; i < 5'000; ++i) text += "A=0,";
  const auto parsed = parse_rates(text, find, 1'000);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(asked, 1'000);
}

// What a callback was called with.
struct Seen {
  stats_tpl_sr_cb_action action;
  bool has_rates, has_count;
  std::string context;
};
std::vector<Seen> g_seen;
stats_tpl_sample_rate g_two[] = {{0, 5}, {0, 6}};

int watch(stats_tpl_sr_cb_action action, stats_tpl_sample_rate** rates, int* count, void* context) {
  g_seen.push_back({action, rates != nullptr, count != nullptr,
                    context ? std::string(static_cast<char*>(context), 4) : "none"});
  if (context) std::memset(context, 'x', 4);
  if (action == TPL_SR_PUT) {
    std::free(std::exchange(*rates, nullptr));
  } else if (action != TPL_SR_RUNLOCK) {
    *rates = g_two;
    *count = 2;
  }
  return 0;
}

TEST(RatesCallbackTest, IsCalledAsFreeBsdCallsIt) {
  Fixture fixture;
  stats_tpl_alloc("A", 0);
  char old[256] = {};
  sysctl_req request{};
  request.oldptr = old;
  request.oldlen = sizeof old;
  request.newptr = "A=1";
  request.newlen = 3;
  g_seen.clear();
  ASSERT_EQ(stats_tpl_sample_rates(nullptr, reinterpret_cast<void*>(&watch), 4, &request), 0);
  ASSERT_EQ(g_seen.size(), 3u);
  EXPECT_EQ(g_seen[0].action, TPL_SR_RLOCKED_GET);
  EXPECT_EQ(g_seen[0].context, std::string(4, '\0'));
  EXPECT_EQ(g_seen[1].action, TPL_SR_RUNLOCK);
  EXPECT_TRUE(g_seen[1].has_rates && g_seen[1].has_count);
  EXPECT_EQ(g_seen[1].context, "xxxx");
  EXPECT_EQ(g_seen[2].action, TPL_SR_PUT);
}

TEST(RatesCallbackTest, IsAskedWithoutALockHowMuchThereMayBe) {
  Fixture fixture;
  sysctl_req probe{};
  g_seen.clear();
  ASSERT_EQ(stats_tpl_sample_rates(nullptr, reinterpret_cast<void*>(&watch), 0, &probe), 0);
  EXPECT_EQ(probe.oldidx, 2u * 82);
  ASSERT_EQ(g_seen.size(), 1u);
  EXPECT_EQ(g_seen[0].action, TPL_SR_UNLOCKED_GET);
}

TEST(RollTheDiceTest, RollsDifferentlyInEachChildOfAFork) {
  random_hundredth();
  std::set<std::string> rolls;
  constexpr int kChildren = 4, kRolls = 16;
  for (int child = 0; child < kChildren; ++child) {
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t pid = ::fork();
    if (pid == 0) {
      char roll[kRolls];
      for (char& each : roll) each = static_cast<char>(random_hundredth());
      ::_exit(::write(pipe[1], roll, kRolls) == kRolls ? 0 : 1);
    }
    char roll[kRolls] = {};
    EXPECT_EQ(::read(pipe[0], roll, kRolls), kRolls);
    ::close(pipe[0]);
    ::close(pipe[1]);
    ::waitpid(pid, nullptr, 0);
    rolls.insert(std::string(roll, kRolls));
  }
  EXPECT_EQ(rolls.size(), std::size_t{kChildren});
}

TEST(RollTheDiceTest, TakesASeedOfNoBytesAsASeed) {
  stats_tpl_sample_rate half[] = {{7, 50}};
  char nothing = 0;
  const int first = stats_tpl_sample_rollthedice(half, 1, &nothing, 0);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(stats_tpl_sample_rollthedice(half, 1, &nothing, 0), first);
}

}  // namespace
}  // namespace tallyfs::stats3::blob
