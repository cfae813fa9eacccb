#include "tools/display/silence.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "tools/display/quantity.h"

namespace tallyfs::view {
namespace {

constexpr std::size_t kBaselineMin = 2 * Past::kSpanBlocks;
constexpr double kLogChance = 16;  // e^-16 is 10^-7
constexpr std::size_t kFoldedMin = 3;
constexpr std::size_t kUnitsApart = 5;

bool has_samples(const Past::Block& block) { return block.count > 0 || block.levels > 0; }

// The blocks with samples, and the longest pause between two of them.
struct Usual {
  double filled = 0;
  double count = 0;
  std::size_t pause = 0;
};

Usual usual_of(std::span<const Past::Block> blocks) {
  Usual made;
  std::size_t pause = 0;
  for (const Past::Block& each : blocks) {
    pause = has_samples(each) ? 0 : pause + 1;
    // The store has only the levels of a view, no count.
    made.count += static_cast<double>(std::max(each.count, each.levels));
    made.filled += pause == 0 ? 1 : 0;
    // What is before the first sample is no pause.
    if (made.filled > 0) made.pause = std::max(made.pause, pause);
  }
  return made;
}

// That so many blocks more have no sample, if blocks are independent: Polya's urn, which begins
// with half a block of each kind, and then has those of before.
double log_chance(const Usual& usual, std::size_t before, std::size_t quiet) {
  const auto all = static_cast<double>(before);
  double sum = 0;
  for (std::size_t i = 0; i < quiet; ++i) {
    const auto more = static_cast<double>(i);
    sum += std::log((all - usual.filled + 0.5 + more) / (all + 1 + more));
  }
  return sum;
}

struct Silent {
  std::size_t index;
  Silence silence;
  bool has_row = false;
};

// With those of its interface that stopped with it, if they are enough.
SilentRow row_of(Silent& first, const std::vector<Silent*>& of_interface) {
  std::vector<Silent*> alike;
  for (Silent* const each : of_interface) {
    const auto [shorter, longer] = std::minmax(first.silence.units, each->silence.units);
    if (!each->has_row && longer - shorter <= kUnitsApart) alike.push_back(each);
  }
  SilentRow made{.members = {first.index}, .silence = first.silence};
  first.has_row = true;
  if (alike.size() < kFoldedMin) return made;
  for (Silent* const each : alike) {
    each->has_row = true;
    if (each != &first) made.members.push_back(each->index);
  }
  return made;
}

}  // namespace

std::optional<Silence> silence_of(const Past& past, std::size_t baseline_spans) {
  const auto all = past.blocks();
  const auto blocks = all.last(std::min(all.size(), (1 + baseline_spans) * Past::kSpanBlocks));
  std::size_t quiet = 0;
  while (quiet < blocks.size() && !has_samples(blocks[blocks.size() - 1 - quiet])) ++quiet;
  if (quiet < Past::kSpanBlocks || blocks.size() < quiet + kBaselineMin) return std::nullopt;
  const auto before = blocks.first(blocks.size() - quiet);
  const Usual usual = usual_of(before);
  if (quiet < 2 * usual.pause) return std::nullopt;
  if (log_chance(usual, before.size(), quiet) > -kLogChance) return std::nullopt;
  return Silence{.units = past.units_since_sample().value_or(quiet * Past::kBlockUnits),
                 .before = usual.count / static_cast<double>(before.size() * Past::kBlockUnits)};
}

std::vector<SilentRow> take_silent(std::span<const Watched> watched, std::vector<ChangedRow>& rows,
                                   std::size_t baseline_spans) {
  std::vector<bool> has_row(watched.size());
  std::vector<bool> is_silent(watched.size());
  for (const ChangedRow& row : rows) {
    if (!row.is_unusual || !row.onset.is_silent) continue;
    for (const std::size_t each : row.members) has_row[each] = true;
  }
  std::vector<Silent> silent;
  for (std::size_t i = 0; i < watched.size(); ++i) {
    const auto found = has_row[i] ? std::nullopt : silence_of(*watched[i].past, baseline_spans);
    if (found) silent.push_back({i, *found});
    is_silent[i] = found.has_value();
  }
  std::erase_if(rows, [&](const ChangedRow& row) {
    return !row.is_unusual && row.onset.is_silent && is_silent[row.members.front()];
  });
  std::ranges::stable_sort(silent, std::greater(),
                           [](const Silent& each) { return each.silence.before; });
  std::map<std::string_view, std::vector<Silent*>> in_interface;
  for (Silent& each : silent) in_interface[watched[each.index].interface].push_back(&each);
  std::vector<SilentRow> made;
  for (Silent& each : silent) {
    if (each.has_row) continue;
    made.push_back(row_of(each, in_interface.at(watched[each.index].interface)));
  }
  return made;
}

std::size_t count_members(std::span<const SilentRow> rows) {
  std::size_t sum = 0;
  for (const SilentRow& each : rows) sum += each.members.size();
  return sum;
}

std::string reason_of(const SilentRow& row, std::size_t in_interface, double unit_seconds) {
  std::string text;
  if (row.members.size() > 1) {
    text.append(std::to_string(row.members.size())).append(" of ");
    text.append(std::to_string(in_interface)).append(" statistics: ");
  }
  return text.append("silent, before ").append(rate_text(row.silence.before / unit_seconds));
}

}  // namespace tallyfs::view
