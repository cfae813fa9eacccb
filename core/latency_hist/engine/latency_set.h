// The content of one directory of latency_hist. For each CPU it has a histogram, the highest
// latency, the maxima of intervals, and counts of latencies that could not be measured; for all
// CPUs together the ten highest.
//
// Confined to its owner's lock. A CPU takes memory with its first latency, about 100 KiB;
// worst_case_bytes() says how much all may come to.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/boot.h"
#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/latency_hist/engine/latency_histogram.h"
#include "core/latency_hist/engine/latency_record.h"
#include "core/latency_hist/engine/latency_snapshot.h"
#include "core/latency_hist/engine/shortfall.h"
#include "core/model/kernel_event.h"
#include "core/sums/periods.h"
#include "core/sums/sums.h"

namespace tallyfs {

class LatencySet {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  static constexpr std::size_t kTopMax = 10;
  // Of the maxima: a day of five minutes, unless a user defines others; a week of them at most.
  static constexpr std::uint32_t kIntervals = 288;
  static constexpr std::uint32_t kIntervalsMax = 2'016;
  static constexpr std::chrono::microseconds kInterval = std::chrono::minutes(5);
  static constexpr std::chrono::microseconds kIntervalMin = std::chrono::milliseconds(1);

  // Losses on a CPU that is not known.
  static constexpr unsigned kNoCpu = KernelEvent::kNoCpu;

  LatencySet(unsigned cpus, Moment now, LatencyKind kind = LatencyKind::kFed)
      : cpus_(cpus),
        kind_(kind),
        origin_(now.monotonic),
        since_(now.monotonic),
        last_change_(now) {}

  static std::uint64_t worst_case_bytes(unsigned cpus);

  // record.cpu < cpus().
  void add(const LatencyRecord& record, Moment now);
  // count_lost(): so many events did not arrive. count_unmatched(): so many latencies began whose
  // end was not seen. cpu < cpus(), or of events kNoCpu.
  void count_lost(std::uint64_t events, unsigned cpu, Moment now);
  void count_unmatched(std::uint64_t begun, unsigned cpu, Moment now);
  // Clears everything but the settings of the intervals and the number of samples ever added.
  void reset(Moment now);
  // `period=MICROSECONDS entries_max=N`, either or both; starts the maxima anew. kInvalid names the
  // token.
  Result<void> define_maxima(std::string_view line, Moment now);

  // What outlives the daemon, measurements that are under way excepted. load() replaces all that is
  // there, or fails the reader on what save() does not write and changes nothing. Of another boot,
  // the maxima begin anew and the times of records are 0. A machine with fewer CPUs than the file
  // has counts in is refused.
  void save(ByteWriter& out) const;
  void load(ByteReader& in, Boot boot, Moment now);

  // Copies, to be rendered without the lock. cpu < cpus().
  LatencyHistogram histogram(unsigned cpu) const;
  // What is missing from the histogram: with the losses on unknown CPUs, which may be its own.
  CpuCounts counts(unsigned cpu) const;
  LatencyKind kind() const { return kind_; }
  LatencySnapshot snapshot() const;

  // The files max_latency-CPUn, top, maxima.
  std::string max_latency(unsigned cpu) const;
  std::string top() const;
  std::string maxima(Nanoseconds now);

  unsigned cpus() const { return cpus_; }
  // Up to the last that has anything.
  unsigned cpus_in_use() const { return static_cast<unsigned>(per_cpu_.size()); }
  // Another number whenever the text of a file changes, maxima aside.
  std::uint64_t version() const { return version_; }
  Moment last_change() const { return last_change_; }

 private:
  struct PerCpu {
    LatencyHistogram histogram;
    std::uint64_t bounded = 0;
    std::uint64_t unmatched = 0;
    std::uint64_t lost = 0;
    std::optional<LatencyRecord> highest;
    std::optional<Periods<Summary>> maxima;
  };

  void changed(Moment now);
  PerCpu& of(unsigned cpu);
  void add_to_top(const LatencyRecord& record);
  void add_to_maxima(PerCpu& cpu, const LatencyRecord& record, Nanoseconds now);
  static void save(ByteWriter& out, const PerCpu& cpu);
  void load_intervals(ByteReader& in);
  PerCpu load_cpu(ByteReader& in, Boot boot) const;

  unsigned cpus_;
  LatencyKind kind_;
  std::vector<PerCpu> per_cpu_;     // up to the last that has anything
  std::vector<LatencyRecord> top_;  // the highest first
  PeriodSettings intervals_{.entries_max = kIntervals, .period = kInterval};
  Nanoseconds origin_;  // of the intervals
  std::uint64_t lost_somewhere_ = 0;
  std::uint64_t version_ = 0;
  std::uint64_t samples_ = 0;  // all that were added, resets or not; after load(), of histograms
  Nanoseconds since_;          // the last reset; 0 after load()
  Moment last_change_;
};

}  // namespace tallyfs
