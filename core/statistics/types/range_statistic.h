// type=range: number of samples (sum of Y), smallest, average and greatest X.
// A StatisticType (statistic_type.h) of 48 bytes, nothing on the heap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/json.h"
#include "core/lane/cell_sums.h"
#include "core/statistics/definition/definition.h"
#include "core/statistics/types/types_of.h"
#include "core/sums/sums.h"

namespace tallyfs::statistics {

class RangeStatistic {
 public:
  static constexpr std::string_view kShortestLine = " 0 0 0.000 0\n";

  explicit RangeStatistic(const RangeSettings&) {}

  static std::uint64_t worst_case_bytes(const RangeSettings&) { return 0; }

  bool add(std::span<const Sample> samples) { return summary_.add(samples); }
  // Adds what cells hold.
  bool merge(const CellSums& cells) {
    return summary_.merge(
        {.number = cells.number, .min = cells.min, .max = cells.max, .sum = cells.sum});
  }
  // Adds what another has gathered.
  bool merge(const RangeStatistic& other) { return summary_.merge(other.summary_); }
  bool add(std::span<const Sample>, const RunSums& sums) { return summary_.add(sums); }
  const Summary& summary() const { return summary_; }
  std::uint64_t lines() const { return 1; }
  // `name number min avg max`, `name 0 0 0.000 0` without samples
  void render(std::string_view name, std::string& out, unsigned decimals = 0) const;
  std::uint64_t text_length(std::string_view name, unsigned decimals = 0) const;
  const RangeStatistic& snapshot() const { return *this; }
  void write_values(JsonWriter& json, unsigned decimals = 0) const;
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  Summary summary_;
};

template <>
struct TypeOf<RangeSettings> {
  using Type = RangeStatistic;
};

}  // namespace tallyfs::statistics
