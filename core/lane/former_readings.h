// What the cells of one id in a lane file held when they were read last, in one era. Counts of a
// cell do not fall, so a lower one is a fault, and what was read before stands.
//
// Bounded: those of one file take no more bytes than the file, and each is charged to the uid of
// the file. Of a cell for which there is no room nothing is kept, and it is compared to nothing.
// Confined to its owner. The ledger outlives it.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "core/base/ledger.h"
#include "core/base/prefetch.h"
#include "core/lane/cell_sums.h"
#include "core/lane/layout.h"
#include "core/lane/room_share.h"

namespace tallyfs {

class FormerReadings {
 public:
  // room: bytes for all of the file.
  FormerReadings(RoomShare::Room room, Ledger& ledger, uid_t uid)
      : uid_(uid), room_(std::move(room)), ledger_(ledger) {}
  ~FormerReadings() { give_back(); }
  FormerReadings(const FormerReadings&) = delete;
  FormerReadings& operator=(const FormerReadings&) = delete;

  // A look begins. What was read in another era is forgotten.
  void begin(std::uint32_t era) {
    next_ = 0;
    if (std::exchange(era_, era) == era) return;
    by_place_.clear();
    give_back();
  }
  // Has the processor fetch the first ones.
  void prefetch() const { prefetch_lines(by_place_.data(), sizeof(Reading)); }
  std::size_t size() const { return by_place_.size(); }
  // In one look each place once, in their order. Nullptr: nothing is known of this cell.
  CellSums* find(std::uint32_t at) {
    while (next_ < by_place_.size() && by_place_[next_].at < at) ++next_;
    return next_ < by_place_.size() && by_place_[next_].at == at ? &by_place_[next_].sums : nullptr;
  }
  // Of a cell of which nothing is known.
  void keep(std::uint32_t at, CellSums reading) {
    if (!make_room(cell_bytes(static_cast<std::uint32_t>(reading.counts.size())))) return;
    added_.push_back({.at = at, .sums = std::move(reading)});
  }
  // Those of all other places than these, which are in their order.
  void add_others(const std::vector<std::uint32_t>& than, CellSums& sums) const {
    for (const Reading& each : by_place_) {
      if (!std::ranges::binary_search(than, each.at)) sums.add(each.sums);
    }
  }
  // The look is over.
  void end() {
    if (added_.empty()) return;
    const auto before = static_cast<std::ptrdiff_t>(by_place_.size());
    std::ranges::move(added_, std::back_inserter(by_place_));
    std::ranges::inplace_merge(by_place_, by_place_.begin() + before, {}, &Reading::at);
    added_ = {};
  }

 private:
  struct Reading {
    std::uint32_t at = 0;
    CellSums sums{};
  };

  void give_back() {
    share_.give_back_all();
    const std::uint64_t bytes = std::exchange(bytes_, 0);
    if (bytes != 0) ledger_.release(uid_, {.bytes = bytes});
  }
  bool make_room(std::size_t bytes) {
    const auto amount = static_cast<std::int64_t>(bytes);
    if (!share_.take(room_, amount)) return false;
    if (ledger_.reserve(uid_, {.bytes = bytes})) {
      bytes_ += bytes;
      return true;
    }
    share_.give_back(amount);
    return false;
  }

  // What each look needs comes first. In the order of places: a look goes through both side by
  // side, and few lanes have more than some cells of one id.
  std::vector<Reading> by_place_;
  std::size_t next_ = 0;
  std::uint32_t era_ = 0;
  const uid_t uid_;
  std::vector<Reading> added_;  // by this look, in the order of places
  const RoomShare::Room room_;
  RoomShare share_;
  Ledger& ledger_;
  std::uint64_t bytes_ = 0;
};

}  // namespace tallyfs
