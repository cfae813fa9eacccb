// The contents of one id's cells in a lane file at the last reading, in one era. Counts of a cell
// do not fall: a lower count is a fault, and the contents of the last reading remain valid.
//
// Bounded: the readings of one file have no more bytes than the file, and each is charged to the
// uid of the file. A cell without room has no reading, and is not compared. A value, confined to
// its owner.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
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
  // Charges the bytes of the readings. The ledger outlives it.
  class Account {
   public:
    // room: bytes for all of the file.
    Account(RoomShare::Room room, Ledger& ledger, uid_t uid)
        : room_(std::move(room)), ledger_(ledger), uid_(uid) {}
    ~Account() { give_back(); }
    Account(const Account&) = delete;
    Account& operator=(const Account&) = delete;

    bool take(std::size_t bytes) {
      const auto amount = static_cast<std::int64_t>(bytes);
      if (!share_.take(room_, amount)) return false;
      if (ledger_.reserve(uid_, {.bytes = bytes})) {
        bytes_ += bytes;
        return true;
      }
      share_.give_back(amount);
      return false;
    }
    void give_back() {
      share_.give_back_all();
      const std::uint64_t bytes = std::exchange(bytes_, 0);
      if (bytes != 0) ledger_.release(uid_, {.bytes = bytes});
    }

   private:
    const RoomShare::Room room_;
    RoomShare share_;
    Ledger& ledger_;
    const uid_t uid_;
    std::uint64_t bytes_ = 0;
  };

  // False before the first look.
  bool has_account() const { return account_ != nullptr; }
  void charge_to(std::unique_ptr<Account> account) { account_ = std::move(account); }

  // Forgets readings of another era.
  void begin(std::uint32_t era) {
    if (std::exchange(era_, era) == era) return;
    by_place_.clear();
    account_->give_back();
  }

  // Looks at each place once, in ascending order. The readings outlive it.
  class Look;

  // Prefetches the first reading.
  void prefetch() const {
    if (!by_place_.empty()) prefetch_lines(by_place_.data(), sizeof(Reading));
  }
  // Prefetches the counts of the first reading. Call after prefetch() had time to take effect.
  void prefetch_counts() const {
    if (by_place_.empty()) return;
    const auto& counts = by_place_.front().sums.counts;
    prefetch_lines(counts.data(), std::min(counts.size() * sizeof counts[0], kPrefetchedMax));
  }
  std::size_t size() const { return by_place_.size(); }
  // Adds the readings of all places except `than`, which is ascending.
  void add_others(std::span<const std::uint32_t> than, CellSums& sums) const {
    for (const Reading& each : by_place_) {
      if (!std::ranges::binary_search(than, each.at)) sums.add(each.sums);
    }
  }

 private:
  // The processor prefetches the rest of a longer array by itself.
  static constexpr std::size_t kPrefetchedMax = 512;

  struct Reading {
    std::uint32_t at = 0;
    CellSums sums{};
  };

  void add(std::vector<Reading> more) {
    const auto before = static_cast<std::ptrdiff_t>(by_place_.size());
    std::ranges::move(more, std::back_inserter(by_place_));
    std::ranges::inplace_merge(by_place_, by_place_.begin() + before, {}, &Reading::at);
  }

  // Ordered by place, so that a look goes through cells and readings at once. Few lanes have more
  // than a handful of cells of one id.
  std::vector<Reading> by_place_;
  std::uint32_t era_ = 0;
  std::unique_ptr<Account> account_;
};

class FormerReadings::Look {
 public:
  // Looks at places from `from` on.
  Look(FormerReadings& all, std::uint32_t from) : all_(all) {
    const auto& readings = all.by_place_;
    if (from == 0) return;
    const auto first = std::ranges::lower_bound(readings, from, {}, &Reading::at);
    next_ = static_cast<std::size_t>(first - readings.begin());
  }

  // nullptr: there is no reading of this cell.
  CellSums* find(std::uint32_t at) {
    auto& readings = all_.by_place_;
    while (next_ < readings.size() && readings[next_].at < at) ++next_;
    return next_ < readings.size() && readings[next_].at == at ? &readings[next_].sums : nullptr;
  }
  // Stores the first reading of a cell, if there is room.
  void keep(std::uint32_t at, CellSums reading) {
    const auto intervals = static_cast<std::uint32_t>(reading.counts.size());
    if (!all_.account_->take(cell_bytes(intervals))) return;
    added_.push_back({.at = at, .sums = std::move(reading)});
  }
  // Ends the look: find() must not be called any more. Returns how many readings keep() has stored.
  std::size_t end() {
    const std::size_t kept = added_.size();
    if (kept != 0) all_.add(std::move(added_));
    return kept;
  }

 private:
  FormerReadings& all_;
  std::size_t next_ = 0;
  std::vector<Reading> added_;
};

}  // namespace tallyfs
