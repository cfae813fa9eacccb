#include "tools/display/heat_axis.h"

#include <algorithm>

namespace tallyfs::view {
namespace {

// Between the signs of a type=quantiles, which have no octave in common.
std::vector<Bin> with_gaps_filled(const std::vector<Bin>& bins) {
  std::vector<Bin> made;
  for (const Bin& bin : bins) {
    if (!made.empty() && bin.first > made.back().last + 1) {
      made.push_back({.first = made.back().last + 1, .last = bin.first - 1, .count = 0});
    }
    made.push_back(bin);
  }
  return made;
}

bool is_part_of(const Bin& bin, const Bin& part) {
  if (bin.ends != part.ends) return false;
  return bin.ends != Bin::Ends::kBoth || (part.last >= bin.first && part.last <= bin.last);
}

}  // namespace

void draw_legend(Grid& grid, const Area& area, const CountScale& scale) {
  const Charset charset = grid.charset();
  const int levels = levels_of(scale.colours, charset);
  const auto counts = least_counts(scale.top, levels, scale.steps);
  const auto least = [&](int level) { return counts[static_cast<std::size_t>(level - 1)]; };
  std::vector<int> shown;
  for (int level = 1; level <= levels; ++level) {
    // While counts are small, there are levels that none of them has.
    if (level_of(least(level), scale.top, levels, scale.steps) == level) shown.push_back(level);
  }
  constexpr std::string_view kName = "counts ";
  constexpr int kBeside = 3;  // a blank, the shade, a blank
  const auto columns_by = [&](std::size_t step) {
    auto sum = static_cast<int>(kName.size());
    for (std::size_t i = 0; i < shown.size(); i += step) {
      sum += static_cast<int>(exact_text(least(shown[i])).size()) + kBeside;
    }
    return sum + static_cast<int>(exact_text(scale.top).size());
  };
  std::size_t step = 1;
  while (step < shown.size() && columns_by(step) > area.width) ++step;
  int column = grid.put(area.row, area.column, kName, {Tone::kDim});
  Int128 last = 0;
  for (std::size_t i = 0; i < shown.size(); i += step) {
    last = least(shown[i]);
    column = grid.put(area.row, column, exact_text(last).append(" "));
    column = grid.put(area.row, column, shade_of(shown[i], scale.colours, charset),
                      {Tone::kHeat, static_cast<std::uint8_t>(shown[i])});
    column = grid.put(area.row, column, " ");
  }
  if (last != scale.top) grid.put(area.row, column, exact_text(scale.top));
}

Distribution binned(const Statistic& all, const Statistic* counted, std::size_t bins_max) {
  Distribution made = *distribution_of(all, Detail::kOctaves);
  // Array bins follow one another; a first bin without an end has no place before it.
  if (made.scale == Distribution::Scale::kBuckets) made.bins = with_gaps_filled(made.bins);
  made = merged(made, bins_max);
  for (Bin& bin : made.bins) bin.count = 0;
  if (!counted) return made;
  const Distribution interval = *distribution_of(*counted, Detail::kOctaves);
  // Both are in order, so the search goes on where the bin before was found.
  auto from = made.bins.begin();
  for (const Bin& each : interval.bins) {
    const auto into =
        std::find_if(from, made.bins.end(), [&](const Bin& bin) { return is_part_of(bin, each); });
    if (into == made.bins.end()) continue;
    into->count += each.count;
    from = into;
  }
  return made;
}

std::string end_text(const Bin& bin, const Quantity& quantity, Charset charset) {
  const auto number = [&](Int128 x) {
    return number_text(static_cast<double>(x), quantity, Digits::kTwo, charset);
  };
  if (bin.ends == Bin::Ends::kNoFirst) return std::string("<=").append(number(bin.last));
  if (bin.ends == Bin::Ends::kNoLast) return std::string(">").append(number(bin.first - 1));
  return number(bin.last);
}

}  // namespace tallyfs::view
