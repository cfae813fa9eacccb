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

  // For the next thread, when the last one ended within an add(), by a signal: a commit may be left
  // halfway, or an array's sample be committed while its interval has the count before it.
  void finish_add() {
    if (get(newest().sequence) != cell_.next - 1) cell_.next -= 1;
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
    if (add_inside<of>(x, y)) [[likely]]
      return;
    if constexpr (of == CellKind::kArrayLin || of == CellKind::kArrayLog2) {
      add_to_array<of>(x, y, 1);
    } else {
      add_outside();
    }
  }

  // add() for a caller that knows the kind, of an X in the range; false if it is not. Written to
  // take few registers and instructions, of which the time of a call consists: each word is read,
  // changed and stored before the next one.
  template <CellKind of>
  [[gnu::always_inline]] bool add_inside(std::int64_t x, std::uint64_t y) {
    if (!is_in_range(x)) [[unlikely]]
      return false;
    if constexpr (of == CellKind::kIncrements) {
      add_in_place(y);
    } else if constexpr (of == CellKind::kArrayLin || of == CellKind::kArrayLog2) {
      add_to_array<of>(x, y, 0);
    } else {
      const auto [from, to, next] = begin_commit();
      put(to.samples, get(from.samples) + 1);
      put(to.outside, get(from.outside));
      add_product(from, to, x, y);
      if constexpr (of == CellKind::kRange) {
        add_to_range(from, to, x, y);
      } else {
        put(to.values[kFlagsAt], get(from.values[kFlagsAt]) | (x < 0 ? 1 : 0));
      }
      to.sequence.store(next, std::memory_order_release);
    }
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
  CellSlot& newest() { return cell_.slots[cell_.next % 2]; }
  [[gnu::always_inline]] Commit begin_commit() {
    const std::uint64_t next = cell_.next;
    cell_.next = next + 1;
    const CellSlot& from = cell_.slots[next % 2];
    CellSlot& to = cell_.slots[next % 2 ^ 1];
    to.sequence.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    return {from, to, next};
  }
  // Adds an increment to the newest slot. The store of the total commits it: if the process is
  // killed after that store, the total has the increment, but `samples` may not.
  [[gnu::always_inline]] void add_in_place(std::uint64_t y) {
    CellSlot& slot = newest();
    std::uint64_t total = get(slot.values[kTotalAt]);
    add_saturating(total, y);
    slot.values[kTotalAt].store(total, std::memory_order_release);
    slot.samples.store(get(slot.samples) + 1, std::memory_order_release);
  }
  // A sample out of the range, of no array.
  void add_outside() {
    const auto [from, to, next] = begin_commit();
    put(to.samples, get(from.samples) + 1);
    put(to.outside, get(from.outside) + 1);
    for (std::size_t i = 0; i < to.values.size(); ++i) put(to.values[i], get(from.values[i]));
    to.sequence.store(next, std::memory_order_release);
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
  // The sum of X * Y is added up in two words, which takes fewer registers than one of 128 bits.
  [[gnu::always_inline]] static void add_product(const CellSlot& from, CellSlot& to, std::int64_t x,
                                                 std::uint64_t y) {
    const Int128 of = product(x, y);
    std::uint64_t low = get(from.values[kSumAt]);
    const bool carry = __builtin_add_overflow(low, static_cast<std::uint64_t>(of), &low);
    put(to.values[kSumAt], low);
    // In 64 bits: |X * Y| < 2^127 - 2^64.
    const std::int64_t more = static_cast<std::int64_t>(of >> 64) + (carry ? 1 : 0);
    auto high = static_cast<std::int64_t>(get(from.values[kSumAt + 1]));
    if (__builtin_add_overflow(high, more, &high)) [[unlikely]]
      return put_sum(to, x < 0 ? kInt128Min : kInt128Max);
    put(to.values[kSumAt + 1], static_cast<std::uint64_t>(high));
  }
  static void add_to_range(const CellSlot& from, CellSlot& to, std::int64_t x, std::uint64_t y) {
    std::uint64_t number = get(from.values[kNumberAt]);
    add_saturating(number, y);
    put(to.values[kNumberAt], number);
    const auto least = static_cast<std::int64_t>(get(from.values[kMinAt]));
    put(to.values[kMinAt], static_cast<std::uint64_t>(std::min(least, x)));
    const auto most = static_cast<std::int64_t>(get(from.values[kMaxAt]));
    put(to.values[kMaxAt], static_cast<std::uint64_t>(std::max(most, x)));
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
  [[gnu::always_inline]] void add_to_array(std::int64_t x, std::uint64_t y, std::uint64_t outside) {
    const auto [from, to, next] = begin_commit();
    put(to.samples, get(from.samples) + 1);
    put(to.outside, get(from.outside) + outside);
    add_product(from, to, x, y);
    const std::uint64_t place = place_of<of>(x);
    const std::uint64_t negative =
        (get(from.values[kFlagsAt]) & kHasNegative) | (x < 0 ? 1 : 0);
    put(to.values[kFlagsAt], negative | place << 32);
    std::atomic<std::uint64_t>& count = counts()[place];
    std::uint64_t counted = get(count);
    add_saturating(counted, y);
    put(to.values[kLatestAt], counted);
    to.sequence.store(next, std::memory_order_release);
    // Release: a reader that finds this count finds the slot that it belongs to.
    count.store(counted, std::memory_order_release);
  }
  // The interval of x, by the rules of ArrayStatistic. Without a branch for the first interval,
  // which no processor could predict.
  template <CellKind of>
  std::uint64_t place_of(std::int64_t x) const {
    const std::int64_t from = std::max(x, cell_.range_min);
    const auto distance =
        static_cast<std::uint64_t>(from) - static_cast<std::uint64_t>(cell_.range_min);
    const std::uint64_t above = cell_.intervals.load(std::memory_order_relaxed) - 1;
    const std::uint64_t place = std::min(steps<of>(distance), above - 1) + 1;
    return place & (0 - std::uint64_t{distance != 0});
  }
  template <CellKind of>
  std::uint64_t steps(std::uint64_t distance) const {
    if constexpr (of == CellKind::kArrayLog2) {
      if (cell_.shift == LaneCell::kNoShift) return doublings(distance, cell_.base_interval);
      // bit_width((distance - 1) >> shift) of a number that is not 0.
      return 63u ^ static_cast<unsigned>(__builtin_clzll(((distance - 1) >> cell_.shift) * 2 + 1));
    }
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
