#include "feeders/text/refusal_log.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace tallyfs {
namespace {

using namespace std::chrono_literals;

std::string repeated(const std::string& text, int count) {
  std::string out;
  while (count-- > 0) out += text;
  return out;
}

TEST(RefusalLogTest, LogsOneLineASecondAndCountsTheOthers) {
  RefusalLog log;
  EXPECT_TRUE(log.may_log(10s));
  EXPECT_EQ(log.take_left_out(), "");
  EXPECT_FALSE(log.may_log(10s));
  EXPECT_FALSE(log.may_log(10s + 999ms));
  EXPECT_TRUE(log.may_log(11s));
  EXPECT_EQ(log.take_left_out(), " (and 2 more before)");
  EXPECT_EQ(log.take_left_out(), "");
}

TEST(RefusalLogTest, MarksThePlaceInABoundedPartOfTheLine) {
  const std::string line = std::string(1'000, 'a') + "x\x1b" + std::string(1'000, 'b');
  EXPECT_EQ(to_text({"app.log", "value", "no number", 1'000}, line),
            "app.log: value: no number: " + std::string(120, 'a') + " -->x\\x1b" +
                std::string(78, 'b'));
  EXPECT_EQ(to_text({"s", "name", "none", 120}, std::string(120, '\x01') + "here"),
            "s: name: none: " + repeated("\\x01", 120) + " -->here")
      << "what is right before the place is there";
  EXPECT_EQ(to_text({"s", "name", "none", 99}, "short"), "s: name: none: short -->");
}

}  // namespace
}  // namespace tallyfs
