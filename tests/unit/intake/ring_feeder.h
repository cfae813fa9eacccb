// A feeder with a ring, which a test plays.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/lane/ring_writer.h"
#include "feeders/intake/lanes.h"
#include "tests/unit/intake/mapped_lane.h"

namespace tallyfs {

// A process with a lane, in which one thread has a ring.
class RingFeeder {
 public:
  static constexpr std::uint32_t kId = 5;
  static constexpr std::uint32_t kRingAt = kLaneHeapAt + 64 * 1024;

  RingFeeder(Lanes& lanes, const Sender& its) : sender(its) {
    const auto made = lanes.make(sender, kLaneBytesMin, {});
    EXPECT_TRUE(made);
    lane = made.value().number;
    void* const mapped = map_lane(made.value().file->fd(), kLaneBytesMin);
    EXPECT_NE(mapped, MAP_FAILED);
    memory_ = static_cast<std::byte*>(mapped);
    const auto page = lanes.tails(sender, lane);
    EXPECT_TRUE(page);
    void* const tails =
        ::mmap(nullptr, sizeof(LaneTails), PROT_READ, MAP_SHARED, page.value().fd, 0);
    EXPECT_NE(tails, MAP_FAILED);
    tails_ = static_cast<const LaneTails*>(tails);
    entry().thread = 1;
    entry().ring = std::uint64_t{kRingBytesMin} << 32 | kRingAt;
    reinterpret_cast<LaneHeader*>(memory_)->changes += 1;
    ring.emplace(RingWriter({.begin = memory_ + kRingAt,
                             .bytes = kRingBytesMin,
                             .entry = &entry(),
                             .tail = &tails_->tails[0]}));
  }
  ~RingFeeder() {
    ::munmap(memory_, kLaneBytesMin);
    ::munmap(const_cast<LaneTails*>(tails_), sizeof(LaneTails));
  }
  RingFeeder(const RingFeeder&) = delete;
  RingFeeder& operator=(const RingFeeder&) = delete;

  Result<void> bind(Lanes& lanes, std::uint64_t number) const {
    return lanes.bind(sender, {.sequence = 1, .id = kId, .lane = lane, .number = number});
  }
  LaneEntry& entry() { return *reinterpret_cast<LaneEntry*>(memory_ + kLaneEntriesAt); }
  std::atomic<std::uint64_t>& changes() {
    return reinterpret_cast<LaneHeader*>(memory_)->changes;
  }
  bool put(std::int64_t x) {
    if (!ring->has_room(4) && ring->look() == RingWriter::Room::kNone) return false;
    ring->put(kId, 0, x, 1, 0);
    return true;
  }
  void fill() {
    while (put(1)) {
    }
  }
  std::uint64_t taken() const { return tails_->tails[0].samples; }

  const Sender sender;
  std::uint64_t lane = 0;
  std::optional<RingWriter> ring;

 private:
  std::byte* memory_ = nullptr;
  const LaneTails* tails_ = nullptr;
};

}  // namespace tallyfs
