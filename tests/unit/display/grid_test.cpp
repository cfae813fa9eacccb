#include "tools/display/grid.h"

#include <gtest/gtest.h>

#include <clocale>
#include <cmath>

#include "tools/display/heat_colour.h"
#include "tools/display/plot.h"
#include "tools/display/table.h"
#include "tools/display/terminal_text.h"

namespace tallyfs::view {
namespace {

class GridTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::setlocale(LC_CTYPE, "C.UTF-8")) GTEST_SKIP() << "no locale C.UTF-8";
  }
};

TEST_F(GridTest, LinesLoseBlanksAtTheirEnds) {
  Grid grid(20);
  grid.put(1, 3, "ab  ");
  EXPECT_EQ(grid.text(), "\n   ab\n");
}

TEST_F(GridTest, AWideCharacterTakesTwoColumns) {
  Grid grid(20);
  EXPECT_EQ(grid.put(0, 0, "延迟"), 4);
  grid.put(0, 4, "|");
  EXPECT_EQ(grid.text(), "延迟|\n");
  EXPECT_EQ(width_of("延迟", Charset::kUtf8), 4);
}

TEST_F(GridTest, AWideCharacterIsNotCutInHalf) {
  Grid grid(3);
  grid.put(0, 0, "延迟");
  EXPECT_EQ(grid.text(), "延\n");
}

TEST_F(GridTest, ACombiningMarkStaysWithItsCharacter) {
  Grid grid(20);
  EXPECT_EQ(grid.put(0, 0, "e\xCC\x81x"), 2);
  EXPECT_EQ(grid.text(), "e\xCC\x81x\n");
}

TEST_F(GridTest, WhatCannotBePrintedIsEscaped) {
  Grid grid(40);
  grid.put(0, 0, "a\x1b[1m\xff");
  EXPECT_EQ(grid.text(), "a\\x1b[1m\\xff\n");
  Grid ascii(40, Charset::kAscii);
  ascii.put(0, 0, "µs");
  EXPECT_EQ(ascii.text(), "\\xc2\\xb5s\n");
}

TEST_F(GridTest, CutsTheMiddleOfLongNames) {
  EXPECT_EQ(cut_middle("latencies_read", 9, Charset::kUtf8), "late…read");
  EXPECT_EQ(cut_middle("latencies_read", 9, Charset::kAscii), "late~read");
  EXPECT_EQ(cut_middle("short", 9, Charset::kUtf8), "short");
  EXPECT_LE(width_of(cut_middle("延迟延迟延迟", 5, Charset::kUtf8), Charset::kUtf8), 5);
}

TEST_F(GridTest, ABarAboveZeroIsNeverInvisible) {
  EXPECT_EQ(bar_text(0, 10, Charset::kUtf8), "");
  EXPECT_EQ(bar_text(0.0001, 10, Charset::kUtf8), "▏");
  EXPECT_EQ(bar_text(0.0001, 10, Charset::kAscii), "#");
  EXPECT_EQ(bar_text(0.55, 10, Charset::kUtf8), "█████▌");
  EXPECT_EQ(bar_text(1, 4, Charset::kAscii), "####");
}

TEST_F(GridTest, TablesAlignAndCutOnTerminalsOnly) {
  Look look{.width = 24, .cut = true};
  Table table(look);
  table.add_column("NAME", Align::kLeft);
  table.add_column("N");
  table.add_row({"a_name_that_is_much_too_long", "12"});
  table.add_row({"b", "3"});
  Grid grid(24);
  table.draw(grid);
  EXPECT_EQ(grid.text(),
            "NAME                   N\n"
            "a_name_tha…_too_long  12\n"
            "b                      3\n");
  look.cut = false;
  Grid wide(200);
  table.draw(wide);
  EXPECT_NE(wide.text().find("a_name_that_is_much_too_long  12"), std::string::npos);
}

TEST_F(GridTest, ColoursEndBeforeTheLineDoes) {
  Grid grid(20);
  grid.put(0, 0, "ok", {Tone::kGood});
  grid.put(0, 3, "x");
  EXPECT_EQ(terminal_text(grid, Colours::k16, Theme::kDark), "\x1b[32mok\x1b[0m x\n");
  EXPECT_EQ(terminal_text(grid, Colours::kNone, Theme::kDark), "ok x\n");
}

TEST(HeatColourTest, OneIsSeenAndTopIsTheLast) {
  for (const int levels : {4, 9, 10, 16}) {
    EXPECT_EQ(level_of(0, 1024, levels, Steps::kLog), 0);
    EXPECT_EQ(level_of(1, 1024, levels, Steps::kLog), 1);
    EXPECT_EQ(level_of(1024, 1024, levels, Steps::kLog), levels);
    EXPECT_EQ(level_of(5000, 1024, levels, Steps::kLog), levels);
  }
}

TEST(HeatColourTest, LegendAndLevelsAgree) {
  EXPECT_EQ(least_counts(1024, 4, Steps::kLog), (std::vector<Int128>{1, 6, 32, 182}));
  for (const Steps steps : {Steps::kLog, Steps::kSqrt, Steps::kLinear}) {
    const auto least = least_counts(4096, 4, steps);
    for (int level = 1; level <= 4; ++level) {
      const Int128 first = least[static_cast<std::size_t>(level - 1)];
      EXPECT_EQ(level_of(first, 4096, 4, steps), level);
      if (first == 1) continue;
      EXPECT_LT(level_of(first - 1, 4096, 4, steps), level);
    }
  }
}

TEST(HeatColourTest, TopIsAPowerOfTwo) {
  EXPECT_EQ(top_of(0), 2);
  EXPECT_EQ(top_of(3), 4);
  EXPECT_EQ(top_of(1024), 1024);
}

// sRGB's relative luminance, IEC 61966-2-1.
double luminance(Rgb rgb) {
  const auto linear = [](std::uint8_t part) {
    const double value = part / 255.0;
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(rgb.red) + 0.7152 * linear(rgb.green) + 0.0722 * linear(rgb.blue);
}

TEST(HeatColourTest, LightnessAloneTellsTheOrder) {
  for (int level = 2; level <= 16; ++level) {
    EXPECT_GT(luminance(rgb_of(level, Theme::kDark)), luminance(rgb_of(level - 1, Theme::kDark)));
    EXPECT_LT(luminance(rgb_of(level, Theme::kLight)), luminance(rgb_of(level - 1, Theme::kLight)));
  }
}

TEST(HeatColourTest, TheFirstLevelStandsOutFromTheBackground) {
  const double dark = luminance({0x1e, 0x1e, 0x1e}) + 0.05;
  EXPECT_GE((luminance(rgb_of(1, Theme::kDark)) + 0.05) / dark, 3);
  EXPECT_GE(1.05 / (luminance(rgb_of(1, Theme::kLight)) + 0.05), 3);
}

TEST(PlotTest, TicksAreOneTwoOrFiveTimesAPowerOfTen) {
  EXPECT_DOUBLE_EQ(tick_of(10, 5), 2);
  EXPECT_DOUBLE_EQ(tick_of(100, 4), 50);
  EXPECT_DOUBLE_EQ(tick_of(0.7, 7), 0.1);
  EXPECT_DOUBLE_EQ(tick_of(9, 1), 10);
}

}  // namespace
}  // namespace tallyfs::view
