#include "tools/display/heat_colour.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace tallyfs::view {
namespace {

constexpr int kTrueLevels = 16;
constexpr std::array kDark256 = {62, 31, 68, 37, 74, 43, 115, 121, 192, 230};
constexpr std::array kLight256 = {136, 100, 64, 28, 59, 23, 238, 237, 18, 17};
constexpr std::array<std::string_view, 4> kShades = {"░", "▒", "▓", "█"};
constexpr std::string_view kAscii = ".:-=+*#%@";

using Linear = std::array<double, 3>;

// Björn Ottosson's OKLab, hue in degrees, as linear sRGB.
Linear linear_of(double lightness, double chroma, double hue) {
  const double a = chroma * std::cos(hue * std::numbers::pi / 180);
  const double b = chroma * std::sin(hue * std::numbers::pi / 180);
  const auto cube = [](double root) { return root * root * root; };
  const double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b);
  const double m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b);
  const double s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
  return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
          -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
          -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

bool is_in_srgb(const Linear& colour) {
  return std::ranges::all_of(colour, [](double part) { return part >= -1e-4 && part <= 1.0001; });
}

std::uint8_t encoded(double linear) {
  const double part = std::clamp(linear, 0.0, 1.0);
  const double gamma = part <= 0.0031308 ? 12.92 * part : 1.055 * std::pow(part, 1 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(gamma * 255));
}

// 0 to 1 of the way from 1 to top.
double height_of(double count, double top, Steps steps) {
  switch (steps) {
    case Steps::kLog:
      return std::log(count) / std::log(top);
    case Steps::kSqrt:
      return (std::sqrt(count) - 1) / (std::sqrt(top) - 1);
    case Steps::kLinear:
      break;
  }
  return (count - 1) / (top - 1);
}

}  // namespace

int levels_of(Colours colours, Charset charset) {
  if (colours == Colours::kTrue) return kTrueLevels;
  if (colours == Colours::k256) return static_cast<int>(kDark256.size());
  return static_cast<int>(charset == Charset::kAscii ? kAscii.size() : kShades.size());
}

Int128 top_of(Int128 largest) {
  Int128 top = 2;
  while (top < largest) top *= 2;
  return top;
}

int level_of(Int128 count, Int128 top, int levels, Steps steps) {
  if (count <= 0) return 0;
  const double height = height_of(static_cast<double>(count), static_cast<double>(top), steps);
  // A count that is a level's edge belongs to it, though logarithms are rounded.
  return std::clamp(1 + static_cast<int>(std::floor(levels * height + 1e-9)), 1, levels);
}

std::vector<Int128> least_counts(Int128 top, int levels, Steps steps) {
  std::vector<Int128> made;
  Int128 from = 1;
  for (int level = 1; level <= levels; ++level) {
    Int128 to = top + 1;  // the least count of the level is in [from, to]
    Int128 least = from;
    while (least < to) {
      const Int128 middle = least + (to - least) / 2;
      if (level_of(middle, top, levels, steps) >= level) {
        to = middle;
      } else {
        least = middle + 1;
      }
    }
    made.push_back(least);
    from = least;
  }
  return made;
}

Rgb rgb_of(int level, Theme theme) {
  const double part = static_cast<double>(level - 1) / (kTrueLevels - 1);
  const double lightness = theme == Theme::kDark ? 0.55 + part * 0.42 : 0.64 - part * 0.39;
  const double hue = theme == Theme::kDark ? 285 - part * 190 : 95 + part * 190;
  double chroma = 0.14;
  Linear colour = linear_of(lightness, chroma, hue);
  while (!is_in_srgb(colour) && chroma > 0) {
    chroma = std::max(0.0, chroma - 0.002);
    colour = linear_of(lightness, chroma, hue);
  }
  return {encoded(colour[0]), encoded(colour[1]), encoded(colour[2])};
}

int number_of_256(int level, Theme theme) {
  const auto at = static_cast<std::size_t>(std::clamp(level, 1, 10) - 1);
  return theme == Theme::kDark ? kDark256[at] : kLight256[at];
}

std::string_view shade_of(int level, Colours colours, Charset charset) {
  if (level <= 0) return " ";
  const auto at = static_cast<std::size_t>(level - 1);
  if (colours == Colours::k256 || colours == Colours::kTrue) {
    return charset == Charset::kAscii ? "#" : kShades.back();
  }
  return charset == Charset::kAscii ? kAscii.substr(std::min(at, kAscii.size() - 1), 1)
                                    : kShades[std::min(at, kShades.size() - 1)];
}

}  // namespace tallyfs::view
