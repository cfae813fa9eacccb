// What tests of lanes and of what is packed from them share.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "feeders/client/lane.h"
#include "tests/unit/random.h"

namespace tallyfs {

struct DestroyLane {
  void operator()(Lane* lane) const { Lane::destroy(lane); }
};
using LanePointer = std::unique_ptr<Lane, DestroyLane>;

inline LanePointer make_lane(std::size_t capacity) {
  LanePointer lane(Lane::create(capacity));
  EXPECT_TRUE(lane && lane->try_own());
  return lane;
}

inline Stamp at_ns(std::uint64_t ns) { return {Stamp::Scale::kNs, ns}; }
inline Stamp at_cycles(std::uint64_t cycles) { return {Stamp::Scale::kCycles, cycles}; }

// The X of what is held, from the tail on.
inline std::vector<std::int64_t> held_in(Lane& lane) {
  const MutexLock lock(lane.mutex());
  std::vector<std::int64_t> held;
  for (std::uint64_t i = lane.tail(); i != lane.head(); ++i) held.push_back(lane.entry(i).x());
  return held;
}

inline void consume(Lane& lane, std::uint64_t entries) {
  const MutexLock lock(lane.mutex());
  lane.consume(entries);
}

}  // namespace tallyfs
