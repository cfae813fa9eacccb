// The latencies of a directory of latency_hist at one moment, for the files that show all of them.
// A value.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/latency_hist/engine/histogram.h"
#include "core/latency_hist/engine/shortfall.h"

namespace tallyfs::latency_hist {

struct Snapshot {
  // The counts of CpuCounts. `lost` has only the events that this CPU has lost.
  struct PerCpu {
    Histogram histogram;
    std::uint64_t bounded = 0;
    std::uint64_t unmatched = 0;
    std::uint64_t lost = 0;
  };

  // The facts about the directory that data.json shows.
  struct Origin {
    std::string_view name;
    std::uint64_t epoch = 0;  // of the daemon
    bool is_on = true;        // it is measured
    Timestamp now;
  };

  Kind kind = Kind::kFed;
  std::vector<PerCpu> per_cpu;  // by CPU, up to the last that has anything
  std::uint64_t lost_somewhere = 0;
  std::uint64_t samples = 0;          // since the directory is there, whatever was reset
  std::uint64_t version = 0;          // Set::version()
  std::chrono::nanoseconds since{0};  // the last reset

  Histogram together() const;
  // The sums over all CPUs.
  std::uint64_t bounded() const { return total(0, &PerCpu::bounded); }
  std::uint64_t unmatched() const { return total(0, &PerCpu::unmatched); }
  std::uint64_t lost() const { return total(lost_somewhere, &PerCpu::lost); }

  // The file summary, a line `NAME VALUE` for each: samples, min, avg, p50 to p99.99, max in
  // microseconds, `<undef>` where there are none; lost, unmatched, bounded. Then for each CPU that
  // has anything `CPUn samples N bounded N unmatched N lost N`.
  std::string summary() const;
  // The file data: `name <=BOUND total`, as an array statistic with scale=log2, base_interval=1,
  // range_min=0 and range_max=8192 shows microseconds.
  std::string data(std::string_view name) const;
  // The file data.json: the same array in the schema of an interface's (docs/json.md), with what
  // lies outside of the rows as `below` and `above`.
  std::string json(const Origin& origin) const;
  // The file snapshot_reset: the summary, each line behind a `#`, then for each CPU with samples
  // `#CPUn` and its histogram.
  std::string everything() const;
  // everything() is no longer than that.
  std::size_t everything_bytes_max() const;

 private:
  // The array that data() shows: the sum for each bound, and for all above.
  static std::vector<std::uint64_t> array(const Histogram& all);
  std::uint64_t total(std::uint64_t sum, std::uint64_t PerCpu::*count) const;
  std::string note(const PerCpu& cpu) const;
};

}  // namespace tallyfs::latency_hist
