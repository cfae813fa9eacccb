// type=history: a value, a range or percentiles for each of successive periods; periods.h and
// quantile_periods.h have the rules.
// A StatisticType (statistic_type.h); add() allocates only for a period that has no sample yet, and
// advance() only until entries_max are there.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "core/base/bytes.h"
#include "core/base/json.h"
#include "core/statistics/definition/definition.h"
#include "core/statistics/types/quantile_periods.h"
#include "core/statistics/types/snapshot_of.h"
#include "core/statistics/types/types_of.h"
#include "core/sums/periods.h"
#include "core/sums/sums.h"

namespace tallyfs::statistics {

class HistoryStatistic {
  // Percentiles have room for some or for all that there can be, as a history may have a million
  // periods.
  using AnyPeriods = std::variant<Periods<Increments>, Periods<Products>, Periods<Summary>,
                                  QuantilePeriods<4>, QuantilePeriods<QuantileList::kBound>>;
  using SnapshotOfAny = SnapshotsOf<AnyPeriods>;

 public:
  static constexpr bool kOfOneBoot = true;
  static constexpr std::string_view kShortestLine = " [0.000000] 0\n";

  // Periods count from origin. Off.
  HistoryStatistic(const HistorySettings& settings, const Definition& definition,
                   std::chrono::nanoseconds origin);
  HistoryStatistic(const HistoryStatistic& other)
      : periods_(std::make_unique<AnyPeriods>(*other.periods_)) {}
  HistoryStatistic(HistoryStatistic&&) noexcept = default;
  HistoryStatistic& operator=(HistoryStatistic other) noexcept {
    periods_ = std::move(other.periods_);
    return *this;
  }

  static std::uint64_t worst_case_bytes(const HistorySettings& settings,
                                        const Definition& definition);
  // As above, after its definition has become another that keeps the data, whose X may lie outside
  // of the range that is allowed then.
  std::uint64_t worst_case_bytes_after(const Definition& definition) const;
  void redefine(const Definition& definition);

  // Resumes the history's time; to be called before advance() and add().
  void start(std::chrono::nanoseconds now);
  bool can_add() const;
  // Completes the periods that ended by now; true when there was one. While the history runs, the
  // caller makes this call before any other, and once more when it stops the history.
  bool advance(std::chrono::nanoseconds now);

  // Samples are not later than the last advance().
  bool add(std::span<const Sample> samples);
  bool add(std::span<const Sample> samples, const RunSums& sums);
  std::uint64_t lines() const;
  // Visits the newest completed period, if there is one: visit(end, sum, percentiles), where sum is
  // one of sums.h.
  template <typename Visit>
  void newest(Visit visit) const {
    if (lines() == 0) return;
    std::visit([&](const auto& periods) { periods.visit_newest(visit); }, *periods_);
  }
  class Snapshot {
   public:
    // `name [t] total` or `name [t] number min avg max`, with percentiles `p50=X` behind it, for
    // each completed period, which ended at t
    void render(std::string_view name, std::string& out, unsigned decimals = 0) const;
    std::uint64_t text_length(std::string_view name, unsigned decimals = 0) const;

   private:
    friend HistoryStatistic;
    std::unique_ptr<SnapshotOfAny> periods_;
  };
  // Shares its memory.
  Snapshot snapshot() const;
  void write_values(JsonWriter& json, unsigned decimals = 0) const;
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  static AnyPeriods make_periods(const HistorySettings& settings, const Definition& definition,
                                 std::chrono::nanoseconds origin);

  // On the heap, since each Statistic has room for the largest of all types, and most are small.
  std::unique_ptr<AnyPeriods> periods_;
};

template <>
struct TypeOf<HistorySettings> {
  using Type = HistoryStatistic;
};

}  // namespace tallyfs::statistics
