#include "feeders/client/ring_access.h"

#include <array>
#include <chrono>
#include <ctime>

#include "core/wire/binary.h"
#include "feeders/client/errno_guard.h"

namespace tallyfs {
namespace {

constexpr long kNapNs = 50'000;

}  // namespace

// Sends the thread's samples for the socket first, so that all of its samples stay in order.
bool RingAccess::prepare(ThreadBuffer& buffer, FedStatistic& statistic) {
  if (!its_.settings.has_lane) return false;
  CellFiles& files = its_.cell_files;
  const bool is_new = !statistic.wants_cells.load(std::memory_order_relaxed) &&
                      !statistic.wants_cells.exchange(true);
  if (files.want_rings() || is_new) its_.upkeep.wants_requests = true;
  if (!statistic.shape.load(std::memory_order_acquire) || its_.delivery.is_replaying())
    return false;
  if (!buffer.ring().prepare(buffer.cells(), files, statistic)) return false;
  if (buffer.held() != 0) {
    const ErrnoGuard guard;
    const MutexLock lock(buffer.mutex());
    if (!its_.link.full()) its_.delivery.drain(buffer, 1);
    if (buffer.held() != 0) return false;
    buffer.rewind();
    its_.delivery.set_stop(buffer);
  }
  buffer.ring().begin(statistic);
  return buffer.ring().takes(statistic, files);
}

RingRoom RingAccess::make_room(ThreadBuffer& buffer, FedStatistic& statistic) {
  const ErrnoGuard guard;
  const std::uint32_t generation = its_.cell_files.generation();
  const RingWriter::Room found = buffer.ring().look();
  if (found == RingWriter::Room::kBell && !ring_doorbell(buffer)) buffer.ring().forget_bell();
  if (found != RingWriter::Room::kNone) return RingRoom::kThere;
  const RingRoom room = wait_for_room(buffer, generation);
  if (room != RingRoom::kDropped) return room;
  buffer.ring().count_dropped();
  buffer.drop();
  statistic.dropped.fetch_add(1, std::memory_order_relaxed);
  return room;
}

// A wait in vain is not repeated before the daemon has read something. While the daemon reads
// records, it needs no doorbell. The ring's daemon may end meanwhile, even if another one has the
// socket.
RingRoom RingAccess::wait_for_room(ThreadBuffer& buffer, std::uint32_t generation) {
  const auto now = [] { return std::chrono::nanoseconds(monotonic_ns()); };
  const auto is_other = [&] { return its_.cell_files.generation() != generation; };
  ThreadRing& ring = buffer.ring();
  const bool waits = its_.settings.wait_max.count() != 0 && !ring.has_waited_at(ring.tail());
  const auto deadline = waits ? now() + its_.settings.wait_max : std::chrono::nanoseconds(0);
  bool has_rung = false;
  for (;;) {
    if (is_other() || !its_.link.connected()) return RingRoom::kElsewhere;
    if (!waits) return RingRoom::kDropped;
    if (now() >= deadline) break;
    const timespec nap{.tv_sec = 0, .tv_nsec = kNapNs};
    ::nanosleep(&nap, nullptr);
    const bool is_there = ring.look() != RingWriter::Room::kNone;
    if (is_other()) return RingRoom::kElsewhere;
    if (is_there) return RingRoom::kThere;
    if (!has_rung) has_rung = ring_doorbell(buffer);
  }
  ring.record_wait_at(ring.tail());
  return RingRoom::kDropped;
}

// The background thread is awake for the answer, if the daemon is another one by now. False: the
// daemon does not hear the bell.
bool RingAccess::ring_doorbell(ThreadBuffer& buffer) {
  std::array<char, wire::kDoorbellBytes> datagram;
  wire::write_doorbell(its_.delivery.epoch(), buffer.ring().lane_number(), datagram);
  const Link::Sent sent = its_.link.send({datagram.data(), datagram.size()});
  its_.upkeep.has_rung = true;
  its_.upkeep.sleep.wake_from_deep_sleep();
  return sent == Link::Sent::kDone;
}

}  // namespace tallyfs
