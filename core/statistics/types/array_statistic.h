// type=array: sum of Y for each interval of X; what lies below range_min goes into the first, what
// lies above the last bound into `>`. The bounds are core/statistics/definition/array_bounds.h's.
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
#include "core/lane/cell_sums.h"
#include "core/model/sample.h"
#include "core/statistics/definition/array_bounds.h"
#include "core/statistics/definition/definition.h"
#include "core/statistics/types/types_of.h"
#include "core/sums/sums.h"

namespace tallyfs::statistics {

class ArrayStatistic {
 public:
  static constexpr std::string_view kShortestLine = " >0 0\n";
  // definition.settings are `settings`; its range gives bounds that are small enough.
  ArrayStatistic(const ArraySettings& settings, const Definition& definition);

  static std::uint64_t worst_case_bytes(const ArraySettings& settings,
                                        const Definition& definition);

  // Adds samples out of range as well: there are intervals for what lies below and above. Adds the
  // number of such samples to `outside`.
  bool add(std::span<const Sample> samples, std::uint64_t& outside);
  bool add(std::span<const Sample> samples) {
    std::uint64_t outside = 0;
    return add(samples, outside);
  }
  // Has the processor fetch the bounds and the first of the sums.
  void prefetch() const {
    __builtin_prefetch(words_.data());
    __builtin_prefetch(words_.data() + 8);
  }
  // Adds what cells hold that count with these intervals.
  bool merge(const CellSums& cells);
  // Adds what another with the same intervals has gathered.
  bool merge(const ArrayStatistic& other);
  std::uint64_t lines() const { return words_.size() - kFirst; }
  // One for each bound, and one for what lies above.
  std::span<const std::uint64_t> totals() const { return std::span(words_).subspan(kFirst); }
  // The sum of X * Y.
  Int128 sum() const { return sum_.total; }
  bool has_negative() const { return sum_.has_negative; }
  // `name <=B total` for each bound B in order, then `name >B total` with the last one
  void render(std::string_view name, std::string& out, unsigned decimals = 0) const;
  std::uint64_t text_length(std::string_view name, unsigned decimals = 0) const;
  const ArrayStatistic& snapshot() const { return *this; }
  void write_values(JsonWriter& json, unsigned decimals = 0) const;
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  template <typename Steps>
  bool add_by(std::span<const Sample> samples, std::uint64_t& outside, Steps steps);

  std::span<std::uint64_t> counters() { return std::span(words_).subspan(kFirst); }
  std::int64_t range_min() const { return static_cast<std::int64_t>(words_[0]); }
  std::int64_t range_max() const { return static_cast<std::int64_t>(words_[1]); }
  std::uint64_t base_interval() const { return words_[2]; }
  ArrayBounds bounds() const {
    return {{.base_interval = base_interval(), .scale = scale_}, range_min(), range_max()};
  }

  static constexpr std::size_t kFirst = 3;

  [[no_unique_address]] SignedSum sum_;
  Scale scale_;  // in what the sum leaves of its last word
  // The range and the base interval stand before the totals, since each Statistic has room for the
  // largest of all types. From kFirst on: a total for each bound and one for `>`.
  std::vector<std::uint64_t> words_;
};

template <>
struct TypeOf<ArraySettings> {
  using Type = ArrayStatistic;
};

}  // namespace tallyfs::statistics
