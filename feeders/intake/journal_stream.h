// A ring of records in a memory that outlives the process: the newest of one stream of the input.
// A record is there from commit() on, whenever the process is killed. Places count all bytes that
// were ever written, and are offsets modulo the capacity; a record is never divided.
//
// Confined to its owner's lock, but for head().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

namespace tallyfs {

// What each record begins with.
struct JournalRecord {
  std::uint32_t bytes = 0;  // of the record, a multiple of 8
  std::uint32_t kind = 0;   // kFiller: up to the end of the ring
};

class JournalStream {
 public:
  static constexpr std::uint32_t kFiller = 1;
  // In the memory.
  struct Places {
    std::atomic<std::uint64_t> head{0};  // behind the newest
    std::atomic<std::uint64_t> tail{0};  // the oldest
  };

  JournalStream() = default;
  JournalStream(Places& places, std::span<std::byte> memory)
      : places_(&places), memory_(memory), written_(places.head.load()) {}

  std::uint64_t head() const { return places_->head.load(std::memory_order_relaxed); }
  // What is before this may be written over.
  std::uint64_t tail() const { return places_->tail.load(std::memory_order_relaxed); }
  // Of the record that was reserved last.
  std::uint64_t place(const JournalRecord& last) const { return written_ - last.bytes; }
  std::uint64_t capacity() const { return memory_.size(); }
  // Whether the places are possible ones.
  bool is_sound() const;

  // A new record of so many bytes, a multiple of 8, behind the others; nullptr: there is no room.
  // may_go(record, place) says whether the oldest is not needed any more.
  template <typename Record, typename MayGo>
  Record* add(std::size_t bytes, std::uint32_t kind, MayGo may_go) {
    if (!make_room(bytes, may_go)) return nullptr;
    auto* const record = new (&at(written_)) Record;
    record->bytes = static_cast<std::uint32_t>(bytes);
    record->kind = kind;
    written_ += bytes;
    return record;
  }
  void commit() { places_->head.store(written_, std::memory_order_release); }

  // Visits each record, the oldest first, and returns false at one that cannot be.
  template <typename Visit>
  bool each(Visit visit) const {
    if (!is_sound()) return false;
    const std::uint64_t head = places_->head.load(std::memory_order_acquire);
    for (std::uint64_t place = places_->tail.load(); place != head;) {
      JournalRecord& record = at(place);
      const std::uint64_t left = capacity() - place % capacity();
      const bool is_possible = record.bytes >= sizeof(JournalRecord) && record.bytes % 8 == 0 &&
                               record.bytes <= left && record.bytes <= head - place;
      if (!is_possible) return false;
      if (record.kind != kFiller && !visit(record, place)) return false;
      place += record.bytes;
    }
    return true;
  }

 private:
  // Lets go of the oldest, and fills up what is left before the ring's end. False: there is no
  // room.
  template <typename MayGo>
  bool make_room(std::size_t bytes, MayGo may_go) {
    const std::uint64_t to_end = capacity() - written_ % capacity();
    const std::uint64_t filler = to_end < bytes ? to_end : 0;
    const std::uint64_t needed = written_ + filler + bytes;
    std::uint64_t tail = this->tail();
    while (needed - tail > capacity()) {
      if (tail >= head()) return false;
      const JournalRecord& oldest = at(tail);
      if (oldest.bytes < sizeof(JournalRecord)) return false;  // damaged
      if (oldest.kind != kFiller && !may_go(oldest, tail)) break;
      tail += oldest.bytes;
      __builtin_prefetch(&at(tail));
    }
    places_->tail.store(tail, std::memory_order_release);
    if (needed - tail > capacity()) return false;
    if (filler != 0) at(written_) = {static_cast<std::uint32_t>(filler), kFiller};
    written_ += filler;
    return true;
  }
  JournalRecord& at(std::uint64_t place) const {
    return *reinterpret_cast<JournalRecord*>(memory_.data() + place % capacity());
  }

  Places* places_ = nullptr;
  std::span<std::byte> memory_;
  std::uint64_t written_ = 0;  // with what is not committed
};

inline bool JournalStream::is_sound() const {
  const std::uint64_t head = places_->head.load(), tail = places_->tail.load();
  return head >= tail && head - tail <= capacity() && head % 8 == 0 && tail % 8 == 0;
}

}  // namespace tallyfs
