// A point of the store: what one statistic counted in a piece of time, of whichever type it is.
// Points add up, so that those of a minute are the sum of those of its seconds, and percentiles of
// any span are those of its samples. Counts end at the end of their type. Values, pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/int128.h"
#include "tools/display/statistic.h"
#include "tools/tree/json.h"

namespace tallyfs::past {

// Samples of one place: of an array the number of its bin, of a list X, of quantiles the bucket.
struct Cell {
  std::int64_t key = 0;
  std::uint64_t count = 0;

  bool operator==(const Cell&) const = default;
};

struct Point {
  // Finest pieces of time that were observed.
  std::uint64_t known = 0;
  std::uint64_t samples = 0;
  std::uint64_t out_of_range = 0;
  std::uint64_t missed = 0;
  std::uint64_t number = 0;  // of a range and of quantiles
  Int128 total = 0;          // of a value; the sum of a range and of quantiles
  // A record that was broken within the piece: only then it is known that it lies there.
  std::optional<std::int64_t> min{};
  std::optional<std::int64_t> max{};
  std::optional<std::int64_t> last{};
  std::vector<Cell> cells{};  // by key, ascending; none is 0

  bool operator==(const Point&) const = default;
  bool has_samples() const;
};

// `more` is the later one.
void add(Point& sum, const Point& more);

// So many entries of a list are kept, those with the most. The others' counts are `missed`.
inline constexpr std::size_t kListEntries = 100;
void keep_largest(Point& point);

// Merges the buckets of quantiles of one precision into those of a lower one, which hold just the
// same X (core/base/exponential_buckets.h).
void lower_precision(Point& point, unsigned from, unsigned to);

// How the points of a statistic add up, and what else the store has them from.
enum class Derivation : std::uint8_t;  // derived_point.h
struct Adding {
  bool is_list = false;
  unsigned precision = 0;  // of quantiles; else 0
  // Of a view: its source's series, and how the view's points are derived from those.
  std::uint64_t source = 0;
  Derivation how{};
};
Adding adding_of(const view::Statistic& statistic);

// False of types that show past times themselves: history and raw.
bool is_stored(const view::Statistic& statistic);

// Returns what was counted from `before` to `now`, with known = 1. Without `before` it is all that
// `now` has. Nothing if it is not known: a total fell, or the types differ.
std::optional<Point> point_between(const view::Statistic* before, const view::Statistic& now);

// The point of a moment in which the statistic counted nothing: a last value is still known.
Point quiet_point(const view::Statistic& statistic);

// A statistic's JSON without all that counts: its definition, the bounds of an array, the
// percentiles that are shown. Two that are equal count alike.
Json shape_of(const Json& statistic);
// The shape as data.json has it, with what the point counted since `data_us`. `precision`: of the
// point's quantiles, where it is lower than the shape's.
Json statistic_of(const Json& shape, const Point& point, std::uint64_t data_us, unsigned precision);
// The precision of a shape with quantiles; else 0.
unsigned precision_of(const Json& shape);
// Sets the counts of a statistic; its definition stays.
void set_counted(view::Statistic& statistic, const Point& point);
// Sets the bins of an array or of quantiles to the cells; other values stay as they are. What lies
// outside of an array's range is in no bin.
void set_bins(view::Values& values, const std::vector<Cell>& cells);

}  // namespace tallyfs::past
