// The sums of samples: one counter (ValueStatistic, RangeStatistic) or one for each period
// (HistoryStatistic). Plain values, confined as their owner is.
//
// Each has: add(), true when a counter reached the end of its type and stays there; append_to(),
// the columns behind the name, with a blank before each; write_columns(), the same of many sums as
// JSON, where at(i) is the sum i; both show X with so many decimal places; save() and load(), which
// refuses (ByteReader::fail()) what save() would not have written.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/int128.h"
#include "core/base/json.h"
#include "core/base/json_column.h"
#include "core/base/saturating.h"
#include "core/model/sample.h"

namespace tallyfs {

struct RunSums;

// Sum of Y.
struct Increments {
  std::uint64_t total = 0;

  bool add(std::span<const Sample> samples);
  bool add(const RunSums& sums);
  void append_to(std::string& out, unsigned decimals = 0) const;
  template <typename At>
  static void write_columns(JsonWriter& json, std::size_t size, At at, unsigned = 0) {
    write_column(json, "totals", size, [&](std::size_t i) { json.number(at(i).total); });
  }
  void write_total(JsonWriter& json, unsigned) const { json.number(total); }
  void save(ByteWriter& out) const { out.put(total); }
  void load(ByteReader& in) { total = in.get<std::uint64_t>(); }
};

// Sum of X * Y.
struct Products {
  Int128 total = 0;

  bool add(std::span<const Sample> samples);
  bool add(const RunSums& sums);
  void append_to(std::string& out, unsigned decimals = 0) const;
  template <typename At>
  static void write_columns(JsonWriter& json, std::size_t size, At at, unsigned decimals = 0) {
    write_column(json, "totals", size, [&](std::size_t i) { at(i).write_total(json, decimals); });
  }
  void write_total(JsonWriter& json, unsigned decimals) const { json.fixed(total, decimals); }
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
  bool add(const RunSums& sums);
  // Adds the samples of another.
  bool merge(const Summary& other);
  void append_to(std::string& out, unsigned decimals = 0) const;
  // These write JSON, and null without a sample.
  void write_min(JsonWriter& json, unsigned decimals) const {
    min > max ? json.null() : json.fixed(min, decimals);
  }
  void write_avg(JsonWriter& json, unsigned decimals) const;
  void write_max(JsonWriter& json, unsigned decimals) const {
    min > max ? json.null() : json.fixed(max, decimals);
  }
  // The members of an object: the number by this key, min, avg, max, sum.
  void write_members(JsonWriter& json, std::string_view number_key, unsigned decimals = 0) const;
  template <typename At>
  static void write_columns(JsonWriter& json, std::size_t size, At at, unsigned decimals = 0) {
    write_column(json, "number", size, [&](std::size_t i) { json.number(at(i).number); });
    write_extremes(json, size, at, decimals);
    write_column(json, "sum", size, [&](std::size_t i) { json.fixed(at(i).sum, decimals); });
  }
  // The columns min, avg and max.
  template <typename At>
  static void write_extremes(JsonWriter& json, std::size_t size, At at, unsigned decimals) {
    write_column(json, "min", size, [&](std::size_t i) { at(i).write_min(json, decimals); });
    write_column(json, "avg", size, [&](std::size_t i) { at(i).write_avg(json, decimals); });
    write_column(json, "max", size, [&](std::size_t i) { at(i).write_max(json, decimals); });
  }
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

  // add() for any X and Y.
  bool add_exactly(std::span<const Sample> samples);
};

// The sums of a run of samples that several statistics get, added up once. add() of these is as
// that of the samples.
struct RunSums {
  Summary summary;
  std::chrono::nanoseconds oldest;  // the least time

  // nullopt: there is no sample, or X or Y are so large that samples have to be added one by one.
  static std::optional<RunSums> of(std::span<const Sample> samples);
};

// With Y below this, sums of Y and of X * Y of samples that memory can hold are far from the ends
// of their types.
inline constexpr std::uint64_t kSmallY = 1 << 22;

// Sum of X * Y, and whether an X was below 0.
struct SignedSum : Products {
  bool has_negative = false;

  // Adds samples up in a loop that has another purpose: note() is called with each of them. Has no
  // branch; the sum is wrong with a Y that is not small.
  class Pass {
   public:
    void note(std::int64_t x, std::uint64_t y) {
      sum_ += static_cast<UInt128>(Int128{x} * static_cast<std::int64_t>(y));
      bits_of_x_ |= x;
      bits_of_y_ |= y;
    }

   private:
    friend SignedSum;

    UInt128 sum_ = 0;  // modulo 2^128, which a Y that is not small exceeds
    std::int64_t bits_of_x_ = 0;
    std::uint64_t bits_of_y_ = 0;
  };

  bool add(std::span<const Sample> samples);
  bool add(const RunSums& sums);
  // Adds the samples of a pass. Inline: a pass whose address is taken would be kept in memory.
  bool add(const Pass& pass, std::span<const Sample> samples) {
    has_negative |= pass.bits_of_x_ < 0;
    if (pass.bits_of_y_ < kSmallY) [[likely]]
      return add_saturating(total, static_cast<Int128>(pass.sum_));
    return Products::add(samples);
  }
  void save(ByteWriter& out) const;
  void load(ByteReader& in);
};

// sum / number in thousandths, rounded to nearest, halves away from zero; 0 when number is 0.
Int128 average_thousandths(Int128 sum, std::uint64_t number);
// sum / number with three decimal places more than X, rounded to nearest, halves away from zero;
// 0.000 when number is 0, and never -0.000.
void append_average(std::string& out, Int128 sum, std::uint64_t number, unsigned decimals = 0);

}  // namespace tallyfs
