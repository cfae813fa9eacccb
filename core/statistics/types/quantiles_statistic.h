// type=quantiles: percentiles from an exponential histogram (exponential_histogram.h), which says
// how exact they are. A StatisticType (statistic_type.h); add() allocates as the range of X grows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/json.h"
#include "core/base/quantile_list.h"
#include "core/statistics/definition/definition.h"
#include "core/statistics/types/exponential_histogram.h"
#include "core/statistics/types/types_of.h"
#include "core/sums/sums.h"

namespace tallyfs::statistics {

class QuantilesStatistic {
 public:
  static constexpr std::string_view kShortestLine = " p1 0\n";

  // definition.settings are `settings`.
  QuantilesStatistic(const QuantilesSettings& settings, const Definition& definition);
  QuantilesStatistic(const QuantilesStatistic& other)
      : histogram_(std::make_unique<Kept>(*other.histogram_)), quantiles_(other.quantiles_) {}
  QuantilesStatistic(QuantilesStatistic&&) noexcept = default;
  QuantilesStatistic& operator=(QuantilesStatistic&&) noexcept = default;
  // Uses this one's memory again.
  QuantilesStatistic& operator=(const QuantilesStatistic& other);

  static std::uint64_t worst_case_bytes(const QuantilesSettings& settings,
                                        const Definition& definition);
  // As above, after its definition has become another that keeps the data, whose X may lie outside
  // of the range that is allowed then.
  std::uint64_t worst_case_bytes_after(const Definition& definition) const;
  void redefine(const Definition& definition);

  // Has the processor fetch what add() reads first.
  void prefetch() const {
    constexpr std::size_t kLine = 64;
    const char* const begin = reinterpret_cast<const char*>(histogram_.get());
    __builtin_prefetch(begin, 1);
    __builtin_prefetch(begin + kLine, 1);
  }
  bool add(std::span<const Sample> samples) {
    return histogram_->histogram.add(samples, histogram_->span);
  }
  bool add(std::span<const Sample> samples, const RunSums& sums) {
    return histogram_->histogram.add(samples, histogram_->span, sums);
  }
  // Adds what another with the same settings and units has gathered.
  bool merge(const QuantilesStatistic& other) {
    Kept& kept = *histogram_;
    kept.span = kept.span.joined(other.histogram_->span);
    return kept.histogram.merge(other.histogram_->histogram, kept.span);
  }
  const ExponentialHistogram& histogram() const { return histogram_->histogram; }
  std::uint64_t lines() const { return is_empty() ? 1 : 4 + quantiles_.size(); }
  // The part of the histogram that is shown: the whole may be much larger.
  class Snapshot {
   public:
    std::uint64_t text_length(std::string_view name, unsigned decimals = 0) const;
    // `name count`, `name min`, `name avg`, `name p..` for each percentile, `name max`; `name count
    // 0` alone without samples
    void render(std::string_view name, std::string& out, unsigned decimals = 0) const;

   private:
    friend QuantilesStatistic;
    QuantileList quantiles_;
    Summary summary_;
    std::array<std::int64_t, QuantileList::kBound> x_{};  // of each percentile
  };
  Snapshot snapshot() const;
  void write_values(JsonWriter& json, unsigned decimals = 0) const;
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  struct Kept {
    ExponentialHistogram histogram;
    Span span;  // of all ranges since the data began
  };

  static std::uint64_t worst_case_bytes(const QuantilesSettings& settings,
                                        const Definition& definition, const Span& span);
  bool is_empty() const { return histogram_->histogram.summary().number == 0; }

  // On the heap, since each Statistic has room for the largest of all types.
  std::unique_ptr<Kept> histogram_;
  QuantileList quantiles_;
};

template <>
struct TypeOf<QuantilesSettings> {
  using Type = QuantilesStatistic;
};

}  // namespace tallyfs::statistics
