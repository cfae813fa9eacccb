// The switch that a feeder reads before it sends: whether a statistic is on, and whether its number
// still names it. The bytes are those of core/wire/FORMAT.md, "The page of switches", in memory
// that other processes read while it is written.
#pragma once

#include <atomic>
#include <cstdint>

namespace tallyfs {

struct Switch {
  std::atomic<std::uint32_t> on;
  std::atomic<std::uint32_t> generation;
};
// In `generation`: a server that was killed had given the number, and its successor does not know
// of what. A feeder that has the number registers that again.
inline constexpr std::uint32_t kLostGeneration = UINT32_MAX;
// The values of `on`: 0 while samples are not wanted, else kSwitchOn and the route that they take.
inline constexpr std::uint32_t kSwitchOn = 1;
inline constexpr std::uint32_t kRouteMask = 3u << 8;
inline constexpr std::uint32_t kRouteSocket = 0;
inline constexpr std::uint32_t kRouteCell = 1u << 8;
inline constexpr std::uint32_t kRouteRing = 2u << 8;
// The fields that a sample needs on its route in addition to X.
inline constexpr std::uint32_t kRouteNeedsY = 1u << 10;
inline constexpr std::uint32_t kRouteNeedsTime = 1u << 11;

static_assert(sizeof(Switch) == 8 && std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace tallyfs
