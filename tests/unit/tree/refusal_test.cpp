#include "core/tree/refusal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/base/text.h"
#include "core/tree/error_history.h"
#include "core/tree/error_log.h"
#include "tests/unit/allocated.h"
#include "tests/unit/fake_clock.h"
#include "tests/unit/random.h"

namespace tallyfs {
namespace {

// As it was made when a refusal came, of the whole line.
Refusal::Shown shown_of_whole(std::string_view line, std::size_t at) {
  constexpr std::size_t kBehind = 2;
  Refusal::Shown made;
  made.column = append_escaped(made.text, line, Refusal::kTextBytes, at);
  made.column += std::min(at - std::min(at, line.size()), kBehind);
  return made;
}

// With letters, controls, bytes of no character, and characters of two and three bytes.
std::string random_line(Random& random) {
  constexpr std::string_view kPieces[] = {"a",  "web/us", " ", "\x01", "\xff",
                                          "\\", "µ",      "€", "\xe2"};
  std::string line;
  for (auto size = random.below(400); line.size() < size;) {
    line += kPieces[random.below(std::size(kPieces))];
  }
  return line;
}

TEST(RefusalTest, ShowsOfTheFirstBytesWhatTheWholeLineWouldShow) {
  Random random;
  Refusal refusal;
  for (int i = 0; i < 20'000; ++i) {
    const std::string line = random_line(random);
    const auto at = static_cast<std::size_t>(random.below(line.size() + 6));
    refusal.set({.where = "here", .line = line}, "no good", at);
    const Refusal::Shown shown = refusal.shown();
    const Refusal::Shown whole = shown_of_whole(line, at);
    ASSERT_EQ(shown.text, whole.text) << random.seed();
    ASSERT_EQ(shown.column, whole.column) << random.seed() << " " << line.size() << " " << at;
  }
}

TEST(RefusalTest, NamesTheSenderOfADatagram) {
  FakeClock clock;
  ErrorHistory history("e", 1000, clock.now());
  ErrorLog log(clock.now(), &history);
  log.report_sent(1000, {.line = "web/us x", .process = 17}, "no good", 7, clock.now());
  EXPECT_EQ(log.render(clock.now(), 1 << 20).value(),
            "[0.000000] socket pid 17 uid 1000: error: no good\n"
            "  Command: web/us x\n"
            "                  ^\n");
  const std::string all = history.render(clock.now(), 1 << 20).value();
  EXPECT_NE(all.find("\"where\":\"socket pid 17 uid 1000\""), std::string::npos) << all;
}

// A flood of them is to cost little more than good lines.
TEST(RefusalTest, OneMoreOfAFloodAllocatesNothing) {
  FakeClock clock;
  ErrorHistory history("e", 1000, clock.now());
  ErrorLog log(clock.now(), &history);
  const auto report = [&](int times) {
    for (int i = 0; i < times; ++i) {
      log.report_sent(65534, {.line = "a line that is no sample and no command", .process = 17},
                      "a reason that is longer than a short one", 2, clock.now());
    }
  };
  report(2 * ErrorHistory::kEntries);
  const std::size_t before = allocated_bytes();
  report(1000);
  EXPECT_EQ(allocated_bytes(), before);
}

}  // namespace
}  // namespace tallyfs
