// The page of switches: gives each statistic the one that belongs to its number. The memory is
// somebody else's, and outlives the board; without any there are no switches.
//
// Confined to the Statistics' lock. A switch that is given out is its Interface's to flip, under
// that one's lock, until it is taken back.
#pragma once

#include <cstdint>
#include <span>

#include "core/model/switch.h"

namespace tallyfs {

class SwitchBoard {
 public:
  explicit SwitchBoard(std::span<Switch> switches) : switches_(switches) {}

  // The switch of the statistic of this number (SlotTable's), off; nullptr if there is none for it.
  Switch* give(std::uint64_t number) {
    const auto slot = static_cast<std::uint32_t>(number);
    if (slot >= switches_.size()) return nullptr;
    switches_[slot].on.store(0, std::memory_order_release);
    switches_[slot].generation.store(static_cast<std::uint32_t>(number >> 32),
                                     std::memory_order_release);
    return &switches_[slot];
  }
  // The statistic of this number is gone, and its Interface does not flip its switch any more: it
  // says on, so that a feeder which goes on sending learns of it.
  void take_back(std::uint64_t number) {
    const auto slot = static_cast<std::uint32_t>(number);
    if (slot >= switches_.size()) return;
    switches_[slot].generation.store(static_cast<std::uint32_t>(number >> 32) + 1,
                                     std::memory_order_release);
    switches_[slot].on.store(1, std::memory_order_release);
  }

 private:
  const std::span<Switch> switches_;
};

}  // namespace tallyfs
