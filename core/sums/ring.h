// The newest elements, at most a given number of them. Grows up to that bound as elements come, so
// that a generous bound costs nothing until it is used. Confined to its owner.
//
// A copy shares its memory with the original, a block of elements at a time, until one of them
// writes there: a reader copies under the lock, while samples wait to be added. A block of nothing
// but T{} that were pushed as blanks has no memory, until one of them is written.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/sums/shared_block.h"

namespace tallyfs {

template <typename T>
class Ring {
 public:
  // 1 to 2^32 - 1.
  explicit Ring(std::uint32_t bound) : bound_(bound) {}

  static std::uint64_t worst_case_bytes(std::uint64_t bound) {
    // The table of blocks may have room for twice as many.
    const std::uint64_t blocks = (bound + kBlock - 1) / kBlock;
    return bound * sizeof(T) + blocks * (SharedBlock<T>::kOwnBytes + sizeof(void*));
  }

  std::uint32_t bound() const { return bound_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // 0 is the oldest; i < size().
  const T& operator[](std::size_t i) const {
    const std::size_t at = place(i);
    const SharedBlock<T>& block = blocks_[at / kBlock];
    return is_blank(block) ? kBlank : block.elements()[at % kBlock];
  }
  const T& newest() const { return (*this)[size_ - 1]; }
  // The element for writing: a block that is shared with a copy is copied first.
  T& change(std::size_t i) {
    const std::size_t at = place(i);
    return own(at / kBlock)[at % kBlock];
  }
  T& change_newest() { return change(size_ - 1); }

  void push(const T& element) { push(std::span(&element, 1)); }
  // In their order; the oldest make room.
  void push(std::span<const T> elements) {
    if (elements.size() > bound_) elements = elements.last(bound_);
    while (!elements.empty()) {
      const auto some = elements.first(std::min(elements.size(), left_in_block()));
      size_ < bound_ ? append(some) : overwrite(some);
      elements = elements.subspan(some.size());
    }
  }
  // So many T{}: a block at a time.
  void push_blanks(std::size_t count) {
    for (count = std::min<std::size_t>(count, bound_); count != 0;) {
      const std::size_t some = std::min(count, left_in_block());
      blank(next(), some);
      if (size_ < bound_) {
        size_ += static_cast<std::uint32_t>(some);
      } else {
        oldest_ = static_cast<std::uint32_t>((oldest_ + some) % bound_);
      }
      count -= some;
    }
  }

 private:
  // Small enough that a writer soon copies a block which readers share.
  static constexpr std::size_t kBlock = 1024;
  static constexpr T kBlank{};

  static bool is_blank(const SharedBlock<T>& block) { return block.capacity() == 0; }
  // Elements that a block has when the ring is full.
  std::size_t most(std::size_t block) const { return std::min(kBlock, bound_ - block * kBlock); }
  std::size_t place(std::size_t i) const {
    const std::size_t at = oldest_ + i;
    return at < size_ ? at : at - size_;
  }
  std::size_t used(std::size_t block) const { return std::min(kBlock, size_ - block * kBlock); }
  T* own(std::size_t block) {
    if (is_blank(blocks_[block])) [[unlikely]]
      fill_in(block, used(block));
    return blocks_[block].own_elements(used(block));
  }
  // Gives a blank block its memory.
  void fill_in(std::size_t block, std::size_t capacity) {
    blocks_[block].change_capacity(capacity, 0);
    std::fill_n(blocks_[block].own_elements(0), used(block), kBlank);
  }
  // Some places of one block, the next to be written.
  void blank(std::size_t at, std::size_t some) {
    const std::size_t block = at / kBlock;
    if (block == blocks_.size()) blocks_.emplace_back();
    if (is_blank(blocks_[block])) return;
    if (some == most(block)) {
      blocks_[block] = {};
      return;
    }
    if (size_ < bound_) reserve(some);
    std::fill_n(own(block) + at % kBlock, some, kBlank);
  }

  std::size_t next() const { return size_ < bound_ ? size_ : oldest_; }
  // Where the next element goes, and behind it.
  std::size_t left_in_block() const {
    return std::min<std::size_t>(kBlock - next() % kBlock, bound_ - next());
  }

  // Some that fit into what is left of a block.
  void append(std::span<const T> some) {
    reserve(some.size());
    std::copy(some.begin(), some.end(), own(size_ / kBlock) + size_ % kBlock);
    size_ += static_cast<std::uint32_t>(some.size());
  }
  void overwrite(std::span<const T> some) {
    std::copy(some.begin(), some.end(), own(oldest_ / kBlock) + oldest_ % kBlock);
    oldest_ = static_cast<std::uint32_t>((oldest_ + some.size()) % bound_);
  }

  // A block's capacity doubles, but never beyond the bound, which is what the ledger was told.
  void reserve(std::size_t more) {
    const std::size_t block = size_ / kBlock;
    if (block == blocks_.size()) blocks_.emplace_back();
    const std::size_t needed = size_ % kBlock + more;
    const std::size_t capacity = blocks_[block].capacity();
    if (needed <= capacity) return;
    const std::size_t larger = std::min(most(block), std::max(needed, 2 * capacity));
    if (is_blank(blocks_[block])) return fill_in(block, larger);
    blocks_[block].change_capacity(larger, used(block));
  }

  std::uint32_t bound_;
  std::uint32_t size_ = 0;
  std::uint32_t oldest_ = 0;  // place of the oldest; 0 until the ring is full
  std::vector<SharedBlock<T>> blocks_;
};

}  // namespace tallyfs
