// The way of a sample from the program's call into a cell, a ring or the buffer of its thread: the
// only part of the library that runs with every sample.
//
// Lock-free: a thread writes memory of its own. It takes its buffer's lock when a datagram is full,
// and blocks for ClientSettings::wait_max at most where there is no room. Signal-safe: a handler
// that finds its thread inside the buffer leaves its samples beside it (ThreadBuffer).
//
// The order of the members, and what is inlined, were chosen by tests/bench: a sample that is
// counted in a cell takes two nanoseconds.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "core/lane/cell_writer.h"
#include "feeders/client/background_thread.h"
#include "feeders/client/cell_file.h"
#include "feeders/client/delivery.h"
#include "feeders/client/ring_access.h"
#include "feeders/client/sample_time.h"
#include "feeders/client/thread_buffers.h"

namespace tallyfs {

class SamplePath {
 public:
  struct Dependencies {
    const ClientSettings& settings;
    ThreadBuffers& buffers;
    UpkeepSignals& upkeep;
    BackgroundThread& thread;
    Delivery& delivery;
    RingAccess& rings;
  };
  explicit SamplePath(const Dependencies& dependencies) : its_(dependencies) {}

  // ---- adding; without a buffer samples are dropped and counted

  // One sample of now. The fast path is here: a cell that exists, or a ring for samples without a
  // time. All other cases are in add_slow_path(), so that no register need be saved here.
  [[gnu::always_inline]] void add(ThreadBuffer* buffer, FedStatistic& statistic, std::int64_t x,
                                  std::uint64_t y) {
    const std::uint32_t route = statistic.route();
    if (buffer && !buffer->is_inside()) [[likely]] {
      if (FedStatistic::is_cell(route)) [[likely]] {
        buffer->enter();
        if (LaneCell* const cell = buffer->cells().find_remembered(statistic, cell_files_))
            [[likely]]
          return count(*cell, x, y, *buffer, *this);
        buffer->leave();
      } else if (FedStatistic::is_ring(route) && (route & kRouteNeedsTime) == 0) {
        return put(*buffer, statistic, route, x, y);
      }
    }
    add_slow_path(buffer, statistic, x, y);
  }
  // Samples of one statistic. A change of the statistic meanwhile counts for the next 64.
  void add(ThreadBuffer* buffer, FedStatistic& statistic,
           std::span<const statistic_sample> samples);
  // Samples of many statistics.
  void add(ThreadBuffer* buffer, std::span<const statistic_entry> entries);
  // Any sample, by any route. take_stamp() says when it was taken; it is called only where there is
  // room.
  template <typename TakeStamp>
  void add_slow_path(ThreadBuffer& buffer, FedStatistic& statistic, std::int64_t x, std::uint64_t y,
                     TakeStamp&& take_stamp) {
    const std::uint32_t route = statistic.route();
    if (FedStatistic::is_cell(route) && count(buffer, statistic, x, y)) return;
    if (FedStatistic::is_ring(route) && put(buffer, statistic, {route, x, y}, take_stamp)) return;
    if (buffer.is_inside()) [[unlikely]] {
      return push_nested(buffer, UnsentSample(statistic, x, y, take_stamp()));
    }
    buffer.enter();
    if (buffer.below_stop() || make_space_or_fail(buffer, statistic)) [[likely]] {
      buffer.append(UnsentSample(statistic, x, y, take_stamp()));
      buffer.ring().end(statistic);
      if (its_.settings.sends_each()) [[unlikely]]
        its_.delivery.send_now(buffer);
    }
    leave(buffer);
  }
  // A sample of a thread without a buffer.
  void drop(FedStatistic& statistic);
  Stamp now() { return {Stamp::Scale::kCycles, time_.cycles()}; }

  // ---- buffers

  // The owner of the buffer leaves the library, from a call that adds samples or from another one.
  void leave(ThreadBuffer& buffer) {
    buffer.leave();
    if (buffer.has_nested()) [[unlikely]]
      process_nested(buffer);
  }
  void leave_call(ThreadBuffer& buffer) {
    buffer.leave_call();
    if (buffer.has_nested()) [[unlikely]]
      process_nested(buffer);
  }
  // The thread that owns the buffer ends: its samples are sent, and another thread may own it.
  void give_back(ThreadBuffer& buffer);

  // ---- for the other parts of the Client

  CellFiles& cell_files() { return cell_files_; }
  SampleTime& time() { return time_; }
  // Samples of threads without a buffer.
  std::uint64_t without_buffer() const { return without_buffer_.load(); }
  // In a forked child, which counts its own samples.
  void reset_in_child() { without_buffer_ = 0; }

 private:
  // A sample, and what the switch says of its route.
  struct RoutedSample {
    std::uint32_t route = 0;
    std::int64_t x = 0;
    std::uint64_t y = 1;
  };

  void add_slow_path(ThreadBuffer* buffer, FedStatistic& statistic, std::int64_t x,
                     std::uint64_t y);
  // The first samples, which need nothing but a cell, or places below the stop. Returns how many.
  std::size_t add_fast_prefix(ThreadBuffer& buffer, FedStatistic& statistic,
                              std::span<const statistic_sample> samples, Stamp now);

  // Inside the buffer: counts the sample in the cell, and leaves. Each kind but increments has a
  // function of its own, so that it saves only the registers that it needs.
  [[gnu::always_inline]] static void count(LaneCell& cell, std::int64_t x, std::uint64_t y,
                                           ThreadBuffer& buffer, SamplePath& path) {
    const CellKind kind = CellWriter(cell).kind();
    if (kind == CellKind::kIncrements) [[likely]]
      return count_as<CellKind::kIncrements>(cell, x, y, buffer, path);
    if (kind == CellKind::kRange) return count_apart<CellKind::kRange>(cell, x, y, buffer, path);
    if (kind == CellKind::kArrayLog2)
      return count_apart<CellKind::kArrayLog2>(cell, x, y, buffer, path);
    if (kind == CellKind::kArrayLin)
      return count_apart<CellKind::kArrayLin>(cell, x, y, buffer, path);
    count_any(cell, x, y, buffer, path);
  }
  template <CellKind kind>
  [[gnu::always_inline]] static void count_as(LaneCell& cell, std::int64_t x, std::uint64_t y,
                                              ThreadBuffer& buffer, SamplePath& path) {
    if (!CellWriter(cell).add_inside<kind>(x, y)) [[unlikely]]
      return count_any(cell, x, y, buffer, path);
    buffer.count_cell();
    path.leave(buffer);
  }
  // A Y of 1, which most samples have, needs no product, nor the registers for it.
  template <CellKind kind>
  [[gnu::noinline]] static void count_apart(LaneCell& cell, std::int64_t x, std::uint64_t y,
                                            ThreadBuffer& buffer, SamplePath& path) {
    if (y != 1) return count_product<kind>(cell, x, y, buffer, path);
    count_as<kind>(cell, x, 1, buffer, path);
  }
  template <CellKind kind>
  [[gnu::noinline]] static void count_product(LaneCell& cell, std::int64_t x, std::uint64_t y,
                                              ThreadBuffer& buffer, SamplePath& path) {
    count_as<kind>(cell, x, y, buffer, path);
  }
  [[gnu::noinline]] static void count_any(LaneCell& cell, std::int64_t x, std::uint64_t y,
                                          ThreadBuffer& buffer, SamplePath& path) {
    CellWriter(cell).add(x, y);
    buffer.count_cell();
    path.leave(buffer);
  }
  // Makes the cell if need be. False: the sample goes another way. Inlined, since a loop over
  // samples of many statistics calls it for each.
  [[gnu::always_inline]] bool count(ThreadBuffer& buffer, FedStatistic& statistic, std::int64_t x,
                                    std::uint64_t y) {
    if (buffer.is_inside()) [[unlikely]]
      return false;
    buffer.enter();
    LaneCell* const cell = cell_of(buffer, statistic);
    if (cell) [[likely]] {
      CellWriter(*cell).add(x, y);
      buffer.count_cell();
    }
    leave(buffer);
    return cell != nullptr;
  }
  // Inside the buffer. Nullptr: there is no cell, but may be when the background thread has asked
  // for it.
  LaneCell* cell_of(ThreadBuffer& buffer, FedStatistic& statistic) {
    LaneCell* cell = buffer.cells().find(statistic, cell_files_);
    if (!cell) [[unlikely]]
      cell = prepare_cell(buffer, statistic);
    buffer.cells().remember(statistic, cell);
    return cell;
  }
  [[gnu::cold]] LaneCell* prepare_cell(ThreadBuffer& buffer, FedStatistic& statistic);
  void prefetch_cells(ThreadBuffer& buffer, std::span<const statistic_entry> entries);

  // A sample without a time, into a ring that has room; else by another route.
  void put(ThreadBuffer& buffer, FedStatistic& statistic, std::uint32_t route, std::int64_t x,
           std::uint64_t y);
  // Makes the ring if need be. A sample that finds no room in it is dropped, if its daemon lives.
  // False: the sample goes another way.
  template <typename TakeStamp>
  bool put(ThreadBuffer& buffer, FedStatistic& statistic, const RoutedSample& sample,
           TakeStamp&& take_stamp) {
    if (buffer.is_inside()) [[unlikely]]
      return false;
    buffer.enter();
    RingRoom room = RingRoom::kElsewhere;
    if (buffer.ring().takes(statistic, cell_files_) || its_.rings.prepare(buffer, statistic))
        [[likely]] {
      room = buffer.ring().has_room() ? RingRoom::kThere : its_.rings.make_room(buffer, statistic);
      if (room == RingRoom::kThere) [[likely]]
        write_record(buffer, statistic, sample, take_stamp);
    }
    leave(buffer);
    return room != RingRoom::kElsewhere;
  }
  // Inside the buffer, a sample that was nested. False: as above.
  bool put(ThreadBuffer& buffer, const UnsentSample& sample);
  // Inside the buffer, whose ring has room.
  template <typename TakeStamp>
  void write_record(ThreadBuffer& buffer, const FedStatistic& statistic, const RoutedSample& sample,
                    TakeStamp&& take_stamp) {
    std::uint32_t follows = (sample.route & kRouteNeedsY) != 0 && sample.y != 1 ? kRecordY : 0;
    std::uint64_t time = 0;
    if ((sample.route & kRouteNeedsTime) != 0) {
      const Stamp taken = take_stamp();
      const bool is_cycles = taken.scale == Stamp::Scale::kCycles && time_.is_counter() &&
                             buffer.ring().takes_cycles();
      follows |= is_cycles ? kRecordCycles : kRecordNs;
      time = is_cycles ? taken.value : in_ns(taken);
    }
    buffer.ring().put(statistic, follows, sample.x, sample.y, time);
    buffer.count_in_ring();
  }
  std::uint64_t in_ns(const Stamp& stamp);

  static void push_nested(ThreadBuffer& buffer, const UnsentSample& sample);
  [[gnu::cold]] void process_nested(ThreadBuffer& buffer);
  void process_nested(ThreadBuffer& buffer, const UnsentSample& sample);
  static void forget_parents_call(ThreadBuffer& buffer);

  // The stop of the buffer is reached. False: the sample is not wanted, or is dropped and counted.
  bool make_space_or_fail(ThreadBuffer& buffer, FedStatistic& statistic);
  // False: there is no space, and the sample is dropped and counted.
  bool make_space(ThreadBuffer& buffer, FedStatistic& statistic);

  SampleTime time_;
  CellFiles cell_files_;
  const Dependencies its_;
  std::atomic<std::uint64_t> without_buffer_{0};
};

}  // namespace tallyfs
