#include "tools/display/terminal_text.h"

namespace tallyfs::view {
namespace {

constexpr std::string_view kReset = "\x1b[0m";

std::string heat_sequence(int level, Colours colours, Theme theme) {
  if (colours == Colours::kTrue) {
    const Rgb rgb = rgb_of(level, theme);
    return std::string("\x1b[38;2;")
        .append(std::to_string(rgb.red))
        .append(";")
        .append(std::to_string(rgb.green))
        .append(";")
        .append(std::to_string(rgb.blue))
        .append("m");
  }
  if (colours == Colours::k256) {
    return std::string("\x1b[38;5;")
        .append(std::to_string(number_of_256(level, theme)))
        .append("m");
  }
  return "";
}

std::string sequence(Style style, Colours colours, Theme theme) {
  switch (style.tone) {
    case Tone::kPlain:
      return "";
    case Tone::kBold:
      return "\x1b[1m";
    case Tone::kDim:
      return "\x1b[2m";
    case Tone::kBar:
      return "\x1b[36m";
    case Tone::kGood:
      return "\x1b[32m";
    case Tone::kWarning:
      return "\x1b[33m";
    case Tone::kBad:
      return "\x1b[1;31m";
    case Tone::kSelected:
      return "\x1b[7m";
    case Tone::kHeat:
      break;
  }
  return heat_sequence(style.level, colours, theme);
}

std::size_t length_of(const std::vector<Cell>& row) {
  std::size_t length = row.size();
  while (length > 0 && row[length - 1].text == " ") --length;
  return length;
}

}  // namespace

std::string terminal_text(const Grid& grid, Colours colours, Theme theme) {
  if (colours == Colours::kNone) return grid.text();
  std::string made;
  for (int i = 0; i < grid.height(); ++i) {
    const auto& row = grid.row(i);
    const std::size_t length = length_of(row);
    std::string now;
    for (std::size_t column = 0; column < length; ++column) {
      const std::string wanted =
          row[column].text == " " && row[column].style.tone != Tone::kSelected
              ? std::string()
              : sequence(row[column].style, colours, theme);
      if (wanted != now) {
        if (!now.empty()) made.append(kReset);
        made.append(wanted);
        now = wanted;
      }
      made.append(row[column].text);
    }
    if (!now.empty()) made.append(kReset);
    made.append("\n");
  }
  return made;
}

}  // namespace tallyfs::view
