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
#include "core/latency_hist/engine/histogram.h"
#include "core/latency_hist/engine/record.h"
#include "core/latency_hist/engine/shortfall.h"
#include "core/latency_hist/engine/snapshot.h"
#include "core/model/kernel_event.h"
#include "core/sums/periods.h"
#include "core/sums/sums.h"

namespace tallyfs::latency_hist {

class Set {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  static constexpr std::size_t kTopMax = 10;
  // The intervals of the maxima are five minutes, and cover a day, unless a user defines others. A
  // week of such intervals is the most.
  static constexpr std::uint32_t kIntervals = 288;
  static constexpr std::uint32_t kIntervalsMax = 2'016;
  static constexpr std::chrono::microseconds kInterval = std::chrono::minutes(5);
  static constexpr std::chrono::microseconds kIntervalMin = std::chrono::milliseconds(1);

  // Losses on a CPU that is not known.
  static constexpr unsigned kNoCpu = KernelEvent::kNoCpu;

  Set(unsigned cpus, Timestamp now, Kind kind = Kind::kFed)
      : cpus_(cpus),
        kind_(kind),
        origin_(now.monotonic),
        since_(now.monotonic),
        last_change_(now) {}

  static std::uint64_t worst_case_bytes(unsigned cpus);

  // record.cpu < cpus().
  void add(const Record& record, Timestamp now);
  // count_lost(): so many events did not arrive. count_unmatched(): so many latencies began whose
  // end was not seen. cpu < cpus(), or of events kNoCpu.
  void count_lost(std::uint64_t events, unsigned cpu, Timestamp now);
  void count_unmatched(std::uint64_t begun, unsigned cpu, Timestamp now);
  // Clears everything but the settings of the intervals and the number of samples ever added.
  void reset(Timestamp now);
  // line: `period=MICROSECONDS entries_max=N`, either or both. Starts the maxima again. kInvalid
  // names the token.
  Result<void> define_maxima(std::string_view line, Timestamp now);

  // Saves everything but measurements that are under way. load() replaces the contents, or fails
  // the reader on bytes that save() does not write and changes nothing. After another boot the
  // maxima start again, and records have the time 0. load() fails if the machine has fewer CPUs
  // than the file has counts for.
  void save(ByteWriter& out) const;
  void load(ByteReader& in, Boot boot, Timestamp now);

  // Copies, to be rendered without the lock. cpu < cpus().
  Histogram histogram(unsigned cpu) const;
  // The counts that say how much is missing from the histogram. `lost` includes losses on unknown
  // CPUs, which may be this one.
  CpuCounts counts(unsigned cpu) const;
  Kind kind() const { return kind_; }
  Snapshot snapshot() const;

  // The files max_latency-CPUn, top, maxima.
  std::string max_latency(unsigned cpu) const;
  std::string top() const;
  std::string maxima(Nanoseconds now);

  unsigned cpus() const { return cpus_; }
  // Up to the last that has anything.
  unsigned cpus_in_use() const { return static_cast<unsigned>(per_cpu_.size()); }
  // Another number whenever the text of a file changes, maxima aside.
  std::uint64_t version() const { return version_; }
  Timestamp last_change() const { return last_change_; }

 private:
  struct PerCpu {
    Histogram histogram;
    std::uint64_t bounded = 0;
    std::uint64_t unmatched = 0;
    std::uint64_t lost = 0;
    std::optional<Record> highest;
    std::optional<Periods<Summary>> maxima;
  };

  void changed(Timestamp now);
  PerCpu& of(unsigned cpu);
  void add_to_top(const Record& record);
  void add_to_maxima(PerCpu& cpu, const Record& record, Nanoseconds now);
  static void save(ByteWriter& out, const PerCpu& cpu);
  void load_intervals(ByteReader& in);
  PerCpu load_cpu(ByteReader& in, Boot boot) const;

  unsigned cpus_;
  Kind kind_;
  std::vector<PerCpu> per_cpu_;  // up to the last that has anything
  std::vector<Record> top_;      // the highest first
  PeriodSettings intervals_{.entries_max = kIntervals, .period = kInterval};
  Nanoseconds origin_;  // of the intervals
  std::uint64_t lost_somewhere_ = 0;
  std::uint64_t version_ = 0;
  std::uint64_t samples_ = 0;  // all that were added, resets or not; after load(), of histograms
  Nanoseconds since_;          // the last reset; 0 after load()
  Timestamp last_change_;
};

}  // namespace tallyfs::latency_hist
