// From snapshots of the mount to points of the store: what each statistic counted between two
// moments, and why that is not known where it is not. Confined to one thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "tools/display/statistic.h"
#include "tools/past/store_writer.h"
#include "tools/tree/json.h"

namespace tallyfs::past {

class Increments {
 public:
  explicit Increments(StoreWriter& writer) : writer_(writer) {}

  // A moment begins. Returns the interfaces that counted since the one before: of each, take() is
  // to follow.
  std::vector<std::string> begin(const view::Tree& tree);
  // kInvalid: the JSON is no interface.
  Result<void> take(const Json& json);
  // The mount gave no answer then: the time until the next moment is a gap with this reason.
  void lose(const std::string& reason, std::uint64_t realtime_us);

 private:
  struct Kept {
    view::Interface newest;
    std::uint64_t serial = 0;
    std::vector<std::uint64_t> series;  // of each statistic; 0: it is not stored
  };

  void note_pause(const view::Tree& tree);
  void note_begin(std::uint64_t until_us);
  void observe(const Kept& kept);
  void take(const view::Interface& now, const view::Statistic& statistic, const Json& json,
            const Kept* before, std::uint64_t& series);
  bool is_new(const view::Statistic& statistic) const;

  StoreWriter& writer_;
  std::string epoch_;
  std::uint64_t time_us_ = 0;      // CLOCK_MONOTONIC of this moment
  std::uint64_t before_us_ = 0;    // and of the one before; 0: there was none
  std::uint64_t realtime_us_ = 0;  // the wall clock of this moment
  std::string lost_;
  std::uint64_t lost_us_ = 0;  // the wall clock of the first loss since the moment before
  std::map<std::string, Kept> kept_;
  std::map<std::string, std::uint64_t> serials_;  // of this moment
};

}  // namespace tallyfs::past
