// The daemon's page of switches (core/wire/FORMAT.md).
//
// Confined to the Client's lock; any thread may read the switches themselves (sealed_mapping.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/model/switch.h"
#include "feeders/client/sealed_mapping.h"

namespace tallyfs {

class Switches {
 public:
  // 2,097,152 statistics, objects and events: a daemon has about half as many. Those with higher
  // slots have no switch here.
  static constexpr std::size_t kBytesMax = 16u << 20;

  // Fails as SealedMapping::map() does.
  Result<void> map(const Fd& page, std::uint64_t bytes) {
    return view_.map(page, bytes, "switches");
  }
  void forget() { view_.forget(); }
  bool has_page() const { return view_.has_page(); }
  // The switch of a statistic; nullptr if there is none for it.
  const std::uint32_t* find(std::uint64_t number) const {
    const Slot* const found = view_.find<Slot>(number);
    return found ? &found->on : nullptr;
  }
  // The page says that the statistic of this number is gone.
  bool is_void(std::uint64_t number) const {
    const Slot* const found = view_.find<Slot>(number);
    return found && is_void(found->on, number);
  }
  // It is void because the daemon was killed before it had saved what the number is of.
  bool is_lost(std::uint64_t number) const {
    const Slot* const found = view_.find<Slot>(number);
    return found && __atomic_load_n(&found->generation, __ATOMIC_RELAXED) == kLostGeneration;
  }
  // is_void() for a switch that find() has returned; on any thread.
  static bool is_void(const std::uint32_t& on, std::uint64_t number) {
    const auto* const its = reinterpret_cast<const Slot*>(&on);
    return __atomic_load_n(&its->generation, __ATOMIC_RELAXED) != number >> 32;
  }

 private:
  struct Slot {
    std::uint32_t on;
    std::uint32_t generation;
  };
  static_assert(offsetof(Slot, on) == 0);

  SealedMapping view_{kBytesMax};
};

}  // namespace tallyfs
