// The pasts of all statistics of a store, for "what changed most" of a minute: units of a second,
// read from the finest tier. Each read() goes on where the one before ended, so that newest points
// alone are taken; blocks that are open are unpacked again for that.
//
// A point that was read late has what was counted since the one before: that is spread evenly, up
// to four blocks. After a longer gap, or one with another reason, a past begins again: what is not
// known is not 0. Confined to one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "tools/display/past.h"
#include "tools/past/point_portions.h"
#include "tools/past/store_reader.h"

namespace tallyfs::past {

class StoredPasts {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t kUnitUs = 1'000'000;
  static constexpr std::uint64_t kBlockUs = kUnitUs * view::Past::kBlockUnits;
  static constexpr std::uint64_t kSpanUs = kBlockUs * view::Past::kSpanBlocks;
  // The span and its baseline.
  static constexpr std::uint64_t kReadUs = kSpanUs * (1 + view::Past::kBaselineSpans);

  struct Series {
    std::string interface {};
    std::string name{};
    PointPortions portions;
    view::Past past{};
    bool is_new = false;         // its name came after the first point that was read
    std::uint64_t begin_us = 0;  // of the past; 0: no point was read
    std::uint64_t end_us = 0;

    // Wall clock, so many units before the end of the newest block.
    std::uint64_t realtime_us(std::size_t units_before) const;
  };

  explicit StoredPasts(std::string directory) : directory_(std::move(directory)) {}

  // Reads on until the newest point, or that moment. True: all is read. Errors of the store;
  // kInvalid: its points are longer than a block.
  Result<bool> read(Clock::time_point until);

  // Those of which the newest point is known.
  std::vector<const Series*> series() const;
  // The time whose points are read.
  Span span() const { return {begin_us_, end_us_}; }
  // The part of what is to be read that is.
  double part_read() const;

 private:
  Result<void> find_series(StoreReader& store);
  Result<void> read_part(StoreReader& store, const Span& part);
  void take(std::uint64_t id, std::uint64_t begin_us, const Point& point);
  bool is_broken(const Span& gap) const;
  void forget();

  const std::string directory_;
  std::map<std::uint64_t, Series> series_;
  StoreReader::Wanted wanted_;
  std::set<std::pair<std::string, std::string>> seen_;  // names with a point
  std::vector<Span> breaks_;  // of the part that is read
  std::uint64_t step_us_ = 0;
  std::uint64_t begin_us_ = 0;
  std::uint64_t read_us_ = 0;   // up to there
  std::uint64_t end_us_ = 0;    // of the newest point
  std::uint64_t wanted_us_ = 0;
};

}  // namespace tallyfs::past
