// Levels and colours of heat maps: how often a bin was hit in an interval, by colour.
//
// 16 levels along OKLCH, lightness rising evenly (falling on light backgrounds), so that lightness
// alone tells their order. 256 colours have ten of them, 16 colours and none four shades.
// Count 0 is the background, 1 is level 1. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/int128.h"
#include "tools/display/quantity.h"

namespace tallyfs::view {

enum class Colours : std::uint8_t { kNone, k16, k256, kTrue };
enum class Theme : std::uint8_t { kDark, kLight };
enum class Steps : std::uint8_t { kLog, kSqrt, kLinear };

struct Rgb {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;

  bool operator==(const Rgb&) const = default;
};

// 16, 10 or 4; with ASCII alone 9.
int levels_of(Colours colours, Charset charset);
// The largest count in view up to a power of two, at least 2.
Int128 top_of(Int128 largest);
// 0 to `levels`.
int level_of(Int128 count, Int128 top, int levels, Steps steps);
// The least count of each level, 1 to `levels`, by the same function.
std::vector<Int128> least_counts(Int128 top, int levels, Steps steps);

// level: 1 to 16.
Rgb rgb_of(int level, Theme theme);
// level: 1 to 10; its number among the 256.
int number_of_256(int level, Theme theme);
// The character that a level is drawn with: a shade. With colours fewer shades are needed.
std::string_view shade_of(int level, Colours colours, Charset charset);

}  // namespace tallyfs::view
