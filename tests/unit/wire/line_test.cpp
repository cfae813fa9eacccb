#include "core/wire/line.h"

#include <gtest/gtest.h>

namespace tally::wire {
namespace {

TEST(LineTest, ReadsASampleWithAndWithoutY) {
  const auto line = parse_line("web/latency_us -1750 0x10\r");
  ASSERT_TRUE(line);
  const auto& sample = std::get<SampleLine>(line.value());
  EXPECT_EQ(sample.path, "web/latency_us");
  EXPECT_EQ(sample.x, -1750);
  EXPECT_EQ(sample.y, 16u);
  EXPECT_EQ(std::get<SampleLine>(parse_line("a/b 5").value()).y, 1u);
}

TEST(LineTest, TakesBlankLinesForNothing) {
  EXPECT_TRUE(std::holds_alternative<BlankLine>(parse_line("").value()));
  EXPECT_TRUE(std::holds_alternative<BlankLine>(parse_line(" \t\r").value()));
}

TEST(LineTest, ReadsCommandsWithWhereTheirRestStands) {
  const auto line = parse_line("create web/hits type=range on=1");
  ASSERT_TRUE(line);
  const auto& command = std::get<CommandLine>(line.value());
  EXPECT_EQ(command.verb, Verb::kCreate);
  EXPECT_EQ(command.target.text, "web/hits");
  EXPECT_EQ(command.target.at, 7u);
  EXPECT_EQ(command.rest.text, " type=range on=1");
  EXPECT_EQ(command.rest.at, 15u);
}

TEST(LineTest, SwitchesStandsAloneAndIsAnInterfacesNameAllTheSame) {
  EXPECT_TRUE(std::holds_alternative<SwitchesLine>(parse_line("switches").value()));
  EXPECT_TRUE(std::holds_alternative<SwitchesLine>(parse_line("  switches \t").value()));
  EXPECT_TRUE(std::holds_alternative<SampleLine>(parse_line("switches/on 1").value()));
  EXPECT_EQ(std::get<CommandLine>(parse_line("create switches").value()).target.text, "switches");
}

struct Refusal {
  const char* line;
  std::size_t token_at;
};

TEST(LineTest, RefusesWithTheTokenThatIsWrong) {
  for (const auto& [line, token_at] :
       {Refusal{"garbage", 0}, Refusal{"web/hits", 8}, Refusal{"web/hits x", 9},
        Refusal{"web/hits 1.5", 9}, Refusal{"web/hits 1 -2", 11}, Refusal{"web/hits 1 2 3", 13},
        Refusal{"create", 6}, Refusal{"web.hits:1|c", 10}, Refusal{"switches web", 9},
        Refusal{"switched", 0}}) {
    const auto parsed = parse_line(line);
    ASSERT_FALSE(parsed) << line;
    EXPECT_EQ(parsed.error().code, ErrorCode::kInvalid) << line;
    EXPECT_EQ(parsed.error().token_at, token_at) << line;
  }
}

TEST(PathTest, SplitsAtTheFirstSlash) {
  EXPECT_EQ(split_path("a/b/c").statistic, "b/c");
  EXPECT_FALSE(split_path("a").has_statistic);
  EXPECT_TRUE(split_path("a/").has_statistic);
  EXPECT_EQ(split_path("/b").interface, "");
}

}  // namespace
}  // namespace tally::wire
