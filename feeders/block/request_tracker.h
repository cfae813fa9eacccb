// Joins what happens to block requests: which issue a completion belongs to. Pure: fed with
// events in the order of their times.
//
// The kernel's events carry no identity, so a request is known by device, operation and first
// sector. Several may share those (flushes all have sector 0, two readers may want the same
// block): of these a completion means the oldest one of just its length, else the oldest that is
// longer, else the oldest.
// A completion of fewer sectors than are outstanding is a part: the request lives on at the sector
// behind it, and is finished with its last part.
// A requeued request is one that the driver had no room for; issued again, it starts again.
//
// Confined to one thread. Holds at most kInFlightMax requests.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "feeders/block/request.h"

namespace tallyfs {

class RequestTracker {
 public:
  static constexpr std::size_t kInFlightMax = 65'536;
  // A request that is older when another of its sector ends is taken for one whose end was never
  // shown, and not for the one that ended.
  static constexpr std::chrono::minutes kOrphanedAfter{2};

  struct Finished {
    std::uint32_t bytes = 0;  // as issued
    std::chrono::nanoseconds latency{0};
  };

  // How many requests of this device and direction are in flight now, this one included. Nothing:
  // there are kInFlightMax, and it is not tracked; most of them will never complete, so the caller
  // should forget_all().
  std::optional<std::uint32_t> issue(const RequestEvent& event);
  // nullopt: a part of a request, or a request that was issued before the feeder started.
  std::optional<Finished> complete(const RequestEvent& event);
  void requeue(const RequestEvent& event);

  // Call after a loss of events: which requests are still in flight is unknown.
  void forget_all();

  // Requests given up since the last call, because their end was never shown.
  std::size_t take_orphaned() { return std::exchange(orphaned_, 0); }

  std::size_t in_flight() const { return slots_.size() - free_.size(); }

 private:
  struct Key {
    DeviceNumber device;
    char operation;
    std::uint64_t sector;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  using Slot = std::uint32_t;
  static constexpr Slot kNone = UINT32_MAX;
  struct Request {
    std::uint32_t sectors_left = 0;
    std::uint32_t bytes = 0;
    std::chrono::nanoseconds issued{0};
    Slot next = kNone;  // of the same key, younger
  };
  struct Chain {
    Slot first = kNone;
    Slot last = kNone;
  };

  static Key key_of(const RequestEvent& event);
  void append(const Key& key, Slot slot);
  Slot take(const Key& key, const RequestEvent& event);
  void drop_orphans(const Key& key, Chain& chain, std::chrono::nanoseconds now);
  Slot choose(const Chain& chain, std::uint32_t sectors) const;
  void unlink(Chain& chain, Slot slot);
  std::uint32_t& pending(const Key& key);
  void release(const Key& key, Slot slot);

  boost::unordered_flat_map<Key, Chain, KeyHash> by_key_;
  std::vector<Request> slots_;
  std::vector<Slot> free_;
  std::size_t orphaned_ = 0;
  boost::unordered_flat_map<DeviceNumber, std::array<std::uint32_t, kDirections>> pending_;
};

}  // namespace tallyfs
