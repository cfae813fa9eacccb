// The source of sched_clock(): a straight line from cycles to nanoseconds that never steps back,
// over all threads. A line holds for 0.8 ms at most, but for CLOCK_MONOTONIC's. A thread that finds
// it over lays it anew (CycleClock), with the clock's lock. Lock-free and signal-safe to read.
//
// The price of order. The counter's instruction may be carried out before what stands before it, so
// that a thread which has just seen another's time may get an earlier one (it does, in 1 of 1,000
// reads of two threads that show each other their last). An instruction that forbids this makes the
// clock dearer than clock_gettime(). So one thread at a time, the owner, reads without that
// instruction, as its own reads are ordered anyway. A second thread makes the line shared, and then
// all threads read with the instruction, until the line is laid anew. A thread that has seen
// another thread's time has also seen that the line is shared: x86 keeps loads and stores in order,
// and elsewhere `owner_` is acquired behind what the caller has acquired.
// After each read the owner checks again that it still owns this line. The check may be carried out
// a little before the read it checks, so a thread that lays a line waits for that long.
//
// A new line may begin before the time that the last one had reached. It does not take readers
// back: floor_ is that time, and the answer is the later of the two. While the line is being laid,
// readers take the later of the last line and CLOCK_MONOTONIC, and leave that in floor_.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "core/base/int128.h"
#include "feeders/clock/cycles.h"

namespace tallyfs {

struct Line {
  std::uint64_t cycles = 0;
  std::uint64_t ns = 0;
  std::uint64_t rate = 0;  // ns per cycle, times 2^32
  std::uint64_t span = 0;  // cycles for which it holds

  // Any distance, before it as well.
  std::int64_t at(std::uint64_t at_cycles) const {
    const auto distance = static_cast<std::int64_t>(at_cycles - cycles);
    return static_cast<std::int64_t>(ns) +
           static_cast<std::int64_t>((Int128{distance} * static_cast<std::int64_t>(rate)) >> 32);
  }
};

class Timeline {
 public:
  constexpr Timeline() = default;

  // Reads the machine's own counter, for the owner; `thread` is an address that no other living
  // thread has. Nullopt: the line is over, or this thread is not its owner. A line that is shared,
  // being laid or of another counter has no owner. A new line has none until read().
  std::optional<std::uint64_t> read_own(std::uintptr_t thread) const {
    const std::uint64_t edition = edition_.load(std::memory_order_acquire);
    if (owner_.load(std::memory_order_acquire) != thread) return std::nullopt;
    const std::uint64_t floor = floor_.load(std::memory_order_acquire);
    const Slot& slot = slots_[(edition >> 1) & 1];
    const std::uint64_t distance = read_counter() - slot.cycles.load(std::memory_order_acquire);
    const std::uint64_t span = slot.span.load(std::memory_order_acquire);
    const std::uint64_t ns = slot.ns.load(std::memory_order_acquire) +
                             ((distance * slot.rate.load(std::memory_order_acquire)) >> 32);
    // The edition as well: a signal handler of this very thread may have become the next line's
    // owner.
    if (distance > span || owner_.load(std::memory_order_relaxed) != thread ||
        edition_.load(std::memory_order_relaxed) != edition) {
      return std::nullopt;
    }
    return ns > floor ? ns : floor;
  }

  // For any thread and counter; makes the thread the owner, or else the line shared. read_cycles:
  // reads the driver's cycles, ordered. Nullopt: the line is over or being laid.
  template <typename ReadCycles>
  std::optional<std::uint64_t> read(std::uintptr_t thread, ReadCycles&& read_cycles) {
    const std::uint64_t edition = edition_.load(std::memory_order_acquire);
    if (is_being_laid(edition) || !take_part(thread)) return std::nullopt;
    const std::uint64_t floor = floor_.load(std::memory_order_acquire);
    const Line line = load(edition);
    const std::uint64_t distance = read_cycles() - line.cycles;
    if (edition_.load(std::memory_order_acquire) != edition || distance >= line.span) {
      return std::nullopt;
    }
    // The line of CLOCK_MONOTONIC holds for so long that 64 bits would not do.
    const std::uint64_t ns =
        line.ns + static_cast<std::uint64_t>((UInt128{distance} * line.rate) >> 32);
    return ns > floor ? ns : floor;
  }

  // Where neither helps: the latest of the line's time, which stops at its end, `reference_ns` and
  // floor_. The result becomes floor_.
  template <typename ReadCycles>
  std::uint64_t read_meanwhile(std::uint64_t reference_ns, ReadCycles&& read_cycles) {
    for (;;) {
      const std::uint64_t edition = edition_.load(std::memory_order_acquire);
      const Line line = load(edition);
      const std::uint64_t reached = reach(line, read_cycles());
      if (edition_.load(std::memory_order_acquire) != edition) continue;
      const std::uint64_t ns = raise_floor(reached > reference_ns ? reached : reference_ns);
      if (edition_.load(std::memory_order_acquire) == edition) return ns;
    }
  }

  // Changes when a line begins to be laid, and when it is laid; odd in between.
  std::uint64_t edition() const { return edition_.load(std::memory_order_acquire); }
  // The later of ns and floor_, which no time read on an earlier line exceeds. For a caller that
  // reads CLOCK_MONOTONIC itself from now on.
  std::uint64_t not_before_floor(std::uint64_t ns) const {
    const std::uint64_t floor = floor_.load(std::memory_order_acquire);
    return ns > floor ? ns : floor;
  }

  // ---- under the clock's lock

  // Whose line may be read by read_own().
  enum class Counter { kMachines, kOther };
  // last_cycles: reads the last line's cycles, ordered. `change` is done between the two lines.
  template <typename ReadCycles, typename Change>
  void lay(const Line& line, Counter counter, ReadCycles&& last_cycles, Change&& change) {
    const std::uint64_t edition = edition_.load(std::memory_order_relaxed);
    const Line last = load(edition);
    edition_.exchange(edition + 1);
    owner_.exchange(kBeingLaid);
    // Reads that were checked by now had no later cycles than these; the second time outlasts those
    // whose check overtook them.
    (void)last_cycles();
    raise_floor(reach(last, last_cycles()));
    change();
    store(edition + 2, line);
    edition_.store(edition + 2);
    owner_.store(counter == Counter::kMachines ? kNobody : kEverybody);
  }
  // In a forked child: the thread that was laying a line is gone. The last line goes on.
  void recover() {
    edition_.store(edition_.load() & ~std::uint64_t{1});
    owner_.store(kEverybody);
  }
  Line line() const { return load(edition_.load(std::memory_order_acquire)); }

 private:
  static constexpr std::uintptr_t kNobody = 0;
  static constexpr std::uintptr_t kEverybody = 1;
  static constexpr std::uintptr_t kBeingLaid = 2;

  struct Slot {
    std::atomic<std::uint64_t> cycles{0};
    std::atomic<std::uint64_t> ns{0};
    std::atomic<std::uint64_t> rate{0};
    std::atomic<std::uint64_t> span{0};
  };

  static bool is_being_laid(std::uint64_t edition) { return (edition & 1) != 0; }
  // The greatest time that readers of the line may have got at `cycles`. After a jump of the
  // counter that is unknown, and the begin of the line counts.
  static std::uint64_t reach(const Line& line, std::uint64_t cycles) {
    const std::uint64_t distance = cycles - line.cycles;
    if (distance > ~std::uint64_t{0} / 2) return line.ns;
    const std::uint64_t within = distance < line.span ? distance : line.span;
    return line.ns + static_cast<std::uint64_t>((UInt128{within} * line.rate) >> 32);
  }

  // Becomes the owner if there is none, else one of many.
  bool take_part(std::uintptr_t thread) {
    std::uintptr_t owner = owner_.load(std::memory_order_acquire);
    while (owner != kEverybody && owner != thread) {
      if (owner == kBeingLaid) return false;
      if (owner_.compare_exchange_weak(owner, owner == kNobody ? thread : kEverybody)) return true;
    }
    return true;
  }
  // Returns where it is then.
  std::uint64_t raise_floor(std::uint64_t ns) {
    std::uint64_t floor = floor_.load(std::memory_order_acquire);
    while (floor < ns) {
      if (floor_.compare_exchange_weak(floor, ns)) return ns;
    }
    return floor;
  }

  Line load(std::uint64_t edition) const {
    const Slot& slot = slots_[(edition >> 1) & 1];
    return {slot.cycles.load(std::memory_order_acquire), slot.ns.load(std::memory_order_acquire),
            slot.rate.load(std::memory_order_acquire), slot.span.load(std::memory_order_acquire)};
  }
  void store(std::uint64_t edition, const Line& line) {
    Slot& slot = slots_[(edition >> 1) & 1];
    slot.cycles.store(line.cycles, std::memory_order_relaxed);
    slot.ns.store(line.ns, std::memory_order_relaxed);
    slot.rate.store(line.rate, std::memory_order_relaxed);
    slot.span.store(line.span, std::memory_order_relaxed);
  }

  alignas(64) std::atomic<std::uintptr_t> owner_{kNobody};
  std::atomic<std::uint64_t> edition_{0};
  std::atomic<std::uint64_t> floor_{0};
  Slot slots_[2];
};

}  // namespace tallyfs
