// Why a row of "what changed most" is there, in words with numbers: by how much, from what to what.
// Percentiles are the caller's, else of buckets of a quarter of an octave, or of an array's own bin
// where that is wider. Two that read alike are left out. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tools/display/look.h"
#include "tools/display/most_changed.h"
#include "tools/display/statistic.h"

namespace tallyfs::view {

// "rate", "level", "tail", "far tail", "value".
std::string_view name_of(Channel channel);

// A percentile as text: that of the baseline, and that since the onset.
struct TwoPercentiles {
  std::string before;
  std::string now;
};

// Without the bounds that percentile_text() adds; nothing for a type or data without percentiles.
std::optional<std::string> p99_text(const Statistic& statistic, const Look& look);

struct ReasonFacts {
  const ChangedRow* row = nullptr;
  const Past* past = nullptr;    // of the row's first member
  std::size_t in_interface = 0;  // statistics of its interface that are watched
  std::string units{};           // of the first member
  unsigned decimals = 0;         // the same
  double unit_seconds = 1;
  std::size_t baseline_spans = Past::kBaselineSpans;  // wanted
  std::optional<TwoPercentiles> p99{};  // of the statistic's own buckets, where they are known
};

// "slower x6.4, p99 8.1ms -> 52ms (1,204 samples)", "x10, 5.0/s -> 51/s",
// "3.9 % above 40ms, before 0.9 %", "silent, before 12/s", "4.1GiB, before 1.9GiB to 2.1GiB",
// "28 of 30 statistics: rate x2.0".
std::string reason_of(const ReasonFacts& facts, const Look& look);

}  // namespace tallyfs::view
