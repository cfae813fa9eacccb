// What the cells of one id in a lane file held when they were read last, in one era. Counts of a
// cell do not fall, so a lower one is a fault, and what was read before stands.
//
// Bounded: those of one file take no more bytes than the file, and each is charged to the uid of
// the file. Of a cell for which there is no room nothing is kept, and it is compared to nothing.
// A value, confined to its owner.
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
  // What they take. The ledger outlives it.
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

  // Before the first look.
  bool has_account() const { return account_ != nullptr; }
  void charge_to(std::unique_ptr<Account> account) { account_ = std::move(account); }

  // What was read in another era is forgotten.
  void begin(std::uint32_t era) {
    if (std::exchange(era_, era) == era) return;
    by_place_.clear();
    account_->give_back();
  }

  // A look at each place once, in their order. The readings outlive it.
  class Look;

  // Has the processor fetch the first one.
  void prefetch() const {
    if (!by_place_.empty()) prefetch_lines(by_place_.data(), sizeof(Reading));
  }
  // Once it is there: its counts.
  void prefetch_counts() const {
    if (by_place_.empty()) return;
    const auto& counts = by_place_.front().sums.counts;
    prefetch_lines(counts.data(), std::min(counts.size() * sizeof counts[0], kPrefetchedMax));
  }
  std::size_t size() const { return by_place_.size(); }
  // Those of all other places than these, which are in their order.
  void add_others(std::span<const std::uint32_t> than, CellSums& sums) const {
    for (const Reading& each : by_place_) {
      if (!std::ranges::binary_search(than, each.at)) sums.add(each.sums);
    }
  }

 private:
  // The processor fetches the rest of longer ones without being told.
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

  // In the order of places: a look goes through both side by side, and few lanes have more than
  // some cells of one id.
  std::vector<Reading> by_place_;
  std::uint32_t era_ = 0;
  std::unique_ptr<Account> account_;
};

class FormerReadings::Look {
 public:
  // From this place on.
  Look(FormerReadings& all, std::uint32_t from) : all_(all) {
    const auto& readings = all.by_place_;
    if (from == 0) return;
    const auto first = std::ranges::lower_bound(readings, from, {}, &Reading::at);
    next_ = static_cast<std::size_t>(first - readings.begin());
  }

  // Nullptr: nothing is known of this cell.
  CellSums* find(std::uint32_t at) {
    auto& readings = all_.by_place_;
    while (next_ < readings.size() && readings[next_].at < at) ++next_;
    return next_ < readings.size() && readings[next_].at == at ? &readings[next_].sums : nullptr;
  }
  // Of a cell of which nothing is known.
  void keep(std::uint32_t at, CellSums reading) {
    const auto intervals = static_cast<std::uint32_t>(reading.counts.size());
    if (!all_.account_->take(cell_bytes(intervals))) return;
    added_.push_back({.at = at, .sums = std::move(reading)});
  }
  // How many were kept. Nothing is found after it.
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
