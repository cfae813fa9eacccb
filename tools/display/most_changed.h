// Which of many statistics behave most unlike before: rows, the most unlike first. Three or more
// statistics of one interface that changed alike, at most five units apart, are one row.
// Pure functions; a look at 10,000 statistics takes 50 ms at most.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tools/display/behaviour.h"
#include "tools/display/onset.h"
#include "tools/display/past.h"

namespace tallyfs::view {

// A statistic with its past, which must outlive the look.
struct Watched {
  std::string interface;
  const Past* past = nullptr;
};

struct ChangedRow {
  std::vector<std::size_t> members;  // indexes of those that are watched, the most unlike first
  Behaviour behaviour;               // of the first member, and its onset
  Onset onset;
  bool is_unusual = false;
};

struct ChangeOptions {
  std::size_t rows_max = 10;
  std::size_t baseline_spans = Past::kBaselineSpans;
};

// A score from which on a row is unusual: beside a full baseline, and beside a shorter one.
inline constexpr double kUnusual = 5;
inline constexpr double kUnusualShort = 11;
constexpr double unusual_from(std::size_t baseline_spans) {
  return baseline_spans < Past::kBaselineSpans ? kUnusualShort : kUnusual;
}

// Statistics with fewer than two spans of baseline are passed over.
std::vector<ChangedRow> most_changed(std::span<const Watched> watched,
                                     const ChangeOptions& options = {});

}  // namespace tallyfs::view
