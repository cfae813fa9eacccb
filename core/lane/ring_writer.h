// How a feeder's thread puts samples into its ring (core/lane/FORMAT.md). A record is published by
// one store of the head, so a process that is killed has put a sample there or not.
//
// One thread writes a ring at a time; it may be another one later, with acquire and release in
// between. No function allocates, locks or makes a system call: a signal handler may call them,
// unless it has interrupted one.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/lane/layout.h"

namespace tallyfs {

class RingWriter {
 public:
  struct Place {
    std::byte* begin = nullptr;
    std::uint32_t bytes = 0;
    LaneEntry* entry = nullptr;
    const LaneTail* tail = nullptr;
  };

  RingWriter() = default;
  // For an empty ring.
  explicit RingWriter(const Place& place)
      : words_(reinterpret_cast<std::atomic<std::uint64_t>*>(place.begin)),
        size_(place.bytes / sizeof(std::uint64_t)),
        entry_(place.entry),
        tail_(place.tail) {}

  // False: look() says more.
  bool has_room(std::uint32_t words) const { return stop_ - head_ >= words; }

  enum class Room {
    kThere,
    kBell,  // there is room, and the daemon is to be told that half of the ring is used
    kNone,
  };
  // Looks how far the daemon is.
  Room look();

  // The bell was not heard: another one is due some records later.
  void forget_bell() {
    told_at_ = UINT64_MAX;
    stop_ = std::min(stop_, head_ + size_ / kBellsAgain);
  }

  // follows: with one scale of time at most. There must be room for a record of 4 words.
  void put(std::uint32_t id, std::uint32_t follows, std::int64_t x, std::uint64_t y,
           std::uint64_t time) {
    // Copies: a store into the ring might change the members, as far as the compiler knows.
    std::atomic<std::uint64_t>* const words = words_;
    const std::uint64_t mask = size_ - 1;
    const std::uint64_t head = head_;
    std::uint64_t at = head + 1;
    const auto store = [=](std::uint64_t position, std::uint64_t value) {
      words[position & mask].store(value, std::memory_order_relaxed);
    };
    store(at++, static_cast<std::uint64_t>(x));
    if ((follows & kRecordY) != 0) store(at++, y);
    if ((follows & (kRecordCycles | kRecordNs)) != 0) store(at++, time);
    store(head, record_head(id, static_cast<std::uint32_t>(at - head), follows));
    head_ = at;
    entry_->head.store(at, std::memory_order_release);
  }
  void count_dropped() {
    entry_->dropped.store(entry_->dropped.load(std::memory_order_relaxed) + 1,
                          std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint64_t kBellsAgain = 16;

  std::atomic<std::uint64_t>* words_ = nullptr;
  std::uint64_t size_ = 0;  // words
  std::uint64_t head_ = 0;
  std::uint64_t stop_ = 0;                  // never below head_
  std::uint64_t told_at_ = UINT64_MAX;      // the tail of the last bell
  LaneEntry* entry_ = nullptr;
  const LaneTail* tail_ = nullptr;
};

// A tail that no daemon writes leaves no room.
inline RingWriter::Room RingWriter::look() {
  const std::uint64_t tail = tail_->position.load(std::memory_order_acquire);
  stop_ = head_;
  if (tail > head_ || head_ - tail > size_ - kRecordWordsMax) return Room::kNone;
  const bool is_below_half = head_ - tail + kRecordWordsMax <= size_ / 2;
  stop_ = tail + (is_below_half ? size_ / 2 : size_);
  if (is_below_half || told_at_ == tail) return Room::kThere;
  told_at_ = tail;
  return Room::kBell;
}

}  // namespace tallyfs
