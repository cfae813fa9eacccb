// How unlike before a statistic behaves: a span of twelve blocks is compared with a baseline of two
// to nine spans before it, in windows of 2, 4, 6 and 12 blocks.
//
// The score of a window is S = |d| / sqrt(d^2/z^2 + s^2 + s0^2). d is the change in octaves (of a
// value: in its unit), z how many standard deviations of chance that is, s the spread of the
// windows of the baseline, s0 the least effect that matters. A window leaves out the block that is
// farthest in the direction of the change: a spike is no change. A score that the statistic has
// reached before, in a window of the baseline or in the five spans before, is usual, and
// subtracted.
//
// Pure functions of a Past.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tools/display/past.h"

namespace tallyfs::view {

enum class Channel : std::uint8_t { kRate, kLevel, kTail, kFarTail, kValue };
enum class Direction : std::uint8_t { kUp, kDown };
inline constexpr std::size_t kChannels = 5;
inline constexpr std::array<std::size_t, 4> kWindows = {2, 4, 6, 12};

struct Behaviour {
  double score = 0;  // S less what is usual; 0: as before
  Channel channel = Channel::kRate;
  Direction direction = Direction::kUp;
  std::size_t window = 0;  // blocks
};

// Spans of baseline that there are before the newest span, at most `wanted`.
std::size_t baseline_spans(const Past& past, std::size_t wanted = Past::kBaselineSpans);

// nullopt: the baseline has fewer than two spans.
std::optional<Behaviour> behaviour_of(const Past& past, std::size_t wanted = Past::kBaselineSpans);

// The usual numbers, from the baseline of the newest span: the reason of a row shows them.
struct Baseline {
  std::size_t blocks = 0;
  Past::Sums sums{};
  double mean_level = 0;
  int tail_index = 0;     // counts above this bucket are the tail
  double above_tail = 0;  // of the baseline
  double value_low = 0;
  double value_high = 0;
  double value_mean = 0;
};
Baseline baseline_of(const Past& past, Channel channel, std::size_t wanted);

// The counts of all buckets above `index`.
double count_above(std::span<const Bucket> buckets, int index);

}  // namespace tallyfs::view
