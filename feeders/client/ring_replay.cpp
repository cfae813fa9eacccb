#include "feeders/client/ring_replay.h"

namespace tallyfs {
namespace {

// How long records of an earlier daemon keep others back while none of them can be sent.
constexpr RingReplay::Time kOthersWaitMax = std::chrono::seconds(1);

}  // namespace

bool RingReplay::is_pending() const {
  return its_.delivery.is_replaying() || its_.delivery.replay_buffer() != nullptr ||
         its_.cell_files.has_unread_records();
}

void RingReplay::expect() {
  if (its_.cell_files.has_unread_records()) its_.delivery.set_replaying(true);
}

// After a lost connection, the same daemon still reads the records from the ring; another daemon
// gets them over the socket.
bool RingReplay::take(const CellFile& file, const LaneTails& tails, std::uint64_t epoch) {
  if (!its_.cell_files.has_unread_records()) {
    finish_file(file, tails);
    return true;
  }
  if (epoch == 0 || epoch == file.epoch()) return false;
  if (!has_read_) read(file, tails);
  ThreadBuffers::Search search;
  ThreadBuffer* buffer = its_.delivery.replay_buffer();
  if (!buffer) buffer = its_.buffers.own(search);
  if (!buffer) return false;
  its_.delivery.set_replay_buffer(buffer);
  for (Rest& each : rest_) {
    RingRecord record;
    while (buffer->held() < buffer->capacity() && each.ring.take(each.head, {&record, 1}).records) {
      append(*buffer, record);
      its_.progress.count_returned();
    }
    if (each.ring.position() != each.head) return false;
  }
  finish_file(file, tails);
  return true;
}

void RingReplay::append(ThreadBuffer& buffer, const RingRecord& record) {
  FedStatistic* const statistic = its_.registry.find_statistic(record.id);
  const bool is_cycles = (record.follows & kRecordCycles) != 0;
  Stamp stamp{is_cycles ? Stamp::Scale::kCycles : Stamp::Scale::kNs, record.time};
  if ((record.follows & (kRecordCycles | kRecordNs)) == 0) {
    stamp = {Stamp::Scale::kCycles, its_.time.cycles()};
  }
  buffer.append(statistic ? UnsentSample(*statistic, record.x, record.y, stamp) : UnsentSample());
}

void RingReplay::read(const CellFile& file, const LaneTails& tails) {
  has_read_ = true;
  its_.delivery.set_replaying(true);  // a record may have come after expect()
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

void RingReplay::finish_file(const CellFile& file, const LaneTails& tails) {
  // First: what is counted twice would be too much, and what is not yet is counted later.
  its_.cell_files.hide_tails();
  its_.progress.book_rings(file, tails);
  rest_.clear();
  has_read_ = false;
}

void RingReplay::let_others_send() {
  its_.delivery.set_replaying(false);
  others_wait_until_ = Time(0);
}

// The threads' own samples follow when all records are sent, or none of them could be sent for
// long: a slow machine takes seconds for a full ring, and would mix up the order.
void RingReplay::send(Time now) {
  ThreadBuffer* const buffer = its_.delivery.replay_buffer();
  if (!its_.delivery.is_replaying() && !buffer) return;
  if (buffer) {
    const MutexLock lock(buffer->mutex());
    its_.delivery.drain(*buffer, 1);
    if (buffer->held() == 0) buffer->rewind();
  }
  const std::uint64_t held = buffer ? buffer->held() : 0;
  if (!its_.cell_files.has_retired() && held == 0) {
    let_others_send();
    its_.delivery.set_replay_buffer(nullptr);
    if (buffer) its_.buffers.give_back(*buffer);
  } else if (!its_.link.connected()) {
    others_wait_until_ = Time(0);
  } else if (const std::uint64_t sent = its_.progress.returned() - held;
             others_wait_until_.count() == 0 || sent != sent_then_) {
    others_wait_until_ = now + kOthersWaitMax;
    sent_then_ = sent;
  } else if (now >= others_wait_until_) {
    let_others_send();
  }
}

void RingReplay::reset_in_child() {
  rest_.clear();
  has_read_ = false;
  others_wait_until_ = Time(0);
}

}  // namespace tallyfs
