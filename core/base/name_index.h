// An index of elements by name, for many look-ups at a time. A look-up in a large table waits for
// memory at each of its steps. Here each step can be done for a whole batch before the next step,
// so that the waits overlap:
//   hash, prefetch(hash); then candidate(hash), and prefetch that; then find().
// Open addressing, linear probing, at most half full; names are hashed with the process's key
// (keyed_hash.h). Owns nothing; an element's name must not change while it is in. Confined to its
// owner's lock.
//
// Naming gives the name of an element, so that an element need not hold its name in one piece:
//   static std::string name(const Element&)
//   static bool is_named(const Element&, NAME name)
// Hash gives the hash of a name, keyed_hash() or another with a key. Where callers bring the hash,
// is_named() is all that is needed, and a NAME may be of any type.
#pragma once

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
  void prefetch(std::uint64_t hash) const { __builtin_prefetch(&slots_[home(hash)]); }
  // The element that may have the name, by its hash; nullptr: there is none.
  Element* candidate(std::uint64_t hash) const {
    for (std::size_t at = home(hash);; at = next(at)) {
      if (!slots_[at].element || slots_[at].hash == hash) return slots_[at].element;
    }
  }
  // hash: that of the name. Nullptr when there is none of that name.
  template <typename Name>
  Element* find(const Name& name, std::uint64_t hash) const {
    for (std::size_t at = home(hash); slots_[at].element; at = next(at)) {
      if (slots_[at].hash == hash && Naming::is_named(*slots_[at].element, name))
        return slots_[at].element;
    }
    return nullptr;
  }
  Element* find(std::string_view name) const { return find(name, Hash()(name)); }

  // No element may have its name yet. hash: that of its name.
  void insert(Element& element, std::uint64_t hash) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    place({hash, &element});
    ++size_;
  }
  void insert(Element& element) { insert(element, Hash()(Naming::name(element))); }
  // The element must be in the index.
  void erase(const Element& element) {
    std::size_t gap = home(Hash()(Naming::name(element)));
    while (slots_[gap].element != &element) gap = next(gap);
    // Elements behind it that are not in their home slots move up, until the next free slot:
    // look-ups end at free slots.
    for (std::size_t at = next(gap); slots_[at].element; at = next(at)) {
      if (distance(home(slots_[at].hash), at) < distance(gap, at)) continue;
      slots_[gap] = slots_[at];
      gap = at;
    }
    slots_[gap] = {};
    --size_;
  }
  std::size_t size() const { return size_; }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    Element* element = nullptr;
  };

  static constexpr std::size_t kSlotsMin = 16;

  std::size_t home(std::uint64_t hash) const { return hash & (slots_.size() - 1); }
  std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }
  std::size_t distance(std::size_t from, std::size_t to) const {
    return (to - from) & (slots_.size() - 1);
  }

  void place(const Slot& slot) {
    std::size_t at = home(slot.hash);
    while (slots_[at].element) at = next(at);
    slots_[at] = slot;
  }
  void grow() {
    const auto before = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
    for (const Slot& slot : before) {
      if (slot.element) place(slot);
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(kSlotsMin);
  std::size_t size_ = 0;
};

}  // namespace tallyfs
