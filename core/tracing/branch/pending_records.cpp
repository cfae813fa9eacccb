#include "core/tracing/branch/pending_records.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>

namespace tallyfs::tracing {
namespace {

// Entries that were popped are kept until there are this many.
constexpr std::size_t kGoneMax = 1024;
// The entries that an empty row keeps memory for.
constexpr std::size_t kEntriesKept = 16 * kGoneMax;
// The number of empty chunks that are kept.
constexpr std::size_t kFreeMax = 16;
// The length to which a name is cut; no name is longer than the kernel's 16.
constexpr std::size_t kNameMax = 256;

}  // namespace

// The front of the heap is the first entry of all.
bool PendingRecords::Heap::is_behind(const Entry& a, const Entry& b) { return b.is_before(a); }

void PendingRecords::Heap::put(const Entry& entry) {
  entries_.push_back(entry);
  std::ranges::push_heap(entries_, is_behind);
}

void PendingRecords::Heap::pop() {
  std::ranges::pop_heap(entries_, is_behind);
  entries_.pop_back();
  if (is_empty() && entries_.capacity() > kEntriesKept) entries_.shrink_to_fit();
}

template <typename Goes>
std::size_t PendingRecords::Heap::erase_if(const Goes& goes) {
  const std::size_t gone = std::erase_if(entries_, goes);
  std::ranges::make_heap(entries_, is_behind);
  return gone;
}

void PendingRecords::Row::pop() {
  next_ += 1;
  const bool all = is_empty();
  if (!all && (next_ < kGoneMax || 2 * next_ < entries_.size())) return;
  entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(next_));
  next_ = 0;
  if (all && entries_.capacity() > kEntriesKept) entries_.shrink_to_fit();
}

template <typename Goes>
std::size_t PendingRecords::Row::erase_if(const Goes& goes) {
  const auto first = entries_.begin() + static_cast<std::ptrdiff_t>(next_);
  const auto stay = std::remove_if(first, entries_.end(), goes);
  const auto gone = static_cast<std::size_t>(entries_.end() - stay);
  entries_.erase(stay, entries_.end());
  return gone;
}

// The row of the source that ends last before this record; else an empty row.
PendingRecords::Row* PendingRecords::row_for(const EventSource* source, std::uint64_t time_ns) {
  Row* best = nullptr;
  Row* empty = nullptr;
  for (Row& row : rows_) {
    if (row.is_empty()) {
      if (!empty || row.source() == source) empty = &row;
      continue;
    }
    if (row.source() != source || row.back().time_ns > time_ns) continue;
    if (!best || best->back().time_ns < row.back().time_ns) best = &row;
  }
  if (best) return best;
  if (!empty && rows_.size() < kRowsMax) empty = &rows_.emplace_back(source);
  if (empty) empty->begin(source);
  return empty;
}

void PendingRecords::put(const Pending& pending) {
  const Entry entry = store(pending);
  count_ += 1;
  if (Row* const row = row_for(pending.source, entry.time_ns)) {
    row->put(entry);
    first_ = nullptr;
  } else {
    heap_.put(entry);
  }
}

PendingRecords::Row* PendingRecords::first_row() {
  const bool still_first =
      first_ && !first_->is_empty() && (!second_ || first_->front().is_before(*second_));
  if (!still_first) {
    first_ = nullptr;
    second_.reset();
    for (Row& row : rows_) {
      if (row.is_empty()) continue;
      const bool is_first = !first_ || row.front().is_before(first_->front());
      const Row* const other = is_first ? first_ : &row;
      if (other && (!second_ || other->front().is_before(*second_))) second_ = other->front();
      if (is_first) first_ = &row;
    }
  }
  return first_;
}

bool PendingRecords::is_heap_first(const Row* row) const {
  return !heap_.is_empty() && (!row || heap_.front().is_before(row->front()));
}

const PendingRecords::Pending* PendingRecords::front(std::uint64_t until_ns) {
  const Row* const row = first_row();
  const bool of_heap = is_heap_first(row);
  if (!of_heap && !row) return nullptr;
  const Entry& first = of_heap ? heap_.front() : row->front();
  if (first.time_ns > until_ns) return nullptr;
  show(first);
  return &shown_;
}

void PendingRecords::pop() {
  Row* const row = first_row();
  const bool of_heap = is_heap_first(row);
  const std::uint32_t chunk = (of_heap ? heap_.front() : row->front()).chunk;
  if (of_heap) {
    heap_.pop();
  } else {
    row->pop();
  }
  count_ -= 1;
  let_go(chunk);
}

std::uint64_t PendingRecords::first_ns() const {
  std::uint64_t first_ns = std::numeric_limits<std::uint64_t>::max();
  if (!heap_.is_empty()) first_ns = heap_.front().time_ns;
  for (const Row& row : rows_) {
    if (!row.is_empty()) first_ns = std::min(first_ns, row.front().time_ns);
  }
  return first_ns;
}

std::uint32_t PendingRecords::chunk_with(std::size_t bytes) {
  if (filling_ != kNoChunk) {
    Chunk& chunk = chunks_[filling_];
    if (chunk.filled + bytes <= chunk.size) return filling_;
    if (chunk.records == 0) give_back(filling_);
  }
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(chunks_.size()));
    chunks_.emplace_back();
  }
  filling_ = free_.back();
  free_.pop_back();
  Chunk& chunk = chunks_[filling_];
  if (chunk.size < bytes) {
    chunk.size = std::max(kChunkBytes, bytes);
    chunk.bytes = std::make_unique_for_overwrite<char[]>(chunk.size);
  }
  chunk_bytes_ += chunk.size;
  return filling_;
}

// A few chunks of the usual size stay, to be filled again.
void PendingRecords::give_back(std::uint32_t number) {
  Chunk& chunk = chunks_[number];
  chunk_bytes_ -= chunk.size;
  if (chunk.size > kChunkBytes || free_.size() >= kFreeMax) chunk = {};
  free_.push_back(number);
}

PendingRecords::Entry PendingRecords::store(const Pending& pending) {
  const EventRecord& record = pending.record;
  const Head head{.source = pending.source,
                  .marked = pending.marked,
                  .time_ns = record.time_ns,
                  .use = pending.use,
                  .event = record.event,
                  .cpu = record.cpu,
                  .pid = record.pid,
                  .record_bytes = static_cast<std::uint32_t>(record.bytes.size()),
                  .comm_bytes = static_cast<std::uint16_t>(std::min(record.comm.size(), kNameMax)),
                  .frames = static_cast<std::uint16_t>(
                      std::min<std::size_t>(record.stack.size(), kStackDepthMax))};
  const std::size_t frame_bytes = head.frames * sizeof(std::uint64_t);
  const std::size_t bytes = sizeof head + frame_bytes + head.record_bytes + head.comm_bytes;
  const std::uint32_t number = chunk_with(bytes);
  Chunk& chunk = chunks_[number];
  const Entry entry{.time_ns = record.time_ns,
                    .serial = ++serial_,
                    .chunk = number,
                    .offset = static_cast<std::uint32_t>(chunk.filled)};
  char* at = chunk.bytes.get() + chunk.filled;
  const auto append = [&at](const void* from, std::size_t size) {
    if (size > 0) std::memcpy(at, from, size);
    at += size;
  };
  append(&head, sizeof head);
  append(record.stack.data(), frame_bytes);
  append(record.bytes.data(), head.record_bytes);
  append(record.comm.data(), head.comm_bytes);
  chunk.filled += bytes;
  chunk.records += 1;
  return entry;
}

void PendingRecords::let_go(std::uint32_t number) {
  Chunk& chunk = chunks_[number];
  chunk.records -= 1;
  if (chunk.records > 0) return;
  chunk.filled = 0;
  if (number != filling_) give_back(number);
}

PendingRecords::Head PendingRecords::head_at(const Entry& entry) const {
  return read_raw<Head>(chunks_[entry.chunk].bytes.get() + entry.offset);
}

void PendingRecords::show(const Entry& entry) {
  const Head head = head_at(entry);
  const char* const stack = chunks_[entry.chunk].bytes.get() + entry.offset + sizeof head;
  const std::size_t frame_bytes = head.frames * sizeof(std::uint64_t);
  if (frame_bytes > 0) std::memcpy(frames_.data(), stack, frame_bytes);
  const char* const bytes = stack + frame_bytes;
  shown_ = {.source = head.source,
            .use = head.use,
            .marked = head.marked,
            .record = {.event = head.event,
                       .time_ns = head.time_ns,
                       .cpu = head.cpu,
                       .pid = head.pid,
                       .bytes = {bytes, head.record_bytes},
                       .comm = {bytes + head.record_bytes, head.comm_bytes},
                       .stack = std::span(frames_).first(head.frames)}};
}

void PendingRecords::drop_markers(const TracingInstance& instance) {
  const auto goes = [&](const Entry& entry) {
    const bool is_its = head_at(entry).marked == &instance;
    if (is_its) let_go(entry.chunk);
    return is_its;
  };
  for (Row& row : rows_) count_ -= row.erase_if(goes);
  count_ -= heap_.erase_if(goes);
  first_ = nullptr;
}

}  // namespace tallyfs::tracing
