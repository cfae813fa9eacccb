// A table of owned elements under numbers that are never reused: a number is a slot, and a count of
// the slot's earlier uses. So a stale number that an untrusted sender sends back finds no element.
// A slot that was used 2^32 - 1 times, the most that can be counted, is not used again.
// Confined to its owner's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace tallyfs {

template <typename Owner>  // a smart pointer; an empty one is no entry
class SlotTable {
 public:
  // uses: how many earlier uses each slot counts; for tests.
  explicit SlotTable(std::uint32_t uses = 0) : first_generation_(uses + 1) {}

  // The number that the next add() gives.
  std::uint64_t next_number() const {
    if (free_.empty()) return std::uint64_t{first_generation_} << 32 | slots_.size();
    return number_of(free_.back());
  }
  std::uint64_t add(Owner entry) {
    const std::uint64_t number = next_number();
    if (free_.empty()) {
      slots_.push_back({std::move(entry), first_generation_});
    } else {
      slots_[free_.back()].entry = std::move(entry);
      free_.pop_back();
    }
    return number;
  }
  // Nullptr: the number has no element, or no longer has one.
  const Owner* find(std::uint64_t number) const {
    const auto index = static_cast<std::uint32_t>(number);
    if (index >= slots_.size() || slots_[index].generation != number >> 32) return nullptr;
    return slots_[index].entry ? &slots_[index].entry : nullptr;
  }
  // Removes the element and returns it; an empty one if the number has no element.
  Owner remove(std::uint64_t number) {
    if (!find(number)) return {};
    const auto index = static_cast<std::uint32_t>(number);
    slots_[index].generation += 1;
    note_free(index);
    return std::exchange(slots_[index].entry, {});
  }
  std::size_t size() const { return slots_.size() - free_.size() - retired_; }

  // What another table needs to go on in place of this one: of each slot what its next number has
  // above the slot, and whether it has an element.
  struct SavedSlot {
    std::uint32_t generation = 0;
    bool is_taken = false;
  };
  std::vector<SavedSlot> save() const {
    std::vector<SavedSlot> saved;
    saved.reserve(slots_.size());
    for (const Slot& slot : slots_) {
      saved.push_back({slot.generation, static_cast<bool>(slot.entry)});
    }
    return saved;
  }
  // Of an empty table. `entry_of(number)` gives the element that had the number, or an empty one:
  // then the number names nothing from now on.
  template <typename EntryOf>
  void restore(const std::vector<SavedSlot>& saved, EntryOf entry_of) {
    slots_.resize(saved.size());
    for (std::uint32_t index = 0; index < saved.size(); ++index) {
      slots_[index].generation = saved[index].generation;
      if (!saved[index].is_taken) {
        note_free(index);
        continue;
      }
      slots_[index].entry = entry_of(number_of(index));
      if (slots_[index].entry) continue;
      slots_[index].generation += 1;
      note_free(index);
    }
  }

  // Calls the predicate with each element until it returns true. Returns that element, or nullptr.
  template <typename Predicate>
  const Owner* find_if(Predicate predicate) const {
    for (const Slot& slot : slots_) {
      if (slot.entry && predicate(*slot.entry)) return &slot.entry;
    }
    return nullptr;
  }

 private:
  struct Slot {
    Owner entry;
    std::uint32_t generation = 0;
  };
  void note_free(std::uint32_t index) {
    // 0: all numbers of this slot have been used, and would repeat.
    if (slots_[index].generation != 0) {
      free_.push_back(index);
    } else {
      retired_ += 1;
    }
  }
  std::uint64_t number_of(std::uint32_t index) const {
    return std::uint64_t{slots_[index].generation} << 32 | index;
  }

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::size_t retired_ = 0;
  std::uint32_t first_generation_;
};

}  // namespace tallyfs
