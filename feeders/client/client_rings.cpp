// Samples that go by rings: how a thread gets one, what happens when it is full, and what becomes
// of records when the daemon that was to take them is gone.
#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "core/wire/binary.h"
#include "feeders/client/client.h"
#include "feeders/client/errno_guard.h"

namespace tallyfs {
namespace {

using namespace std::chrono_literals;

constexpr long kNapNs = 50'000;
// How long records of an earlier daemon keep others back while none of them can be sent.
constexpr Client::Time kRestMax = 1s;

}  // namespace

// ---- threads

std::uint64_t Client::in_ns(const Stamp& stamp) {
  if (stamp.scale == Stamp::Scale::kNs) return stamp.value;
  return static_cast<std::uint64_t>(time_.times().to_ns(stamp.value));
}

// What the thread holds for the socket is sent before, so that its samples stay in their order.
bool Client::prepare_ring(ThreadBuffer& buffer, FedStatistic& statistic) {
  if (!settings_.has_lane) return false;
  const bool is_new = !statistic.wants_cells.load(std::memory_order_relaxed) &&
                      !statistic.wants_cells.exchange(true);
  if (cell_files_.want_rings() || is_new) wanted_ = true;
  if (!statistic.shape.load(std::memory_order_acquire) || rest_first_) return false;
  if (!buffer.ring().prepare(buffer.cells(), cell_files_, statistic)) return false;
  if (buffer.held() != 0) {
    const ErrnoGuard guard;
    const MutexLock lock(buffer.mutex());
    if (!link_.full()) drain(buffer, 1);
    if (buffer.held() != 0) return false;
    buffer.rewind();
    set_stop(buffer);
  }
  buffer.ring().begin(statistic);
  return buffer.ring().takes(statistic, cell_files_);
}

Client::RingRoom Client::make_room_in_ring(ThreadBuffer& buffer, FedStatistic& statistic) {
  const ErrnoGuard guard;
  const std::uint32_t generation = cell_files_.generation();
  const RingWriter::Room found = buffer.ring().look();
  if (found == RingWriter::Room::kBell && !ring_doorbell(buffer)) buffer.ring().forget_bell();
  if (found != RingWriter::Room::kNone) return RingRoom::kThere;
  const RingRoom room = wait_for_room_in_ring(buffer, generation);
  if (room != RingRoom::kDropped) return room;
  buffer.ring().count_dropped();
  buffer.drop();
  statistic.dropped.fetch_add(1, std::memory_order_relaxed);
  return room;
}

// Once in vain, no more before the daemon has taken something. While the daemon takes records, it
// need not be told. The ring's daemon may go meanwhile, even if another one has the socket.
Client::RingRoom Client::wait_for_room_in_ring(ThreadBuffer& buffer, std::uint32_t generation) {
  ThreadRing& ring = buffer.ring();
  const bool waits = settings_.wait_max.count() != 0 && !ring.has_waited_at(ring.tail());
  const Time deadline = waits ? now_ns() + settings_.wait_max : Time(0);
  bool is_told = false;
  for (;;) {
    if (cell_files_.generation() != generation || !link_.connected()) return RingRoom::kElsewhere;
    if (!waits) return RingRoom::kDropped;
    if (now_ns() >= deadline) break;
    const timespec nap{.tv_sec = 0, .tv_nsec = kNapNs};
    ::nanosleep(&nap, nullptr);
    const bool is_there = ring.look() != RingWriter::Room::kNone;
    if (cell_files_.generation() != generation) return RingRoom::kElsewhere;
    if (is_there) return RingRoom::kThere;
    if (!is_told) is_told = ring_doorbell(buffer);
  }
  ring.note_waited_at(ring.tail());
  return RingRoom::kDropped;
}

// The keeper is awake for the answer, if the daemon is another one by now.
bool Client::ring_doorbell(ThreadBuffer& buffer) {
  std::array<char, wire::kDoorbellBytes> datagram;
  wire::write_doorbell(epoch_.load(), buffer.ring().lane_number(), datagram);
  const Link::Sent sent = link_.send({datagram.data(), datagram.size()});
  has_rung_ = true;
  sleep_.wake_from_deep_sleep();
  return sent == Link::Sent::kDone;
}

bool Client::put_nested_in_ring(ThreadBuffer& buffer, const UnsentSample& entry) {
  FedStatistic& statistic = *entry.statistic();
  const std::uint32_t way = statistic.way();
  if (!FedStatistic::is_ring(way) || !buffer.ring().takes(statistic, cell_files_)) return false;
  if (!buffer.ring().has_room()) {
    const RingRoom room = make_room_in_ring(buffer, statistic);
    if (room != RingRoom::kThere) return room == RingRoom::kDropped;
  }
  const auto scale = entry.is_ns() ? Stamp::Scale::kNs : Stamp::Scale::kCycles;
  put_inside(buffer, statistic, {way, entry.x(), entry.y()}, [&] {
    return Stamp{scale, entry.time()};
  });
  return true;
}

// ---- counts

// Of a daemon's confirmation that comes meanwhile, or a change of daemons, a part may be missing.
Client::InRings Client::in_rings() const {
  InRings all{.confirmed = settled_in_rings_.load()};
  std::size_t buffers = 0;
  const LaneTails* const tails = cell_files_.tails();
  for_each_buffer([&](const ThreadBuffer& buffer) {
    if (tails) all.confirmed += tails->tails[buffers].samples.load(std::memory_order_relaxed);
    all.sent += buffer.in_ring();
    buffers += 1;
  });
  all.sent -= std::min(all.sent, returned_.load());
  all.confirmed = std::min(all.confirmed, all.sent);
  return all;
}

Client::RingHeads Client::ring_heads() const {
  RingHeads rings{.generation = cell_files_.generation()};
  if (rings.generation == 0 || !cell_files_.tails()) return rings;
  const CellFile& file = *cell_files_.current();
  for (std::size_t i = 0; i < file.entries(); ++i) {
    rings.heads.push_back(file.entry(i).head.load(std::memory_order_acquire));
  }
  return rings;
}

// What another daemon had is sent over the socket.
bool Client::are_taken(const RingHeads& rings) const {
  if (has_rest()) return false;
  const LaneTails* const tails = cell_files_.tails();
  if (!tails || rings.generation != cell_files_.generation()) return true;
  for (std::size_t i = 0; i < rings.heads.size(); ++i) {
    const std::uint64_t tail = tails->tails[i].position.load(std::memory_order_acquire);
    if (static_cast<std::int64_t>(rings.heads[i] - tail) > 0) return false;
  }
  return true;
}

// ---- an earlier daemon's

// No thread is in the file any more. The same daemon, to which the connection was lost, takes the
// records out as ever; another one gets them over the socket. False: not yet.
bool Client::take_rest(const CellFile& file, const LaneTails& tails) {
  if (!cell_files_.has_rest()) {
    settle_rings(file, tails);
    return true;
  }
  if (conversation_.epoch() == 0) return false;
  if (conversation_.epoch() == file.epoch()) return false;
  if (!has_read_rest_) read_rest(file, tails);
  BufferSearch search;
  ThreadBuffer* buffer = rest_buffer_;
  if (!buffer) buffer = own_buffer(search);
  if (!buffer) return false;
  rest_buffer_ = buffer;
  for (Rest& each : rest_) {
    RingRecord record;
    while (buffer->held() < buffer->capacity() && each.ring.take(each.head, {&record, 1}).records) {
      FedStatistic* const statistic = registry_.find_statistic(record.id);
      const bool is_cycles = (record.follows & kRecordCycles) != 0;
      Stamp stamp{is_cycles ? Stamp::Scale::kCycles : Stamp::Scale::kNs, record.time};
      if ((record.follows & (kRecordCycles | kRecordNs)) == 0) stamp = now();
      UnsentSample entry;
      if (statistic) entry = UnsentSample(*statistic, record.x, record.y, stamp);
      buffer->append(entry);
      returned_.fetch_add(1);
    }
    if (each.ring.position() != each.head) return false;
  }
  settle_rings(file, tails);
  return true;
}

void Client::read_rest(const CellFile& file, const LaneTails& tails) {
  has_read_rest_ = true;
  rest_first_ = true;  // it may have come late
  for (std::size_t i = 0; i < file.entries(); ++i) {
    const LaneEntry& entry = file.entry(i);
    const std::uint64_t head = entry.head.load(std::memory_order_acquire);
    const auto ring =
        RingReader::open(file.memory(), entry.ring.load(), tails.tails[i].position.load());
    if (!ring) continue;
    rest_.push_back({*ring, head});
    if (!rest_.back().ring.accept(head)) rest_.pop_back();
  }
}

void Client::settle_rings(const CellFile& file, const LaneTails& tails) {
  // First: what is counted twice would be too much, and what is not yet is counted later.
  cell_files_.hide_tails();
  for (std::size_t i = 0; i < file.entries(); ++i) {
    settled_in_rings_ += tails.tails[i].samples.load(std::memory_order_relaxed);
  }
  rest_.clear();
  has_read_rest_ = false;
}

// The threads' own samples follow when all of it is sent, or none of it could be sent for long: a
// slow machine takes seconds for a full ring, and would mix up the order.
void Client::send_rest(Time now) {
  ThreadBuffer* const buffer = rest_buffer_;
  if (!rest_first_ && !buffer) return;
  if (buffer) {
    const MutexLock lock(buffer->mutex());
    drain(*buffer, 1);
    if (buffer->held() == 0) buffer->rewind();
  }
  if (!cell_files_.has_retired() && (!buffer || buffer->held() == 0)) {
    rest_first_ = false;
    rest_until_ = Time(0);
    rest_buffer_ = nullptr;
    if (buffer) give_back_buffer(*buffer);
  } else if (!link_.connected()) {
    rest_until_ = Time(0);
  } else if (const std::uint64_t sent = returned_.load() - (buffer ? buffer->held() : 0);
             rest_until_.count() == 0 || sent != rest_sent_) {
    rest_until_ = now + kRestMax;
    rest_sent_ = sent;
  } else if (now >= rest_until_) {
    rest_first_ = false;
    rest_until_ = Time(0);
  }
}

}  // namespace tallyfs
