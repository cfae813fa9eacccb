// Which of many statistics had samples and have none now: "most changed" has a silence while it is
// new, and takes it as usual after a minute or two. This list has it from then on.
//
// A statistic is silent if the newest span, at least, has no sample, after two spans or more that
// had some; if that is twice as long as any pause before; and if it comes by chance in one of 10^7
// looks, where blocks with samples come independently and as often as before. Only the newest span
// and the baseline count: what has been silent for most of them is not listed any more.
//
// Pure functions of pasts.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/display/most_changed.h"
#include "tools/display/past.h"

namespace tallyfs::view {

struct Silence {
  std::size_t units = 0;  // since the last sample, until the end of the newest block
  double before = 0;      // samples a unit before that
};

std::optional<Silence> silence_of(const Past& past,
                                  std::size_t baseline_spans = Past::kBaselineSpans);

// Silent statistics; three or more of one interface that stopped at most five units apart are one
// row.
struct SilentRow {
  std::vector<std::size_t> members;  // indexes of those that are watched, the busiest first
  Silence silence;                   // of the first member
};

// The busiest first. Each silence is told once: what an unusual row calls silent is left out here,
// and rows that are not unusual and call silent what is here are erased.
std::vector<SilentRow> take_silent(std::span<const Watched> watched, std::vector<ChangedRow>& rows,
                                   std::size_t baseline_spans = Past::kBaselineSpans);

// How many statistics they are.
std::size_t count_members(std::span<const SilentRow> rows);

// "silent, before 12/s", or of several "28 of 30 statistics: silent, before 12/s".
std::string reason_of(const SilentRow& row, std::size_t in_interface, double unit_seconds = 1);

}  // namespace tallyfs::view
