#include "core/wire/line.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/allocated.h"

namespace tallyfs::wire {
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

TEST(LineTest, ADescriptorsWordIsAnInterfacesNameAllTheSame) {
  EXPECT_EQ(std::get<DescriptorLine>(parse_line("switches").value()).of, Descriptor::kSwitches);
  EXPECT_EQ(std::get<DescriptorLine>(parse_line("  shapes \t").value()).of, Descriptor::kShapes);
  EXPECT_EQ(std::get<DescriptorLine>(parse_line("lane 4096").value()).number, 4096u);
  const auto tails = std::get<DescriptorLine>(parse_line("tails 7").value());
  EXPECT_EQ(tails.of, Descriptor::kTails);
  EXPECT_EQ(tails.subject, "tails are");
  EXPECT_TRUE(std::holds_alternative<SampleLine>(parse_line("switches/on 1").value()));
  EXPECT_EQ(std::get<CommandLine>(parse_line("create switches").value()).target.text, "switches");
}

struct Refusal {
  const char* line;
  std::size_t token_at;
};

TEST(LineTest, ReadsTheCommandsOfStats) {
  const auto parsed = parse_line(" subsystem tcp A=5, B=10");
  const auto& line = std::get<StatsLine>(parsed.value());
  EXPECT_EQ(line.verb, StatsVerb::kSubsystem);
  EXPECT_EQ(line.target.text, "tcp");
  EXPECT_EQ(line.target.at, 11u);
  EXPECT_EQ(line.rest.text, " A=5, B=10");
  EXPECT_EQ(std::get<StatsLine>(parse_line("object tcp/all").value()).verb, StatsVerb::kObject);
  EXPECT_EQ(std::get<StatsLine>(parse_line("rates tcp").value()).verb, StatsVerb::kRates);
  EXPECT_EQ(std::get<StatsLine>(parse_line("withdraw tcp").value()).verb, StatsVerb::kWithdraw);
  EXPECT_FALSE(parse_line("object")) << "of what?";
  EXPECT_TRUE(std::holds_alternative<SampleLine>(parse_line("object/a 1").value()));
}

TEST(LineTest, ReadsEvents) {
  const auto written = std::get<EventLine>(parse_line("event web/request lat=3 pid=7").value());
  EXPECT_EQ(written.verb, EventVerb::kWrite);
  EXPECT_EQ(written.target.text, "web/request");
  EXPECT_EQ(written.rest.text, " lat=3 pid=7");
  EXPECT_EQ(written.rest.at, 17u);
  const auto defined = std::get<EventLine>(parse_line("event define web/request u64 lat").value());
  EXPECT_EQ(defined.verb, EventVerb::kDefine);
  EXPECT_EQ(defined.target.text, "web/request");
  EXPECT_EQ(std::get<EventLine>(parse_line("event remove a/b").value()).verb, EventVerb::kRemove);
  EXPECT_TRUE(std::holds_alternative<SampleLine>(parse_line("event/define 1").value()));
}

TEST(LineTest, ReadsALatencyWithTheTaskThatSufferedIt) {
  const auto parsed =
      parse_line("latency my_section prio=80 ns=-25999 cpu=1 comm=sixteen_bytes_ab pid=4711");
  const auto& line = std::get<LatencyLine>(parsed.value());
  EXPECT_EQ(line.type.text, "my_section");
  EXPECT_EQ(line.type.at, 8u);
  EXPECT_EQ(line.sample.latency_ns, -25'999);
  EXPECT_EQ(line.sample.cpu, 1u);
  EXPECT_EQ(line.sample.task.pid, 4711);
  EXPECT_EQ(line.sample.task.priority, 19);
  EXPECT_EQ(line.sample.task.command(), "sixteen_bytes_a");
  EXPECT_TRUE(std::holds_alternative<SampleLine>(parse_line("latency/x 1").value()));
}

TEST(LineTest, ALatencyWithoutATaskHasTheUsualPriority) {
  const auto parsed = parse_line("latency a cpu=0 ns=1");
  const auto& task = std::get<LatencyLine>(parsed.value()).sample.task;
  EXPECT_EQ(task.pid, 0);
  EXPECT_EQ(task.priority, Task::kUsual);
  EXPECT_EQ(task.command(), "");
}

TEST(LineTest, RefusesWithTheTokenThatIsWrong) {
  for (const auto& [line, token_at] : {Refusal{"garbage", 0},
                                       Refusal{"web/hits", 8},
                                       Refusal{"web/hits x", 9},
                                       Refusal{"web/hits 1.5.2", 9},
                                       Refusal{"web/hits 1e-05", 9},
                                       Refusal{"web/hits 1 -2", 11},
                                       Refusal{"web/hits 1 2 3", 13},
                                       Refusal{"create", 6},
                                       Refusal{"web.hits:1|c", 10},
                                       Refusal{"switches web", 9},
                                       Refusal{"lane", 4},
                                       Refusal{"lane x", 5},
                                       Refusal{"tails 1 2", 8},
                                       Refusal{"switched", 0},
                                       Refusal{"event", 5},
                                       Refusal{"event define", 12},
                                       Refusal{"event web", 6},
                                       Refusal{"latency", 7},
                                       Refusal{"latency a", 9},
                                       Refusal{"latency a reset now", 16},
                                       Refusal{"latency a ns=1", 14},
                                       Refusal{"latency a cpu=1", 15},
                                       Refusal{"latency a ns=1.5 cpu=0", 10},
                                       Refusal{"latency a ns= cpu=0", 10},
                                       Refusal{"latency a ns=1 cpu=-1", 15},
                                       Refusal{"latency a ns=1 cpu=4294967296", 15},
                                       Refusal{"latency a ns=1 cpu=0 pid=2147483648", 21},
                                       Refusal{"latency a ns=1 cpu=0 prio=100", 21},
                                       Refusal{"latency a ns=1 cpu=0 ns=1", 21},
                                       Refusal{"latency a 5", 10},
                                       Refusal{"latency a ns=1 cpu=0 user=1", 21}}) {
    const auto parsed = parse_line(line);
    ASSERT_FALSE(parsed) << line;
    EXPECT_FALSE(parsed.error().reason().empty()) << line;
    EXPECT_EQ(parsed.error().token_at, token_at) << line;
  }
}

TEST(LineTest, ARefusalAllocatesNothing) {
  const char* const lines[] = {"garbage", "web/us 12ms",   "web/us 1,5", "web/us x",
                               "web/us",  "web/us 1 2 3",  "web.us:1|c", "create",
                               "lane x",  "latency a ns=1"};
  for (const char* const line : lines) EXPECT_FALSE(parse_line(line)) << line;
  const std::size_t before = allocated_bytes();
  for (const char* const line : lines) (void)parse_line(line);
  EXPECT_EQ(allocated_bytes(), before);
}

std::string result_of(const Parsed<Line>& parsed) {
  if (!parsed)
    return std::string(parsed.error().reason()) + std::to_string(parsed.error().token_at);
  const auto* const sample = std::get_if<SampleLine>(&parsed.value());
  if (!sample) return "alternative " + std::to_string(parsed.value().index());
  return std::string(sample->path) + " " + std::to_string(sample->x) + " " +
         std::string(sample->decimal) + " " + std::to_string(sample->y);
}

// Of lines around the length that is looked at many bytes at a time.
TEST(LineTest, WhatFollowsALineMeansNothing) {
  constexpr std::string_view kPieces[] = {"web/us", " ",  "12", "x",    "|",   "{",    "}", "\t",
                                          "/",      "-1", ".5", "\x01", "of=", "lane", "µ", " 7 "};
  std::mt19937 random(7);
  for (int i = 0; i < 50'000; ++i) {
    std::string line;
    for (auto size = random() % 80; line.size() < size;) {
      line += kPieces[random() % std::size(kPieces)];
    }
    std::string longer = line;
    for (int j = 0; j < 70; ++j) longer += kPieces[random() % std::size(kPieces)];
    const std::string_view within = std::string_view(longer).substr(0, line.size());
    ASSERT_EQ(result_of(parse_line(within, longer.data() + longer.size())),
              result_of(parse_line(line)))
        << line;
  }
}

TEST(LineTest, LeavesADecimalToTheStatistic) {
  for (const std::string x : {"1.5", "-0.25", ".5", "5."}) {
    const std::string line = "web/hits " + x + " 3";
    const auto sample = std::get<SampleLine>(parse_line(line).value());
    EXPECT_EQ(sample.path, "web/hits");
    EXPECT_EQ(sample.decimal, x);
    EXPECT_EQ(sample.y, 3u);
  }
  EXPECT_EQ(std::get<SampleLine>(parse_line("web/hits 15").value()).decimal, "");
}

// ---- plain samples

// On the heap and to the byte, so that a sanitizer sees reads beyond the end. The path of the
// sample is in text.
bool is_plain(const std::string& text, std::size_t end_of_line, SampleLine& sample) {
  const std::vector<char> bytes(text.begin(), text.end());
  const std::size_t taken = take_plain_sample({bytes.data(), bytes.size()}, sample);
  const bool is = taken != 0;
  EXPECT_TRUE(!is || taken == std::min(end_of_line + 1, text.size())) << text;
  if (is) sample.path = std::string_view(text).substr(0, sample.path.size());
  return is;
}

TEST(PlainSampleTest, ReadsNumbersOfAllLengths) {
  for (const std::string path :
       {"a/b", "web/latency_us", "interface/statistic", "a/a_statistic_with_a_long_name"}) {
    for (int digits = 1; digits <= 18; ++digits) {
      const std::string number =
          std::string("987654321012345678").substr(0, static_cast<std::size_t>(digits));
      for (const std::string end : {"", "\n", "\nb/c 5\n", "\nc/d 3\nan/even_longer_rest 6\n"}) {
        SampleLine sample;
        const std::string plus = path + " " + number;
        const std::string first = plus + end;
        ASSERT_TRUE(is_plain(first, plus.size(), sample)) << plus;
        EXPECT_EQ(sample.path, path);
        EXPECT_EQ(sample.x, std::atoll(number.c_str()));
        EXPECT_EQ(sample.y, 1u);
        const std::string minus = path + " -" + number + " " + number;
        const std::string second = minus + end;
        ASSERT_TRUE(is_plain(second, minus.size(), sample)) << minus;
        EXPECT_EQ(sample.x, -std::atoll(number.c_str()));
        EXPECT_EQ(sample.y, std::strtoull(number.c_str(), nullptr, 10));
      }
    }
  }
}

TEST(PlainSampleTest, LeavesEverythingElseToTheWholeGrammar) {
  for (const std::string line : {"",
                                 " ",
                                 "a/b",
                                 "a/b ",
                                 " a/b 1",
                                 "a/b  1",
                                 "a/b\t1",
                                 "a/b 1 ",
                                 "a/b 1\r",
                                 "a/b 0x10",
                                 "a/b 1 2 3",
                                 "a/b -",
                                 "a/b 1 -2",
                                 "a/b +1",
                                 "ab 1",
                                 "define 5",
                                 "a/b|c 1",
                                 "a/b 1|c",
                                 "a/b 1234567890123456789",
                                 "a/b 1 1234567890123456789",
                                 "a/b x"}) {
    SampleLine sample;
    EXPECT_FALSE(is_plain(line + "\n", line.size(), sample)) << line;
    const std::string more = "\nand/so_on 1\nand/so_on 2\nand/so_on 3\n";
    EXPECT_FALSE(is_plain(line + more, line.size(), sample)) << line;
    EXPECT_FALSE(is_plain(line, line.size(), sample)) << line;
  }
}

// Whatever it takes for plain, it reads as the whole grammar does.
TEST(PlainSampleTest, AgreesWithTheWholeGrammarOnRandomLines) {
  const std::string alphabet = "ab/|_ -0123456789\t\r\xC3\xA9";
  std::mt19937 random(40);
  int plain = 0;
  for (int i = 0; i < 300'000; ++i) {
    std::string line = i % 2 == 0 ? "web/a " : "";
    for (std::size_t size = random() % 24; size != 0; --size)
      line += alphabet[random() % alphabet.size()];
    SampleLine sample;
    const std::string text = line + (i % 3 == 0   ? ""
                                     : i % 3 == 1 ? "\nx/y 77"
                                                  : "\nx/y 77\nx/y 77\nx/y 77\nx/y 77\nx/y 77");
    if (!is_plain(text, line.size(), sample)) continue;
    ++plain;
    const auto whole = parse_line(line);
    ASSERT_TRUE(whole) << line;
    const auto& wanted = std::get<SampleLine>(whole.value());
    ASSERT_EQ(sample.path, wanted.path) << line;
    ASSERT_EQ(sample.x, wanted.x) << line;
    ASSERT_EQ(sample.y, wanted.y) << line;
  }
  EXPECT_GT(plain, 1000);
}

// To look for the bar again after each of the labels would take a quarter of an hour.
TEST(LineTest, TheBarBehindManyLabelsIsLookedForOnce) {
  std::string line;
  for (int i = 0; i < 4'000'000; ++i) line.append("{}");
  const auto refused = parse_line(line + "|c");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().token_at, line.size());
}

TEST(PathTest, SplitsAtTheFirstSlash) {
  EXPECT_EQ(split_path("a/b/c").statistic, "b/c");
  EXPECT_FALSE(split_path("a").has_statistic);
  EXPECT_TRUE(split_path("a/").has_statistic);
  EXPECT_EQ(split_path("/b").interface, "");
}

}  // namespace
}  // namespace tallyfs::wire
