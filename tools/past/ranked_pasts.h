// The statistics of a store, ordered by "what changed most", with the reason of each row, as the
// page and doctor show them. Ranks the StoredPasts when it is made; confined to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/display/look.h"
#include "tools/display/most_changed.h"
#include "tools/display/silence.h"
#include "tools/past/stored_pasts.h"

namespace tallyfs::past {

class RankedPasts {
 public:
  using Series = StoredPasts::Series;
  static constexpr std::size_t kBaselineMin = 2;  // spans
  static constexpr std::size_t kRowsOfQuiet = 3;  // if nothing is unusual

  // The pasts outlive it, and must not read more of the store meanwhile.
  RankedPasts(const StoredPasts& pasts, std::size_t rows_max);

  const std::vector<view::ChangedRow>& rows() const { return rows_; }
  bool is_unusual() const { return !rows_.empty() && rows_.front().is_unusual; }
  // How many statistics have a baseline.
  std::size_t ranked() const { return watched_.size(); }
  // The spans of the longest baseline.
  std::size_t spans() const { return spans_; }
  // The statistics that are new.
  const std::vector<const Series*>& fresh() const { return fresh_; }
  // The statistics that are silent, but those that an unusual one of rows() has.
  const std::vector<view::SilentRow>& silent() const { return silent_; }

  const Series& member(std::size_t index) const { return *series_[index]; }
  const Series& first(const view::ChangedRow& row) const { return member(row.members.front()); }
  const Series& first(const view::SilentRow& row) const { return member(row.members.front()); }
  // The wall clock of its onset.
  std::uint64_t since_us(const view::ChangedRow& row) const {
    return pasts_.realtime_us(first(row), row.onset.begin);
  }
  std::uint64_t since_us(const view::SilentRow& row) const {
    return pasts_.realtime_us(first(row), row.silence.units);
  }
  std::string reason(const view::ChangedRow& row, const view::Look& look) const;
  std::string reason(const view::SilentRow& row) const {
    return view::reason_of(row, in_interface_.at(first(row).interface));
  }

 private:
  const StoredPasts& pasts_;
  std::vector<const Series*> series_;
  std::vector<view::Watched> watched_;  // the same
  std::map<std::string_view, std::size_t> in_interface_;
  std::vector<const Series*> fresh_;
  std::vector<view::ChangedRow> rows_;
  std::vector<view::SilentRow> silent_;
  std::size_t spans_ = 0;
};

}  // namespace tallyfs::past
