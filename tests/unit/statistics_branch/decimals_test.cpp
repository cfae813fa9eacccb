// Samples as text for statistics with decimals=.
#include "tests/unit/statistics_branch/statistics_fixture.h"

namespace tallyfs::statistics {
namespace {

class DecimalsTest : public StatisticsTest {
 protected:
  // One datagram of lines. Returns what was refused, each in a line.
  std::string lines(std::initializer_list<std::string_view> all) {
    NamedSamples samples;
    for (const std::string_view text : all) {
      const auto parsed = wire::parse_line(text);
      if (!parsed) return std::string(parsed.error().reason());
      const auto& sample = std::get<wire::SampleLine>(parsed.value());
      const Sample pushed{.x = sample.x, .y = sample.y, .time = clock_.now().monotonic};
      if (sample.decimal.empty()) {
        samples.push(sample.path, pushed);
      } else {
        samples.push_decimal(sample.path, sample.decimal, pushed);
      }
    }
    const Taken taken = statistics_.add(samples, kAlice, clock_.now());
    rounded_ = taken.rounded;
    taken_ = taken.samples;
    rejects_ = taken.rejects;
    std::string refused;
    for (const auto& each : taken.rejected) {
      refused.append(std::to_string(each.index)).append("@");
      refused.append(std::to_string(each.error.token_at)).append(" ").append(each.error.reason);
      refused.append("\n");
    }
    return refused;
  }

  std::uint64_t rounded_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t rejects_ = 0;
};

TEST_F(DecimalsTest, WholeNumbersAndDecimalsAreOfOneScale) {
  ASSERT_TRUE(execute("create web/s on=1 type=range decimals=3"));
  EXPECT_EQ(lines({"web/s 0.25", "web/s 2", "web/s -1.5 2"}), "");
  EXPECT_EQ(taken_, 3u);
  EXPECT_EQ(rounded_, 0u);
  EXPECT_EQ(read("web", "data"), "s 4 -1.500 -0.187500 2.000\n");
}

TEST_F(DecimalsTest, MorePlacesAreRoundedAndCounted) {
  ASSERT_TRUE(execute("create web/s on=1 type=list entries_max=9 decimals=1"));
  EXPECT_EQ(lines({"web/s 0.25", "web/s 0.35", "web/s 0.4"}), "");
  EXPECT_EQ(rounded_, 2u);
  EXPECT_EQ(read("web", "data"), "s 0.4 2\ns 0.2 1\n");
}

TEST_F(DecimalsTest, WithoutThemADecimalIsRefusedWithTheWayOut) {
  ASSERT_TRUE(execute("create web/s on=1 type=range"));
  EXPECT_EQ(lines({"web/s 1", "web/s  0.25", "web/s 3"}),
            "1@7 whole numbers only: define web/s decimals=6 (which discards its data), or send "
            "microseconds\n");
  EXPECT_EQ(read("web", "data"), "s 2 1 2.000 3\n");
  EXPECT_EQ(lines({"new/s 0.25", "web/s 3", "new/s 0.5"}),
            "0@6 whole numbers only: create new/s type=range decimals=6 on=1, or send "
            "microseconds\n"
            "2@6 whole numbers only: create new/s type=range decimals=6 on=1, or send "
            "microseconds\n");
  EXPECT_EQ(read("new", "data"), "(no interface)");
  EXPECT_EQ(lines({"web/s 1e-05"}), "X has no exponent: 0.00001 instead of 1e-05");
}

TEST_F(DecimalsTest, OfManyRefusedSamplesTheFirstHaveReasonsAndAllCount) {
  ASSERT_TRUE(execute("create web/s on=1 type=range"));
  const std::string refused = lines({"web/s 1", "web/s 0.5", "web/a=b 1", "web/s 2", "web/a=b 2",
                                     "web/c= 1", "web/s 1.5", "web/a=b 3", "web/s 3"});
  EXPECT_EQ(rejects_, 6u);
  EXPECT_EQ(taken_, 3u);
  std::string places;
  for (std::size_t at = 0; at < refused.size(); at = refused.find('\n', at) + 1) {
    places.push_back(refused[at]);
  }
  EXPECT_EQ(places, "1245");
  EXPECT_EQ(read("web", "data"), "s 3 1 2.000 3\n");
}

TEST_F(DecimalsTest, ARuleGivesThemToWhatASampleMakes) {
  Rules::Reading reading = statistics_.take_rules("/r", "new/* decimals=2\n", clock_.now());
  ASSERT_TRUE(reading.refused.empty());
  EXPECT_EQ(lines({"new/s 0.25", "new/s 1"}), "");
  EXPECT_EQ(read("new", "data"), "s 2 0.25 0.62500 1.00\n");
}

TEST_F(DecimalsTest, WhatDoesNotFitIsRefusedAndTheRestCounts) {
  ASSERT_TRUE(execute("create web/s on=1 type=range decimals=9"));
  EXPECT_EQ(lines({"web/s 9223372037", "web/s 1", "web/s 9223372036.854775808"}),
            "0@6 X is beyond 9223372036.854775807, the most with decimals=9\n"
            "2@6 X is beyond 9223372036.854775807, the most with decimals=9\n");
  EXPECT_EQ(read("web", "data"), "s 1 1.000000000 1.000000000000 1.000000000\n");
}

TEST_F(DecimalsTest, ManyNamesInADatagramKeepTheirOwn) {
  ASSERT_TRUE(execute("create web/a on=1 type=range decimals=1"));
  ASSERT_TRUE(execute("create web/b on=1 type=range decimals=2"));
  EXPECT_EQ(lines({"web/a 1", "web/b 1", "web/c 1", "web/a 0.5", "web/b 0.5"}), "");
  EXPECT_EQ(read("web", "data"), "a 2 0.5 0.7500 1.0\nb 2 0.50 0.75000 1.00\nc 1 1 1.000 1\n");
}

TEST_F(DecimalsTest, ADefinitionChangesThemAndDiscards) {
  ASSERT_TRUE(execute("create web/s on=1 type=range"));
  EXPECT_EQ(lines({"web/s 7"}), "");
  ASSERT_TRUE(execute("define web/s decimals=1"));
  EXPECT_EQ(lines({"web/s 0.5"}), "");
  EXPECT_EQ(read("web", "data"), "s 1 0.5 0.5000 0.5\n");
  const auto done = execute("create web/s decimals=2");
  ASSERT_TRUE(done);
  EXPECT_EQ(done.value().warning,
            "it exists with decimals=1 and stays so; to change it: define web/s decimals=2");
}

TEST_F(DecimalsTest, AProgramIsToldWhatItsStatisticHas) {
  const auto register_line = [&](std::string_view line) {
    auto parsed = wire::parse_line(line);
    auto& command = std::get<wire::CommandLine>(parsed.value());
    command.door = wire::Door::kProgram;
    return statistics_.execute(command, kAlice, clock_.now());
  };
  const char* const micros =
      "create web/s type=range units=microseconds/n sample_units=microseconds/n";
  const char* const seconds =
      "create web/s type=range decimals=6 units=seconds/n sample_units=seconds/n";
  const char* const whole = "create web/s type=range units=seconds/n sample_units=seconds/n";
  EXPECT_EQ(register_line(micros).value().decimals, 0);
  // One scale by other words: nothing to warn of, and the samples add up.
  const auto same = register_line(seconds);
  ASSERT_TRUE(same) << same.error().reason;
  EXPECT_EQ(same.value().decimals, 0);
  EXPECT_EQ(same.value().warning, "");
  EXPECT_FALSE(register_line(whole));
  ASSERT_TRUE(execute("remove web/s"));
  EXPECT_EQ(register_line(seconds).value().decimals, 6);
  EXPECT_EQ(execute("attach web/s").value().decimals, 6);
  const auto other = register_line(whole);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().reason,
            "its samples have units=seconds/n decimals=6, to which samples with units=seconds/n do "
            "not add up: remove it with tallyctl rm, or take another name");
}

TEST_F(DecimalsTest, CreateOfOneWithoutThemSaysSo) {
  ASSERT_TRUE(execute("create web/s on=1 type=range"));
  const auto done = execute("create web/s decimals=2");
  ASSERT_TRUE(done);
  EXPECT_EQ(done.value().warning,
            "it exists with decimals=0 and stays so; to change it: define web/s decimals=2");
}

}  // namespace
}  // namespace tallyfs::statistics
