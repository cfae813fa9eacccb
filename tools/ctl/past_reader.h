// Reads a mount or a recording moment by moment, and keeps of each statistic the past that "what
// changed most" needs: nineteen spans of blocks at most. Reads no further than the end of a
// recording, or of the spans that are wanted of a mount. Of a store StoredPasts does it.
//
// After a reset, a redefinition, a restart of the daemon or a gap of more than four blocks, a past
// begins again: what is not known is not 0. Confined to one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "tools/display/paced_past.h"
#include "tools/display/statistic.h"
#include "tools/tree/source.h"

namespace tallyfs {

class PastReader {
 public:
  static constexpr std::size_t kUnits = view::Past::kSpanBlocks * view::Past::kBlockUnits;

  struct Series {
    view::PacedPast paced;
    std::string units;
    unsigned decimals = 0;
    bool is_new = false;  // it was not there at the first moment
  };
  using Name = std::pair<std::string, std::string>;  // interface and statistic

  // `span`: at least kUnits times 100 ms.
  PastReader(Source& source, std::chrono::microseconds span)
      : source_(source), unit_us_(static_cast<std::uint64_t>(span.count()) / kUnits) {}

  // Reads so many spans of a mount, or a whole recording. kInvalid: the snapshots of the recording
  // are farther apart than a block. Other errors are the source's.
  Result<void> read(std::uint64_t spans);

  const std::map<Name, Series>& series() const { return series_; }
  // The wall clock of the end of the newest block of a past.
  std::uint64_t end_us(const Series& series) const {
    return first_us_ + series.paced.end_of_blocks() * unit_us_ + realtime_offset_us_;
  }

 private:
  Result<void> read_timestamp();
  Result<std::vector<std::string>> interfaces();
  Result<void> read_interface(const std::string& name);
  void take(const view::Interface& now);
  // Adds the counts since `before` to the statistic's past; begins a new past if they are unknown.
  void take(const Name& name, const view::Statistic* before, const view::Statistic& now);
  void go_to(const view::Tree& tree);
  void forget();
  void close_units();

  Source& source_;
  const std::uint64_t unit_us_;
  std::string epoch_;
  // CLOCK_MONOTONIC of the first moment and of the newest one.
  std::uint64_t first_us_ = 0;
  std::uint64_t now_us_ = 0;
  std::uint64_t realtime_offset_us_ = 0;
  std::uint64_t units_ = 0;  // closed
  std::uint64_t until_ = 0;  // are closed after this moment
  std::map<std::string, std::uint64_t> serials_;
  std::map<std::string, view::Interface> newest_;
  std::map<Name, Series> series_;
};

}  // namespace tallyfs
