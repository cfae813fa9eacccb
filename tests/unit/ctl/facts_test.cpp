#include "tools/ctl/facts.h"

#include <gtest/gtest.h>

namespace tallyfs {
namespace {

TEST(FactsTest, TextsOfAForeignStoreDoNotControlTheTerminal) {
  const view::Look look{.clock = [](std::uint64_t) { return "12:00:00"; }};
  const past::Fact fact{.span = {1, 1},
                        .interface = "web\x1b[2J",
                        .statistic = "us\r",
                        .reason = "gone\n\x1b]0;title\a"};
  EXPECT_EQ(fact_text(fact, look),
            R"(12:00:00  web\x1b[2J/us\x0d: gone\x0a\x1b]0;title\x07)");
}

}  // namespace
}  // namespace tallyfs
