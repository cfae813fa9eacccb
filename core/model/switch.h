// What a feeder looks at before it sends: whether a statistic is on, and whether its number still
// names it. The bytes are those of core/wire/FORMAT.md, "The page of switches", in memory that
// other processes read while it is written.
#pragma once

#include <atomic>
#include <cstdint>

namespace tallyfs {

struct Switch {
  std::atomic<std::uint32_t> on;
  std::atomic<std::uint32_t> generation;
};
static_assert(sizeof(Switch) == 8 && std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace tallyfs
