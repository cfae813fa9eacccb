// What tests of lanes and of what is packed from them share.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "feeders/client/lane.h"

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

// Draws numbers, and says with which seed when the test fails: TALLY_SEED=n repeats it.
class Random {
 public:
  std::uint64_t below(std::uint64_t end) { return engine_() % end; }
  std::uint64_t any() { return engine_(); }
  std::string seed() const { return std::string("TALLY_SEED=").append(std::to_string(seed_)); }

 private:
  static std::uint64_t draw() {
    const char* const given = std::getenv("TALLY_SEED");
    return given ? std::strtoull(given, nullptr, 0) : std::random_device{}();
  }

  const std::uint64_t seed_ = draw();
  std::mt19937_64 engine_{seed_};
};

}  // namespace tallyfs
