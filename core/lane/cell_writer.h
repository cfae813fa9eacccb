// How a feeder's thread counts a sample in a cell: sums are copied from the newer slot to the older
// one with the sample added, and one store of the sequence commits them. So a process that is
// killed between any two instructions has counted the sample or not. Increments need no copy: the
// store of their sum commits them.
//
// One thread writes a cell at a time; it may be another one later, with acquire and release in
// between. No function allocates, locks or makes a system call: a signal handler may call them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>

#include "core/base/doublings.h"
#include "core/base/int128.h"
#include "core/base/saturating.h"
#include "core/lane/layout.h"

namespace tallyfs {

class CellWriter {
 public:
  explicit CellWriter(LaneCell& cell) : cell_(cell) {}

  // Whether it counts for this statistic in this era.
  bool is_of(std::uint64_t number, std::uint32_t era) const {
    return cell_.era.load(std::memory_order_relaxed) == era &&
           cell_.number.load(std::memory_order_relaxed) == number;
  }

  // Begins anew. There must be room for the intervals.
  void begin(std::uint64_t number, std::uint32_t id, std::uint32_t era, const CellForm& form);

  // For the next thread, when the last one ended within an add(), by a signal: an array's sample
  // may be committed while its interval has the count before it.
  void finish_add() {
    if (kind() != CellKind::kArrayLin && kind() != CellKind::kArrayLog2) return;
    const CellSlot& slot = newest();
    const std::uint64_t latest = get(slot.values[kFlagsAt]) >> 32;
    if (latest >= cell_.intervals.load(std::memory_order_relaxed)) return;
    std::atomic<std::uint64_t>& count = counts()[latest];
    if (get(count) < get(slot.values[kLatestAt])) put(count, get(slot.values[kLatestAt]));
  }

  CellKind kind() const {
    return static_cast<CellKind>(cell_.kind.load(std::memory_order_relaxed));
  }

  void add(std::int64_t x, std::uint64_t y) {
    switch (kind()) {
      case CellKind::kIncrements:
        return add_as<CellKind::kIncrements>(x, y);
      case CellKind::kProducts:
        return add_as<CellKind::kProducts>(x, y);
      case CellKind::kRange:
        return add_as<CellKind::kRange>(x, y);
      case CellKind::kArrayLin:
        return add_as<CellKind::kArrayLin>(x, y);
      case CellKind::kArrayLog2:
        return add_as<CellKind::kArrayLog2>(x, y);
      case CellKind::kNone:
        break;
    }
  }

  // add() for a caller that knows the kind.
  template <CellKind of>
  void add_as(std::int64_t x, std::uint64_t y) {
    if constexpr (of == CellKind::kIncrements) {
      if (!add_in_place(x, y)) [[unlikely]]
        add_sums(std::array{Xy{x, y}});
    } else if constexpr (of == CellKind::kArrayLin || of == CellKind::kArrayLog2) {
      add_to_array<of>(x, y);
    } else {
      const auto [from, to, next] = begin_commit();
      const bool is_inside = is_in_range(x);
      put(to.samples, get(from.samples) + 1);
      put(to.outside, get(from.outside) + (is_inside ? 0 : 1));
      if constexpr (of == CellKind::kRange) {
        add_to_range(from, to, is_inside, x, y);
      } else {
        add_product(from, to, is_inside ? x : 0, y);
        put(to.values[kFlagsAt], get(from.values[kFlagsAt]) | (is_inside && x < 0 ? 1 : 0));
      }
      to.sequence.store(next, std::memory_order_release);
    }
  }

  // Adds an increment to the newest slot; false if it is out of range. The store of the total
  // commits it: if the process is killed after that store, the total has the increment, but
  // `samples` may not.
  bool add_in_place(std::int64_t x, std::uint64_t y) {
    if (!is_in_range(x)) [[unlikely]]
      return false;
    CellSlot& slot = newest();
    std::uint64_t total = get(slot.values[kTotalAt]);
    add_saturating(total, y);
    slot.values[kTotalAt].store(total, std::memory_order_release);
    slot.samples.store(get(slot.samples) + 1, std::memory_order_release);
    return true;
  }

  // Adds many samples, each with an x and a y. One store commits all of them; an array commits each
  // by itself.
  template <typename Samples>
  void add_all(const Samples& samples) {
    switch (kind()) {
      case CellKind::kIncrements:
      case CellKind::kProducts:
      case CellKind::kRange:
        return add_sums(samples);
      default:
        for (const auto& sample : samples) add(sample.x, sample.y);
    }
  }

 private:
  struct Xy {
    std::int64_t x;
    std::uint64_t y;
  };
  struct Commit {
    const CellSlot& from;
    CellSlot& to;           // is not valid until its sequence is `next`
    std::uint64_t next = 0;
  };
  // Sequences go to the slots in turn: 1 to slot 0, 2 to slot 1. Which one is next is kept apart:
  // one that was looked up among the slots would wait for their last stores.
  CellSlot& newest() {
    CellSlot& slot = cell_.slots[cell_.next % 2];
    if (get(slot.sequence) == cell_.next - 1) [[likely]]
      return slot;
    // A thread that ended in a signal handler has left a commit halfway.
    cell_.next -= 1;
    return cell_.slots[cell_.next % 2];
  }
  Commit begin_commit() {
    const CellSlot& from = newest();
    const std::uint64_t next = cell_.next++;
    CellSlot& to = cell_.slots[cell_.next % 2];
    to.sequence.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    return {from, to, next};
  }
  bool is_in_range(std::int64_t x) const { return x >= cell_.range_min && x <= cell_.range_max; }
  template <typename Samples>
  void add_sums(const Samples& samples) {
    const auto [from, to, next] = begin_commit();
    Totals totals(from, kind());
    for (const auto& sample : samples) totals.add(is_in_range(sample.x), sample.x, sample.y);
    put(to.samples, get(from.samples) + samples.size());
    totals.put_into(to);
    to.sequence.store(next, std::memory_order_release);
  }
  static std::uint64_t get(const std::atomic<std::uint64_t>& word) {
    return word.load(std::memory_order_relaxed);
  }
  static void put(std::atomic<std::uint64_t>& word, std::uint64_t value) {
    word.store(value, std::memory_order_relaxed);
  }
  static Int128 sum_of(const CellSlot& from) {
    return static_cast<Int128>((UInt128{get(from.values[kSumAt + 1])} << 64) |
                               get(from.values[kSumAt]));
  }
  static void put_sum(CellSlot& to, Int128 sum) {
    put(to.values[kSumAt], static_cast<std::uint64_t>(static_cast<UInt128>(sum)));
    put(to.values[kSumAt + 1], static_cast<std::uint64_t>(static_cast<UInt128>(sum) >> 64));
  }
  static void add_product(const CellSlot& from, CellSlot& to, std::int64_t x, std::uint64_t y) {
    Int128 sum = sum_of(from);
    add_saturating(sum, product(x, y));
    put_sum(to, sum);
  }
  static void add_to_range(const CellSlot& from, CellSlot& to, bool is_inside, std::int64_t x,
                           std::uint64_t y) {
    std::uint64_t number = get(from.values[kNumberAt]);
    auto least = static_cast<std::int64_t>(get(from.values[kMinAt]));
    auto most = static_cast<std::int64_t>(get(from.values[kMaxAt]));
    if (is_inside) {
      add_saturating(number, y);
      least = std::min(least, x);
      most = std::max(most, x);
    }
    add_product(from, to, is_inside ? x : 0, y);
    put(to.values[kNumberAt], number);
    put(to.values[kMinAt], static_cast<std::uint64_t>(least));
    put(to.values[kMaxAt], static_cast<std::uint64_t>(most));
  }
  // The numbers of a slot, while samples are added to them. Not for arrays.
  class Totals {
   public:
    Totals(const CellSlot& from, CellKind kind)
        : kind_(kind),
          outside_(get(from.outside)),
          number_(get(from.values[kind == CellKind::kRange ? kNumberAt : kTotalAt])),
          sum_(sum_of(from)),
          least_(static_cast<std::int64_t>(get(from.values[kMinAt]))),
          most_(static_cast<std::int64_t>(get(from.values[kMaxAt]))),
          flags_(get(from.values[kFlagsAt])) {}

    void add(bool is_inside, std::int64_t x, std::uint64_t y) {
      outside_ += is_inside ? 0 : 1;
      if (!is_inside) return;
      if (kind_ != CellKind::kProducts) add_saturating(number_, y);
      if (kind_ == CellKind::kIncrements) return;
      add_saturating(sum_, product(x, y));
      least_ = std::min(least_, x);
      most_ = std::max(most_, x);
      flags_ |= x < 0 ? 1 : 0;
    }

    void put_into(CellSlot& to) const {
      put(to.outside, outside_);
      if (kind_ == CellKind::kIncrements) return put(to.values[kTotalAt], number_);
      put_sum(to, sum_);
      if (kind_ == CellKind::kProducts) return put(to.values[kFlagsAt], flags_);
      put(to.values[kNumberAt], number_);
      put(to.values[kMinAt], static_cast<std::uint64_t>(least_));
      put(to.values[kMaxAt], static_cast<std::uint64_t>(most_));
    }

   private:
    CellKind kind_;
    std::uint64_t outside_;
    std::uint64_t number_;
    Int128 sum_;
    std::int64_t least_;
    std::int64_t most_;
    std::uint64_t flags_;
  };
  template <CellKind of>
  void add_to_array(std::int64_t x, std::uint64_t y) {
    const auto [from, to, next] = begin_commit();
    const std::uint64_t place = place_of<of>(x);
    std::atomic<std::uint64_t>& count = counts()[place];
    std::uint64_t counted = get(count);
    add_saturating(counted, y);
    put(to.samples, get(from.samples) + 1);
    put(to.outside, get(from.outside) + (is_in_range(x) ? 0 : 1));
    add_product(from, to, x, y);
    const std::uint64_t negative =
        (get(from.values[kFlagsAt]) & kHasNegative) | (x < 0 ? 1 : 0);
    put(to.values[kFlagsAt], negative | place << 32);
    put(to.values[kLatestAt], counted);
    to.sequence.store(next, std::memory_order_release);
    // Release: a reader that finds this count finds the slot that it belongs to.
    count.store(counted, std::memory_order_release);
  }
  // The interval of x, by the rules of ArrayStatistic.
  template <CellKind of>
  std::uint64_t place_of(std::int64_t x) const {
    if (x <= cell_.range_min) return 0;
    const auto distance =
        static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(cell_.range_min);
    const std::uint64_t above = cell_.intervals.load(std::memory_order_relaxed) - 1;
    return std::min(steps<of>(distance), above - 1) + 1;
  }
  template <CellKind of>
  std::uint64_t steps(std::uint64_t distance) const {
    if constexpr (of == CellKind::kArrayLog2) return doublings(distance, cell_.base_interval);
    if (cell_.shift != LaneCell::kNoShift) return (distance - 1) >> cell_.shift;
    return (distance - 1) / cell_.base_interval;
  }
  std::atomic<std::uint64_t>* counts() {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(&cell_ + 1);
  }

  LaneCell& cell_;
};

inline void CellWriter::begin(std::uint64_t number, std::uint32_t id, std::uint32_t era,
                              const CellForm& form) {
  cell_.era.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  for (CellSlot& slot : cell_.slots) {
    put(slot.sequence, 0);
    put(slot.samples, 0);
    put(slot.outside, 0);
    for (auto& value : slot.values) put(value, 0);
    if (form.kind != CellKind::kRange) continue;
    put(slot.values[kMinAt], static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
    put(slot.values[kMaxAt], static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::min()));
  }
  for (std::uint32_t i = 0; i < form.intervals; ++i) put(counts()[i], 0);
  // From now on one slot is valid at any moment.
  put(cell_.slots[0].sequence, 1);
  cell_.next = 2;
  cell_.kind.store(static_cast<std::uint32_t>(form.kind), std::memory_order_relaxed);
  cell_.intervals.store(form.intervals, std::memory_order_relaxed);
  cell_.range_min = form.range_min;
  cell_.range_max = form.range_max;
  cell_.base_interval = form.base_interval;
  cell_.shift = std::has_single_bit(form.base_interval)
                    ? static_cast<std::uint32_t>(std::countr_zero(form.base_interval))
                    : LaneCell::kNoShift;
  cell_.id.store(id, std::memory_order_relaxed);
  cell_.number.store(number, std::memory_order_relaxed);
  cell_.era.store(era, std::memory_order_release);
}

}  // namespace tallyfs
