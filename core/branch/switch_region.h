// Regions of the page of switches (core/wire/FORMAT.md): each branch that gives numbers to feeders
// has one region, and its numbers on the wire count from the region's first entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/model/switch.h"

namespace tallyfs {

// A value. The memory of the switches outlives it. A region without switches still has its numbers.
struct SwitchRegion {
  std::span<Switch> switches;
  std::uint32_t first = 0;  // entry of the page
};

// Hands out the page, region by region. Confined to its thread.
class SwitchLayout {
 public:
  // An empty page gives regions without switches.
  explicit SwitchLayout(std::span<Switch> page) : page_(page) {}

  // The next entries of the page. A page that is not empty must have so many left.
  SwitchRegion take(std::size_t entries) {
    const auto first = static_cast<std::uint32_t>(taken_);
    taken_ += entries;
    if (page_.empty()) return {.switches = {}, .first = first};
    return {.switches = page_.subspan(first, entries), .first = first};
  }

 private:
  const std::span<Switch> page_;
  std::size_t taken_ = 0;
};

}  // namespace tallyfs
