#include "feeders/client/lane_progress.h"

#include <algorithm>
#include <utility>

namespace tallyfs {

LaneProgress::InRings LaneProgress::in_rings() const {
  InRings all{.sent = 0, .confirmed = read_earlier_.load()};
  std::size_t buffers = 0;
  const LaneTails* const tails = files_.tails();
  buffers_.for_each([&](const ThreadBuffer& buffer) {
    if (tails) all.confirmed += tails->tails[buffers].samples.load(std::memory_order_relaxed);
    all.sent += buffer.in_ring();
    buffers += 1;
  });
  all.sent -= std::min(all.sent, returned_.load());
  all.confirmed = std::min(all.confirmed, all.sent);
  return all;
}

LaneProgress::RingHeads LaneProgress::ring_heads() const {
  RingHeads rings{.generation = files_.generation(), .heads = {}};
  if (rings.generation == 0 || !files_.tails()) return rings;
  const CellFile& file = *files_.current();
  for (std::size_t i = 0; i < file.entries(); ++i) {
    rings.heads.push_back(file.entry(i).head.load(std::memory_order_acquire));
  }
  return rings;
}

// True for rings of another daemon: their records are sent over the socket.
bool LaneProgress::are_read(const RingHeads& rings) const {
  const LaneTails* const tails = files_.tails();
  if (!tails || rings.generation != files_.generation()) return true;
  for (std::size_t i = 0; i < rings.heads.size(); ++i) {
    const std::uint64_t tail = tails->tails[i].position.load(std::memory_order_acquire);
    if (static_cast<std::int64_t>(rings.heads[i] - tail) > 0) return false;
  }
  return true;
}

void LaneProgress::book_rings(const CellFile& file, const LaneTails& tails) {
  for (std::size_t i = 0; i < file.entries(); ++i) {
    read_earlier_ += tails.tails[i].samples.load(std::memory_order_relaxed);
  }
}

void LaneProgress::end_daemon(CellsEnd end) {
  if (cells_end_ != CellsEnd::kUnread) cells_end_ = end;
}

std::uint64_t LaneProgress::book_cells() {
  if (cells_end_ == CellsEnd::kNone || files_.has_retired()) return 0;
  const std::uint64_t counted = buffers_.counted_in_cells();
  const std::uint64_t more = counted - std::exchange(counted_for_earlier_, counted);
  if (std::exchange(cells_end_, CellsEnd::kNone) == CellsEnd::kRead) return 0;
  lost_in_cells_ += more;
  return more;
}

void LaneProgress::reset_in_child() {
  read_earlier_ = returned_ = lost_in_cells_ = counted_for_earlier_ = 0;
  cells_end_ = CellsEnd::kNone;
}

}  // namespace tallyfs
