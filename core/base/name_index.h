// An index of elements by name, for many look-ups at a time. A look-up in a large table waits for
// memory at each of its steps. Here each step can be done for a whole batch before the next step,
// so that the waits overlap:
//   hash, prefetch(hash); then candidate(hash), and prefetch that; then find().
// Open addressing, at most half full. Probing begins at a line of memory, all slots of which
// candidate() compares without a branch: which of them it is, nothing could guess. Names are hashed
// with the process's key (keyed_hash.h). Owns nothing; an element's name must not change while it
// is in. Confined to its owner's lock.
//
// Naming gives the name of an element, so that an element need not hold its name in one piece:
//   static std::string name(const Element&)
//   static bool is_named(const Element&, NAME name)
// Hash gives the hash of a name, keyed_hash() or another with a key. Where callers bring the hash,
// is_named() is all that is needed, and a NAME may be of any type.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/keyed_hash.h"

namespace tallyfs {

template <typename Element, typename Naming, typename Hash = KeyedHash>
class NameIndex {
 public:
  void prefetch(std::uint64_t hash) const { __builtin_prefetch(&lines_[home(hash) / kSlots]); }
  // An element that may have the name, by its hash. Nullptr: there is none in the first line, where
  // nearly all are.
  Element* candidate(std::uint64_t hash) const {
    const Line& line = lines_[home(hash) / kSlots];
    const auto& [a, b, c, d] = line.slots;
    const auto mark = [hash](const Slot& slot) { return slot.hash == hash ? 1u : 0u; };
    const unsigned marks = mark(a) | mark(b) << 1 | mark(c) << 2 | mark(d) << 3;
    if (marks == 0) return nullptr;
    return line.slots[static_cast<std::size_t>(std::countr_zero(marks))].element;
  }
  // hash: that of the name. Nullptr when there is none of that name.
  template <typename Name>
  Element* find(const Name& name, std::uint64_t hash) const {
    for (std::size_t at = home(hash); slot(at).element; at = next(at)) {
      if (slot(at).hash == hash && Naming::is_named(*slot(at).element, name))
        return slot(at).element;
    }
    return nullptr;
  }
  Element* find(std::string_view name) const { return find(name, Hash()(name)); }

  // No element may have its name yet. hash: that of its name.
  void insert(Element& element, std::uint64_t hash) {
    if (2 * (size_ + 1) > capacity()) grow();
    place({hash, &element});
    ++size_;
  }
  void insert(Element& element) { insert(element, Hash()(Naming::name(element))); }
  // The element must be in the index.
  void erase(const Element& element) {
    std::size_t gap = home(Hash()(Naming::name(element)));
    while (slot(gap).element != &element) gap = next(gap);
    // Elements behind it that are not in their home slots move up, until the next free slot:
    // look-ups end at free slots.
    for (std::size_t at = next(gap); slot(at).element; at = next(at)) {
      if (distance(home(slot(at).hash), at) < distance(gap, at)) continue;
      slot(gap) = slot(at);
      gap = at;
    }
    slot(gap) = {};
    --size_;
  }
  std::size_t size() const { return size_; }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    Element* element = nullptr;
  };

  static constexpr std::size_t kSlots = 4;
  struct alignas(kSlots * sizeof(Slot)) Line {
    std::array<Slot, kSlots> slots;
  };
  static constexpr std::size_t kLinesMin = 4;

  std::size_t capacity() const { return kSlots * lines_.size(); }
  Slot& slot(std::size_t at) { return lines_[at / kSlots].slots[at % kSlots]; }
  const Slot& slot(std::size_t at) const { return lines_[at / kSlots].slots[at % kSlots]; }
  std::size_t home(std::uint64_t hash) const { return hash & (capacity() - kSlots); }
  std::size_t next(std::size_t at) const { return (at + 1) & (capacity() - 1); }
  std::size_t distance(std::size_t from, std::size_t to) const {
    return (to - from) & (capacity() - 1);
  }

  void place(const Slot& placed) {
    std::size_t at = home(placed.hash);
    while (slot(at).element) at = next(at);
    slot(at) = placed;
  }
  void grow() {
    const auto before = std::exchange(lines_, std::vector<Line>(2 * lines_.size()));
    for (const Line& line : before) {
      for (const Slot& each : line.slots) {
        if (each.element) place(each);
      }
    }
  }

  std::vector<Line> lines_ = std::vector<Line>(kLinesMin);
  std::size_t size_ = 0;
};

}  // namespace tallyfs
