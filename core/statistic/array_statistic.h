// type=array: sum of Y for each interval of X; what lies below range_min goes into the first, what
// lies above the last bound into `>`. The bounds are core/definition/array_bounds.h's.
// A StatisticType (statistic_type.h); add() never allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/int128.h"
#include "core/base/json.h"
#include "core/definition/array_bounds.h"
#include "core/definition/definition.h"
#include "core/lane/cell_sums.h"
#include "core/model/sample.h"
#include "core/statistic/sums.h"
#include "core/statistic/types_of.h"

namespace tallyfs {

class ArrayStatistic {
 public:
  static constexpr std::string_view kShortestLine = " >0 0\n";
  // definition.settings are `settings`; its range gives bounds that are small enough.
  ArrayStatistic(const ArraySettings& settings, const Definition& definition);

  static std::uint64_t worst_case_bytes(const ArraySettings& settings,
                                        const Definition& definition);

  // What is out of range is added as well: there are intervals for what lies below and above. Adds
  // the number of such samples to `outside`.
  bool add(std::span<const Sample> samples, std::uint64_t& outside);
  bool add(std::span<const Sample> samples) {
    std::uint64_t outside = 0;
    return add(samples, outside);
  }
  // Has the processor fetch the first of the sums.
  void prefetch() const {
    __builtin_prefetch(totals_.data());
    __builtin_prefetch(totals_.data() + 8);
  }
  // Adds what cells hold that count with these intervals.
  bool merge(const CellSums& cells);
  std::uint64_t lines() const { return totals_.size(); }
  // One for each bound, and one for what lies above.
  std::span<const std::uint64_t> totals() const { return totals_; }
  // Of X * Y.
  Int128 sum() const { return sum_.total; }
  bool has_negative() const { return sum_.has_negative; }
  // `name <=B total` for each bound B in order, then `name >B total` with the last one
  void render(std::string_view name, std::string& out) const;
  std::uint64_t text_length(std::string_view name) const;
  const ArrayStatistic& snapshot() const { return *this; }
  void write_values(JsonWriter& json) const;
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  template <typename Steps>
  bool add_by(std::span<const Sample> samples, std::uint64_t& outside, Steps steps);

  ArraySettings settings_;
  std::int64_t range_min_;
  std::int64_t range_max_;
  SignedSum sum_;
  std::vector<std::uint64_t> totals_;  // one for each bound and one for `>`
};

template <>
struct TypeOf<ArraySettings> {
  using Type = ArrayStatistic;
};

}  // namespace tallyfs
