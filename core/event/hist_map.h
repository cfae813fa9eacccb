// The entries of a histogram, found by their keys: open addressing over entries of equal size that
// never move. Keys are bytes in multiples of 8, zero-padded, compared as they are.
//
// Confined to its owner's lock. At most entries_max entries; memory grows with them, in blocks, and
// only when a key is new. Hashes are keyed by process, so that nobody can choose keys that collide.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tally {

class HistMap {
 public:
  // An entry: key_words of key, then value_words, all 0 at first.
  struct Shape {
    std::uint32_t key_words = 1;
    std::uint32_t value_words = 1;
    std::uint32_t entries_max = 2048;  // a power of two

    std::size_t entry_words() const { return std::size_t{key_words} + value_words; }
    // What it may grow to, its index included.
    std::size_t bytes_max() const;
  };
  using Entry = std::uint64_t*;
  struct Inserted {
    Entry entry;  // nullptr: it is full
    bool is_new;
  };

  explicit HistMap(const Shape& shape);

  // nullptr: not there. key has key_words words.
  Entry find(const std::uint64_t* key) const;
  Inserted insert(const std::uint64_t* key);
  // The entry with this number gives up its key for another, which is not in the map; its values
  // become 0.
  Entry replace(std::uint32_t number, const std::uint64_t* key);
  void clear();

  std::uint32_t size() const { return size_; }
  const Shape& shape() const { return shape_; }
  // Numbered in the order in which they came, 0 to size() - 1.
  Entry entry(std::uint32_t number) const {
    return blocks_[number / kBlockEntries].get() + (number % kBlockEntries) * stride_;
  }
  std::uint64_t* values(Entry entry) const { return entry + shape_.key_words; }

 private:
  static constexpr std::uint32_t kBlockEntries = 128;
  struct Slot {
    std::uint32_t tag = 0;     // the upper half of the hash
    std::uint32_t number = 0;  // of the entry, plus 1; 0: free
  };

  std::uint64_t hash(const std::uint64_t* key) const;
  bool same(const std::uint64_t* a, const std::uint64_t* b) const;
  // Where key is, or the free slot where it would go.
  std::size_t slot_of(const std::uint64_t* key, std::uint64_t hash) const;
  void free_slot(std::size_t slot);

  const Shape shape_;
  const std::size_t stride_;
  const std::size_t mask_;
  const std::uint64_t seed_;
  std::uint32_t size_ = 0;
  std::vector<Slot> slots_;
  std::vector<std::unique_ptr<std::uint64_t[]>> blocks_;
};

}  // namespace tally
