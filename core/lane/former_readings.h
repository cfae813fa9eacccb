// What the cells of one id in a lane file held when they were read last, in one era. Counts of a
// cell do not fall, so a lower one is a fault, and what was read before stands.
//
// Bounded: those of one file take no more bytes than the file, and each is charged to the uid of
// the file. Of a cell for which there is no room nothing is kept, and it is compared to nothing.
// Confined to its owner. The ledger outlives it.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/ledger.h"
#include "core/lane/cell_sums.h"
#include "core/lane/layout.h"
#include "core/lane/room_share.h"

namespace tallyfs {

class FormerReadings {
 public:
  // room: bytes for all of the file.
  FormerReadings(RoomShare::Room room, Ledger& ledger, uid_t uid)
      : room_(std::move(room)), ledger_(ledger), uid_(uid) {}
  ~FormerReadings() { give_back(); }
  FormerReadings(const FormerReadings&) = delete;
  FormerReadings& operator=(const FormerReadings&) = delete;

  // What was read in another era is forgotten.
  void begin(std::uint32_t era) {
    if (std::exchange(era_, era) == era) return;
    by_place_.clear();
    give_back();
  }
  std::size_t size() const { return by_place_.size(); }
  // Nullptr: nothing is known of this cell.
  const CellSums* find(std::uint32_t at) const {
    const auto found = by_place_.find(at);
    return found == by_place_.end() ? nullptr : &found->second;
  }
  void keep(std::uint32_t at, CellSums reading) {
    const auto found = by_place_.find(at);
    if (found != by_place_.end()) {
      found->second = std::move(reading);
    } else if (make_room(cell_bytes(static_cast<std::uint32_t>(reading.counts.size())))) {
      by_place_.emplace(at, std::move(reading));
    }
  }
  // Those of all other places than these, which are in their order.
  void add_others(const std::vector<std::uint32_t>& than, CellSums& sums) const {
    for (const auto& [at, reading] : by_place_) {
      if (!std::ranges::binary_search(than, at)) sums.add(reading);
    }
  }

 private:
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

  const RoomShare::Room room_;
  RoomShare share_;
  Ledger& ledger_;
  const uid_t uid_;
  std::uint64_t bytes_ = 0;
  std::uint32_t era_ = 0;
  boost::unordered_flat_map<std::uint32_t, CellSums> by_place_;
};

}  // namespace tallyfs
