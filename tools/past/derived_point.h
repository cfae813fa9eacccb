// What the point of a source says of the point of its view at the same time. A view whose points
// are all said by its source's is not stored itself (FORMAT.md). Pure functions.
#pragma once

#include <cstdint>

#include "tools/display/statistic.h"
#include "tools/past/point.h"

namespace tallyfs::past {

// The numbers are those of the file.
enum class Derivation : std::uint8_t {
  kNone = 0,
  kAll = 1,     // all of the point; buckets of quantiles are merged to the view's precision
  kRange = 2,   // number, sum and records: a range of quantiles
  kTotal = 3,   // the sum as a total: products of a range or of quantiles
  kNumber = 4,  // the number as a total: increments of a range or of quantiles
  kCount = 5,   // the counts of all cells as a total: increments of an array or of a list
};
inline constexpr std::uint64_t kDerivationMax = 5;

// The derivation that fits the types of both. Whether it gives the view's very points depends on
// their ranges and on the times since which both count: is_derived() compares.
Derivation derivation_of(const view::Statistic& source, const view::Statistic& of_view);

struct Precisions {
  unsigned source = 0;
  unsigned of_view = 0;
};
Point derived_point(const Point& source, Derivation how, const Precisions& precisions);
bool is_derived(const Point& of_view, const Point& source, Derivation how,
                const Precisions& precisions);

}  // namespace tallyfs::past
