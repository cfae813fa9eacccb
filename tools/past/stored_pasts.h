// The pasts of all statistics of a store, for "what changed most": of the newest minute, in units
// of a second, read from the finest tier; or of a Part. Each read() goes on where the one before
// ended, so that newest points alone are taken; blocks that are open are unpacked again for that.
//
// A point that was read late has what was counted since the one before (PacedPast). After a longer
// gap, or one with another reason, a past begins again: what is not known is not 0. So it does in
// coarser tiers where less than nine tenths of a point were observed.
//
// A statistic takes memory from its first point that is read until it has had none for kReadUs, and
// no more than kSeriesMax do; those beyond wait for others to go. What else the store has costs
// nothing. Confined to one thread.
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
#include "tools/display/paced_past.h"
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
  static constexpr std::size_t kSeriesMax = 5'000;  // 10,000 took 180 MiB, quiet ones

  // A span with its baseline, read once from one tier. A baseline of another time is moved by
  // `moved_us`, modulo 2^64, so that it ends at `seam_us`, where the span begins.
  struct Part {
    Span span;
    std::uint64_t unit_us = kUnitUs;
    std::size_t tier = 0;
    std::uint64_t seam_us = 0;
    std::uint64_t moved_us = 0;

    // Where the store has a baseline of another time.
    Span baseline() const { return {span.begin_us - moved_us, seam_us - moved_us}; }
  };

  struct Name {
    std::uint64_t first_us = 0;  // the begin of its first point that was read
    std::size_t series = 0;      // definitions that have it
  };
  struct Series {
    std::string interface {};
    std::string name{};
    Name* known_as = nullptr;
    PointPortions portions;
    view::PacedPast paced{};     // its units begin with begin_us
    std::uint64_t begin_us = 0;  // 0: no point was read
    std::uint64_t end_us = 0;

    const view::Past& past() const { return paced.past(); }
  };

  explicit StoredPasts(std::string directory, std::size_t series_max = kSeriesMax)
      : directory_(std::move(directory)), series_max_(series_max) {}
  // With all statistics.
  StoredPasts(std::string directory, const Part& part)
      : directory_(std::move(directory)), part_(part), series_max_(SIZE_MAX) {}

  // Reads on until the newest point, or that moment. True: all is read. Errors of the store;
  // kInvalid: its points are longer than a block, or the definition of a statistic is damaged.
  Result<bool> read(Clock::time_point until);

  // The series whose newest point is known.
  std::vector<const Series*> series() const;
  // The wall clock of the end of its newest block, or so many units before it.
  std::uint64_t realtime_us(const Series& series, std::size_t units_before = 0) const;
  // True if the first point of its name is known, and lies in the time that is read.
  bool is_new(const Series& series) const;
  // How many statistics with newest points were passed over, for the bound.
  std::size_t left_out() const { return left_out_.size(); }
  // The time whose points are read.
  Span span() const { return {begin_us_, end_us_}; }
  // StoreReader::damaged() for the time whose points are read.
  const std::vector<Fact>& damaged() const { return damaged_; }
  // Gaps and restarts of all statistics in that time, oldest first.
  const std::vector<Fact>& gaps() const { return gaps_; }
  // The part of the wanted time that was read, from 0 to 1.
  double part_read() const;

 private:
  Result<void> read_part(StoreReader& store, const Span& part);
  // Returns nullptr for a statistic that is left out, or gone.
  Result<Series*> find_or_add(StoreReader& store, std::uint64_t id, std::uint64_t begin_us);
  void take(Series& series, std::uint64_t begin_us, const Point& point);
  void drop_gone();
  void take_facts(const std::vector<Fact>& facts, std::uint64_t moved_us);
  bool is_broken(const Span& gap) const;
  std::uint64_t block_us() const { return part_.unit_us * view::Past::kBlockUnits; }
  std::uint64_t late_us() const { return part_.unit_us * view::PacedPast::kLateUnits; }
  // How long the past is that is read.
  std::uint64_t past_us() const {
    return part_.span.end_us == 0 ? kReadUs : part_.span.end_us - part_.span.begin_us;
  }
  void forget();

  const std::string directory_;
  const Part part_{};  // without a span: the newest time, again and again
  const std::size_t series_max_;
  std::map<std::uint64_t, Series> series_;
  std::map<std::pair<std::string, std::string>, Name> names_;  // of series_
  std::set<std::uint64_t> left_out_;                           // of the part that was read last
  std::vector<Span> breaks_;  // of the part that is read
  std::vector<Fact> damaged_;
  std::vector<Fact> gaps_;
  std::uint64_t step_us_ = 0;
  std::uint64_t pieces_ = 1;  // of the finest tier, in a point
  unsigned precision_ = 0;    // of quantiles in the tier
  std::uint64_t begin_us_ = 0;
  std::uint64_t read_us_ = 0;   // up to there
  std::uint64_t end_us_ = 0;    // of the newest point
  std::uint64_t wanted_us_ = 0;
};

}  // namespace tallyfs::past
