// The cells of one thread: its index in the lane file, by the ids of the statistics in this
// process. Used by the owner of a buffer while it is inside, and by the next owner after it. No
// function allocates, locks or waits, so that a signal handler may call them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/lane/cell_writer.h"
#include "feeders/client/cell_file.h"
#include "feeders/client/fed_statistic.h"

namespace tallyfs {

class ThreadCells {
 public:
  // The cell in which a sample of the statistic counts now; nullptr: prepare() may have one.
  LaneCell* find(const FedStatistic& statistic, const CellFiles& files) const {
    const Shape* const shape = statistic.shape.load(std::memory_order_acquire);
    if (!shape || generation_ != files.generation() || statistic.id >= ids_) return nullptr;
    const std::uint32_t at = index_[statistic.id].load(std::memory_order_relaxed);
    if (at == 0) return nullptr;
    auto* const cell = reinterpret_cast<LaneCell*>(base_ + at);
    const std::uint64_t number = statistic.number.load(std::memory_order_relaxed);
    const std::uint32_t era = shape->era.load(std::memory_order_acquire);
    return CellWriter(*cell).is_of(number, era) ? cell : nullptr;
  }
  // As find(), with fewer instructions: a cell that remember() has at the place of this id.
  LaneCell* find_remembered(const FedStatistic& statistic, const CellFiles& files) const {
    const Shape* const shape = statistic.shape.load(std::memory_order_acquire);
    if (!shape || generation_ != files.generation()) return nullptr;
    LaneCell* const cell = remembered_[statistic.id % kRemembered];
    if (!cell) return nullptr;
    const std::uint64_t number = statistic.number.load(std::memory_order_relaxed);
    const std::uint32_t era = shape->era.load(std::memory_order_acquire);
    return CellWriter(*cell).is_of(number, era) ? cell : nullptr;
  }
  void remember(const FedStatistic& statistic, LaneCell* cell) {
    remembered_[statistic.id % kRemembered] = cell;
  }
  // Fetches what find() and a CellWriter will read.
  void prefetch(const FedStatistic& statistic, const CellFiles& files) const {
    const Shape* const shape = statistic.shape.load(std::memory_order_relaxed);
    if (!shape || generation_ != files.generation() || statistic.id >= ids_) return;
    __builtin_prefetch(shape);
    const std::byte* const cell = base_ + index_[statistic.id].load(std::memory_order_relaxed);
    for (std::size_t at = 0; at < sizeof(LaneCell); at += 64) __builtin_prefetch(cell + at, 1);
  }
  // Makes a cell, or restarts one. Nullptr: the sample goes by the socket.
  LaneCell* prepare(const FedStatistic& statistic, const CellFiles& files);

  // The last owner ended within a call, in the file of now.
  void finish_adds(const CellFiles& files);

  // The thread has an entry in the file of now. False: there is none.
  bool enter(const CellFiles& files);
  // Valid after enter().
  std::uint32_t generation() const { return generation_; }
  CellFile& file() const { return *file_; }
  LaneEntry& entry() const { return *entry_; }

 private:
  bool make_room_for(std::uint32_t id);

  std::uint32_t generation_ = 0;
  std::uint32_t ids_ = 0;
  std::byte* base_ = nullptr;
  std::atomic<std::uint32_t>* index_ = nullptr;
  CellFile* file_ = nullptr;
  LaneEntry* entry_ = nullptr;
  // Of the file of this generation, or null.
  static constexpr std::size_t kRemembered = 256;
  std::array<LaneCell*, kRemembered> remembered_{};
};

}  // namespace tallyfs
