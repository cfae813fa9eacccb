// The part of tracing/ that tally-web shows: histogram triggers as tables, and latency histograms
// by CPU.
//
// A reading serves all requests within its time, since some readings take long: the triggers of
// events are read one by one, and a CPU's histogram has a quarter of a megabyte. Any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

#include "core/base/result.h"
#include "exporters/web/shared_reading.h"

namespace tallyfs::web {

class TracingSite {
 public:
  static constexpr std::size_t kEventsMax = 4096;  // asked for their triggers; others are left out
  static constexpr std::size_t kCpusMax = 128;
  static constexpr std::chrono::seconds kListFresh{10};
  static constexpr std::chrono::milliseconds kHistFresh{900};
  static constexpr std::chrono::seconds kCpusFresh{4};

  explicit TracingSite(std::string mount) : mount_(std::move(mount)) {}

  // JSON. Failures are those of tools/tree/timed_file.h.
  // {"hists":["tracing/events/web/request"],"left_out":false}
  Result<std::string> hists();
  // `path` as hists() has it. hist_json.h says what it is.
  Result<std::string> hist(const std::string& path);
  // `path`: "tracing/latency_hist/wakeup". cpus_json.h says what it is.
  Result<std::string> cpus(const std::string& path);

 private:
  Result<std::string> read_hists() const;
  Result<std::string> read_hist(const std::string& path) const;
  Result<std::string> read_cpus(const std::string& path) const;

  const std::string mount_;
  SharedReading readings_;
};

}  // namespace tallyfs::web
