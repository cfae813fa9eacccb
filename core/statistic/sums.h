// The sums of samples: one counter (ValueStatistic, RangeStatistic) or one for each period
// (HistoryStatistic). Plain values, confined as their owner is.
//
// Each has: add(), true when a counter reached the end of its type and stays there; append_to(),
// the columns behind the name, with a blank before each; save() and load(), which refuses
// (ByteReader::fail()) what save() would not have written.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "core/base/bytes.h"
#include "core/base/int128.h"
#include "core/model/sample.h"

namespace tallyfs {

// Sum of Y.
struct Increments {
  std::uint64_t total = 0;

  bool add(std::span<const Sample> samples);
  void append_to(std::string& out) const;
  void save(ByteWriter& out) const { out.put(total); }
  void load(ByteReader& in) { total = in.get<std::uint64_t>(); }
};

// Sum of X * Y.
struct Products {
  Int128 total = 0;

  bool add(std::span<const Sample> samples);
  void append_to(std::string& out) const;
  void save(ByteWriter& out) const { out.put(total); }
  void load(ByteReader& in) { total = in.get<Int128>(); }
};

// Number (sum of Y), smallest X, average X, greatest X. A sample with Y = 0 counts for the
// smallest and the greatest.
struct Summary {
  std::uint64_t number = 0;
  std::int64_t min = std::numeric_limits<std::int64_t>::max();  // min > max: no sample yet
  std::int64_t max = std::numeric_limits<std::int64_t>::min();
  Int128 sum = 0;

  bool add(std::span<const Sample> samples);
  // Adds the samples of another.
  bool merge(const Summary& other);
  void append_to(std::string& out) const;
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

  // As add(), of any X and Y.
  bool add_exactly(std::span<const Sample> samples);
};

// sum / number with three decimals, rounded to nearest, halves away from zero; 0.000 when number
// is 0, and never -0.000.
void append_average(std::string& out, Int128 sum, std::uint64_t number);

}  // namespace tallyfs
