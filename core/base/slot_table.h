// Owns things under numbers that never come to mean another: a number is a slot and how often the
// slot was used before. For numbers that strangers send back: none of them leads astray.
// Confined to its owner's lock.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace tally {

template <typename Owner>  // a smart pointer; an empty one is no entry
class SlotTable {
 public:
  // The number that the next add() gives.
  std::uint64_t next_number() const {
    if (free_.empty()) return kFirstGeneration | slots_.size();
    return number_of(free_.back());
  }
  std::uint64_t add(Owner entry) {
    const std::uint64_t number = next_number();
    if (free_.empty()) {
      slots_.push_back({std::move(entry), 1});
    } else {
      slots_[free_.back()].entry = std::move(entry);
      free_.pop_back();
    }
    return number;
  }
  // Nullptr for a number that names nothing, or nothing any more.
  const Owner* find(std::uint64_t number) const {
    const auto index = static_cast<std::uint32_t>(number);
    if (index >= slots_.size() || slots_[index].generation != number >> 32) return nullptr;
    return slots_[index].entry ? &slots_[index].entry : nullptr;
  }
  // Hands the entry out; an empty one if the number names nothing.
  Owner remove(std::uint64_t number) {
    if (!find(number)) return {};
    const auto index = static_cast<std::uint32_t>(number);
    slots_[index].generation += 1;
    free_.push_back(index);
    return std::exchange(slots_[index].entry, {});
  }
  std::size_t size() const { return slots_.size() - free_.size(); }

  // Calls with each entry until one returns true, and returns that; nullptr if none does.
  template <typename Predicate>
  const Owner* find_if(Predicate predicate) const {
    for (const Slot& slot : slots_) {
      if (slot.entry && predicate(*slot.entry)) return &slot.entry;
    }
    return nullptr;
  }

 private:
  static constexpr std::uint64_t kFirstGeneration = std::uint64_t{1} << 32;
  struct Slot {
    Owner entry;
    std::uint32_t generation = 1;
  };
  std::uint64_t number_of(std::uint32_t index) const {
    return std::uint64_t{slots_[index].generation} << 32 | index;
  }

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace tally
