// Reads a ring that another process may be writing, or that hostile code fills with anything: each
// word is loaded once, then checked. What counts is the reader's own position, and never a shared
// one. Confined to its owner.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/lane/layout.h"

namespace tallyfs {

struct RingRecord {
  std::uint32_t id = 0;
  std::uint32_t follows = 0;  // kRecordY and others
  std::int64_t x = 0;
  std::uint64_t y = 1;
  std::uint64_t time = 0;
};

class RingReader {
 public:
  // ring: as the entry has it. From this position on. Nothing: no feeder has a ring there.
  static std::optional<RingReader> open(std::span<const std::byte> file, std::uint64_t ring,
                                        std::uint64_t position);

  std::uint64_t ring() const { return ring_; }
  std::uint64_t position() const { return position_; }

  // Whether so many words can have been written. If not, what is there is skipped.
  bool accept(std::uint64_t head);
  // Where in the file this position is.
  std::uint64_t place_of(std::uint64_t position) const {
    return (ring_ & UINT32_MAX) + (position & (size_ - 1)) * sizeof(std::uint64_t);
  }
  struct Taken {
    std::size_t records = 0;
    bool is_bad = false;  // behind them stands what no feeder writes; all of it was skipped
    std::uint64_t bad_at = 0;      // where, in the file
    std::uint64_t bad_word = 0;    // its first word
    std::uint64_t words_left = 0;  // from there on
  };
  // The next records before head, which accept() has accepted.
  Taken take(std::uint64_t head, std::span<RingRecord> records);

 private:
  RingReader(const std::atomic<std::uint64_t>* words, std::uint64_t size, std::uint64_t ring,
             std::uint64_t position)
      : words_(words), size_(size), ring_(ring), position_(position) {}
  std::uint64_t word(std::uint64_t position) const {
    return words_[position & (size_ - 1)].load(std::memory_order_relaxed);
  }
  std::optional<RingRecord> read(std::uint64_t head);

  const std::atomic<std::uint64_t>* words_;
  std::uint64_t size_;  // words
  std::uint64_t ring_;
  std::uint64_t position_;
};

}  // namespace tallyfs
