// The entries of a histogram, found by their keys: open addressing over entries of equal size, in
// blocks. Keys are bytes in multiples of 8, zero-padded, compared as they are.
//
// A View is all entries at one moment, without a copy of them. It shares the blocks, and the map
// copies a shared block before the first write into it. So the lock is held for a short time only,
// however many entries there are. The cost is one copy of each block that changes while a reader
// has the view.
//
// Confined to its owner's lock; a View is a value that any thread may read. An Entry stays where it
// is until a View is taken. At most entries_max entries. Memory grows with them, in blocks, when a
// key is new or a shared block changes. Hashes are keyed by process, so that no sender can choose
// keys that collide.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tallyfs::tracing {

class HistMap {
 public:
  // An entry: key_words of key, then value_words, all 0 at first.
  struct Shape {
    std::uint32_t key_words = 1;
    std::uint32_t value_words = 1;
    std::uint32_t entries_max = 2048;  // a power of two

    std::size_t entry_words() const { return std::size_t{key_words} + value_words; }
    // The memory that it may grow to, its index included.
    std::size_t bytes_max() const;
  };
  using Entry = std::uint64_t*;
  // Shared by the map and by views of it; the last of them frees it.
  using Block = std::shared_ptr<std::uint64_t[]>;
  struct Inserted {
    Entry entry;  // nullptr: the map is full
    bool is_new;
  };

  class View {
   public:
    std::uint32_t size() const { return size_; }
    const std::uint64_t* entry(std::uint32_t number) const {
      return blocks_[number / kBlockEntries].get() + (number % kBlockEntries) * stride_;
    }

   private:
    friend class HistMap;
    std::vector<Block> blocks_;
    std::uint32_t size_ = 0;
    std::size_t stride_ = 0;
  };

  explicit HistMap(const Shape& shape);

  // The entry, to be written to. nullptr: there is none. key has key_words words.
  Entry find(const std::uint64_t* key);
  Inserted insert(const std::uint64_t* key);
  // The entry with this number gives up its key for another, which is not in the map; its values
  // become 0.
  Entry replace(std::uint32_t number, const std::uint64_t* key);
  void clear();

  std::uint32_t size() const { return size_; }
  const Shape& shape() const { return shape_; }
  // Entries are numbered in the order in which they came, 0 to size() - 1.
  const std::uint64_t* entry(std::uint32_t number) const {
    return words_[number / kBlockEntries] + (number % kBlockEntries) * stride_;
  }
  std::uint64_t* values(Entry entry) const { return entry + shape_.key_words; }
  const std::uint64_t* values(const std::uint64_t* entry) const { return entry + shape_.key_words; }

  View view();
  // The memory that a view of the map keeps if all of it changes meanwhile.
  std::size_t view_bytes() const;

 private:
  static constexpr std::uint32_t kBlockEntries = 128;
  struct Slot {
    std::uint32_t tag = 0;     // the upper half of the hash
    std::uint32_t number = 0;  // of the entry, plus 1; 0: free
  };
  struct OwnBlock {
    Block words;
    bool is_viewed = false;  // by a view that may be gone by now
  };

  std::uint64_t hash(const std::uint64_t* key) const;
  bool same(const std::uint64_t* a, const std::uint64_t* b) const;
  // The slot of the key, or the free slot where it would go.
  std::size_t slot_of(const std::uint64_t* key, std::uint64_t hash) const;
  void free_slot(std::size_t slot);
  std::size_t used_blocks() const { return (size_ + kBlockEntries - 1) / kBlockEntries; }
  // The entry, in a block that no view shares.
  Entry own(std::uint32_t number) {
    const std::size_t block = number / kBlockEntries;
    if (viewed_blocks_ != 0) own_block(block);
    return words_[block] + (number % kBlockEntries) * stride_;
  }
  void own_block(std::size_t block);

  const Shape shape_;
  const std::size_t stride_;
  const std::size_t mask_;
  const std::uint64_t seed_;
  std::uint32_t size_ = 0;
  std::vector<Slot> slots_;
  std::vector<OwnBlock> blocks_;
  std::vector<std::uint64_t*> words_;  // of the blocks
  std::size_t viewed_blocks_ = 0;
};

}  // namespace tallyfs::tracing
