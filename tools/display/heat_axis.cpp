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
