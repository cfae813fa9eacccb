// Percentiles for each period of a history (periods.h has the rules of periods). The open period
// and the two newest before it keep an exponential histogram each. An older period keeps only the
// numbers that it shows: a late sample for it counts in the oldest of the three histograms.
//
// kQuantiles is the number of percentiles that a period has room for. Confined to its
// HistoryStatistic.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/decimal.h"
#include "core/base/json.h"
#include "core/base/json_column.h"
#include "core/base/text.h"
#include "core/statistics/definition/definition.h"
#include "core/statistics/types/exponential_histogram.h"
#include "core/sums/periods.h"

namespace tallyfs::statistics {

inline PeriodSettings periods_of(const HistorySettings& settings) {
  return {.entries_max = settings.entries_max, .period = settings.period};
}

// The numbers that a period without a histogram shows.
template <std::size_t kQuantiles>
struct ShownPeriod {
  Summary summary;
  std::array<std::int64_t, kQuantiles> quantiles{};

  void append_to(std::string& out, const QuantileList& list, unsigned decimals) const {
    if (summary.number == 0) {
      Summary{}.append_to(out, decimals);
      return;
    }
    summary.append_to(out, decimals);
    for (std::size_t i = 0; i < list.size(); ++i) {
      out.append(" p").append(list.label(i)).push_back('=');
      append_fixed(out, quantiles[i], decimals);
    }
  }
  void save(ByteWriter& out) const {
    summary.save(out);
    for (const std::int64_t x : quantiles) out.put(x);
  }
  void load(ByteReader& in) {
    summary.load(in);
    for (std::int64_t& x : quantiles) x = in.get<std::int64_t>();
  }
};

template <std::size_t kQuantiles>
class QuantilePeriods {
  using Shown = ShownPeriod<kQuantiles>;
  static constexpr std::size_t kKept = 3;

 public:
  using Nanoseconds = std::chrono::nanoseconds;

  QuantilePeriods(const HistorySettings& settings, const Definition& definition, Nanoseconds origin)
      : quantiles_(settings.quantiles),
        span_{definition.range_min, definition.range_max},
        periods_(periods_of(settings), origin),
        kept_{ExponentialHistogram(buckets_of(settings, definition)),
              ExponentialHistogram(buckets_of(settings, definition)),
              ExponentialHistogram(buckets_of(settings, definition))} {}

  static std::uint64_t worst_case_bytes(const HistorySettings& settings,
                                        const Definition& definition, const Span& span) {
    return 2 * QuantileList::kBytesMax + Periods<Shown>::worst_case_bytes(periods_of(settings)) +
           kKept * ExponentialHistogram::worst_case_bytes(buckets_of(settings, definition), span);
  }
  // The range of X, joined with all ranges that definitions have set since the data began.
  const Span& span() const { return span_; }
  void widen(const Span& span) { span_ = span_.joined(span); }

  // These do what the functions of Periods with the same names do.
  bool has_open() const { return periods_.has_open(); }
  std::size_t completed() const { return periods_.completed(); }
  void start(Nanoseconds now) {
    const std::uint64_t before = periods_.serial();
    periods_.start(now);
    close(before);
  }
  bool advance(Nanoseconds now) {
    const std::uint64_t before = periods_.serial();
    if (!periods_.advance(now)) return false;
    close(before);
    return true;
  }

  // True if a counter reached the end of its type. sums: those of these samples. has_open().
  bool add(std::span<const Sample> samples) {
    bool saturated = false;
    const std::size_t oldest_kept = std::min(kKept, periods_.size()) - 1;
    periods_.split(samples, [&](std::size_t age, std::span<const Sample> some) {
      saturated |= kept(periods_.serial() - std::min(age, oldest_kept)).add(some, span_);
    });
    return saturated;
  }

  bool add(std::span<const Sample> samples, const RunSums& sums) {
    if (!periods_.is_in_open(sums)) return add(samples);
    return kept(periods_.serial()).add(samples, span_, sums);
  }

  // A copy for rendering. It shares the memory of older periods with the original.
  class Snapshot {
   public:
    std::uint64_t text_length(std::string_view name, unsigned decimals = 0) const {
      return periods_.text_length(name, appending(decimals));
    }
    void render(std::string_view name, std::string& out, unsigned decimals = 0) const {
      periods_.render(name, out, appending(decimals));
    }

   private:
    friend QuantilePeriods;
    Snapshot(const QuantileList& quantiles, const Periods<Shown>& periods)
        : quantiles_(quantiles), periods_(periods) {}

    auto appending(unsigned decimals) const {
      return [this, decimals](std::size_t age, const Shown& shown, std::string& out) {
        (age < kKept ? newest_[age] : shown).append_to(out, quantiles_, decimals);
      };
    }

    QuantileList quantiles_;
    Periods<Shown> periods_;
    std::array<Shown, kKept> newest_;  // by age
  };
  Snapshot snapshot() const {
    Snapshot copy(quantiles_, periods_);
    for (std::size_t age = 0; age < std::min(kKept, periods_.size()); ++age) {
      copy.newest_[age] = what_shows(kept(periods_.serial() - age));
    }
    return copy;
  }

  void write_columns(JsonWriter& json, unsigned decimals) const {
    const std::size_t size = completed();
    std::array<Shown, kKept> newest;  // by age
    for (std::size_t age = 1; age < kKept && age <= size; ++age) {
      newest[age] = what_shows(kept(periods_.serial() - age));
    }
    const auto shown = [&](std::size_t i) -> const Shown& {
      return size - i < kKept ? newest[size - i] : periods_[i];
    };
    const Summary none;
    const auto summary = [&](std::size_t i) -> const Summary& {
      return shown(i).summary.number == 0 ? none : shown(i).summary;
    };
    periods_.write_ends(json);
    write_column(json, "count", size, [&](std::size_t i) { json.number(summary(i).number); });
    Summary::write_extremes(json, size, summary, decimals);
    json.key("quantiles").begin_array();
    for (std::size_t q = 0; q < quantiles_.size() && !json.is_too_long(); ++q) {
      json.begin_object().key("q").number_text(quantiles_.number(q));
      write_column(json, "values", size, [&](std::size_t i) {
        summary(i).number == 0 ? json.null() : json.fixed(shown(i).quantiles[q], decimals);
      });
      json.end_object();
    }
    json.end_array();
  }

  // Visits the newest completed period: visit(end, summary, percentiles); percentiles are empty
  // without samples. completed() > 0.
  template <typename Visit>
  void visit_newest(Visit visit) const {
    const Shown shown = what_shows(kept(periods_.serial() - 1));
    const bool is_empty = shown.summary.number == 0;
    const std::span<const std::int64_t> quantiles(shown.quantiles);
    visit(periods_.newest_end(), is_empty ? Summary{} : shown.summary,
          quantiles.first(is_empty ? 0 : quantiles_.size()));
  }

  void save(ByteWriter& out) const {
    out.put(span_.min);
    out.put(span_.max);
    periods_.save(out);
    for (std::size_t age = 0; age < std::min(kKept, periods_.size()); ++age) {
      kept(periods_.serial() - age).save(out);
    }
  }
  void load(ByteReader& in) {
    const Span allowed = span_;
    const Span saved{in.get<std::int64_t>(), in.get<std::int64_t>()};
    if (!in.ok() || saved.joined(allowed) != saved) return in.fail();
    span_ = saved;
    periods_.load(in);
    for (std::size_t age = 0; in.ok() && age < std::min(kKept, periods_.size()); ++age) {
      kept(periods_.serial() - age).load(in, span_);
    }
  }

 private:
  static const ExponentialBuckets& buckets_of(const HistorySettings& settings,
                                              const Definition& definition) {
    return ExponentialBuckets::get(settings.precision, factor_of_x(definition));
  }

  ExponentialHistogram& kept(std::uint64_t serial) { return kept_[serial % kKept]; }
  const ExponentialHistogram& kept(std::uint64_t serial) const { return kept_[serial % kKept]; }

  Shown what_shows(const ExponentialHistogram& histogram) const {
    Shown shown{.summary = histogram.summary()};
    histogram.each_quantile(quantiles_,
                            [&](std::size_t i, std::int64_t x) { shown.quantiles[i] = x; });
    return shown;
  }

  // Call after the newest period's number has grown from `before`. Periods that have become too old
  // for a histogram keep what it shows, and the histogram is cleared for its next period.
  void close(std::uint64_t before) {
    const std::uint64_t now = periods_.serial();
    const std::uint64_t oldest = before < kKept ? 1 : before - kKept + 1;
    for (std::uint64_t serial = oldest; serial <= before && serial + kKept <= now; ++serial) {
      ExponentialHistogram& histogram = kept(serial);
      if (histogram.is_empty()) continue;
      const std::uint64_t age = now - serial;
      if (age < periods_.size()) periods_.at_age(age) = what_shows(histogram);
      histogram.clear();
    }
  }

  QuantileList quantiles_;
  Span span_;
  Periods<Shown> periods_;
  std::array<ExponentialHistogram, kKept> kept_;  // by serial number
};

}  // namespace tallyfs::statistics
