#include "core/tracing/trace/trace_buffer.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tallyfs::tracing {

void TraceBuffer::drop_oldest() {
  const Head head = head_at(first_);
  if (head.bytes == 0) {
    first_ = 0;
    return;
  }
  first_ += sizeof(Head) + head.bytes;
  first_number_ += 1;
  count_ -= 1;
  if (head.taken) {
    taken_ -= 1;
    return;
  }
  CpuCounts& counts = counts_of(head.cpu);
  if (head.kind == Kind::kGap) {
    counts.missing.is_at_least = true;
    return;
  }
  overwritten_ += 1;
  counts.entries -= 1;
  counts.overwritten += 1;
  counts.missing.number += 1;
}

// The room of records that were taken is free once no older record has any.
void TraceBuffer::drop_taken() {
  while (count_ > 0) {
    const Head head = head_at(first_);
    if (head.bytes != 0 && !head.taken) return;
    drop_oldest();
  }
}

TraceBuffer::CpuCounts& TraceBuffer::counts_of(std::uint32_t cpu) {
  const std::uint32_t at = std::min(cpu, kCpusMax - 1);
  if (at >= by_cpu_.size()) by_cpu_.resize(at + std::size_t{1});
  return by_cpu_[at];
}

// The number is one that no record has had, so that no place is taken for one in the empty buffer.
void TraceBuffer::restart_at(std::size_t place) {
  first_ = end_ = place;
  first_number_ += 1;
}

bool TraceBuffer::has_room(std::size_t bytes) const {
  if (count_ == 0) return true;
  const bool turned = first_ >= end_;
  const bool fits_behind = end_ + bytes + sizeof(Head) <= bytes_.size();
  if (turned) return fits_behind && first_ > end_ + bytes;
  return fits_behind || first_ > bytes;
}

// The ring never fills up to the last byte, so that first_ == end_ means that it is empty.
void TraceBuffer::make_room(std::size_t bytes) {
  if (bytes_.empty()) bytes_.resize(bytes_max_);
  if (count_ == 0) restart_at(0);
  if (end_ + bytes + sizeof(Head) > bytes_.size()) {
    while (count_ > 0 && first_ >= end_) drop_oldest();
    std::memset(bytes_.data() + end_, 0, std::min(sizeof(Head), bytes_.size() - end_));
    turn_ = end_;
    end_ = 0;
    if (count_ == 0) restart_at(0);
  }
  while (count_ > 0 && first_ >= end_ && first_ <= end_ + bytes) drop_oldest();
  if (count_ == 0) restart_at(end_);
}

void TraceBuffer::add(Kind kind, const EventRecord& record, std::uint32_t generation) {
  const std::string_view payload = kind == Kind::kRecord ? record.bytes : std::string_view();
  const std::size_t frames = kind == Kind::kStack || !record.stack.empty()
                                 ? std::min<std::size_t>(record.stack.size(), kStackDepthMax)
                                 : 0;
  const std::size_t comm_bytes = std::min<std::size_t>(record.comm.size(), 16);
  const std::size_t bytes = (payload.size() + comm_bytes + frames * 8 + 7) / 8 * 8 + 8;
  if (payload.size() > kRecordMax || 4 * (bytes + sizeof(Head)) > bytes_max_) {
    overwritten_ += 1;
    return;
  }
  if (!overwrites_ && !has_room(bytes + sizeof(Head))) {
    if (kind != Kind::kGap) counts_of(record.cpu).dropped += 1;
    return;
  }
  make_room(bytes + sizeof(Head));
  const Head head{.bytes = static_cast<std::uint32_t>(bytes),
                  .generation = generation,
                  .event = record.event,
                  .cpu = record.cpu,
                  .time_ns = record.time_ns,
                  .pid = record.pid,
                  .record_bytes = static_cast<std::uint32_t>(payload.size()),
                  .comm_bytes = static_cast<std::uint32_t>(comm_bytes),
                  .frames = static_cast<std::uint16_t>(frames),
                  .kind = kind,
                  .taken = false};
  char* at = bytes_.data() + end_;
  std::memcpy(at, &head, sizeof head);
  at += sizeof head;
  if (frames > 0) std::memcpy(at, record.stack.data(), frames * 8);
  at = std::copy(payload.begin(), payload.end(), at + frames * 8);
  std::copy_n(record.comm.begin(), comm_bytes, at);
  end_ += sizeof head + bytes;
  count_ += 1;
  if (kind != Kind::kGap) counts_of(record.cpu).entries += 1;
}

void TraceBuffer::clear() {
  first_ = end_ = 0;
  count_ = taken_ = 0;
  by_cpu_.clear();
}

std::size_t TraceBuffer::kept_bytes() const {
  if (count_ == 0) return 0;
  return first_ < end_ ? end_ - first_ : turn_ - first_ + end_;
}

TraceBuffer TraceBuffer::copy() const {
  TraceBuffer other(bytes_max_);
  const auto at = [this](std::size_t place) {
    return bytes_.begin() + static_cast<std::ptrdiff_t>(place);
  };
  const bool turned = count_ > 0 && first_ >= end_;
  other.bytes_.reserve(kept_bytes());
  if (turned) other.bytes_.assign(at(first_), at(turn_));
  if (count_ > 0) other.bytes_.insert(other.bytes_.end(), at(turned ? 0 : first_), at(end_));
  other.end_ = other.bytes_.size();
  other.count_ = count_;
  other.taken_ = taken_;
  other.overwritten_ = overwritten_;
  other.by_cpu_ = by_cpu_;
  return other;
}

void TraceBuffer::append(const TraceBuffer& from, std::size_t at) {
  const Head head = from.head_at(at);
  const auto begin = from.bytes_.begin() + static_cast<std::ptrdiff_t>(at);
  bytes_.insert(bytes_.end(), begin,
                begin + static_cast<std::ptrdiff_t>(sizeof(Head) + head.bytes));
  end_ = bytes_.size();
  count_ += 1;
}

// The records are copied one by one: the part that is taken at once is short.
TraceBuffer TraceBuffer::take(std::size_t bytes_max) {
  TraceBuffer taken(bytes_max);
  while (count_ > 0) {
    const Head head = head_at(first_);
    if (head.bytes == 0) {
      first_ = 0;
      continue;
    }
    if (head.taken) {
      drop_oldest();
      continue;
    }
    const std::size_t bytes = taken.bytes_.size() + sizeof(Head) + head.bytes;
    if (bytes > bytes_max && taken.count_ > 0) break;
    taken.append(*this, first_);
    first_ += sizeof(Head) + head.bytes;
    first_number_ += 1;
    count_ -= 1;
    if (head.kind == Kind::kGap) continue;
    CpuCounts& counts = counts_of(head.cpu);
    counts.entries -= 1;
    counts.taken += 1;
  }
  return taken;
}

void TraceBuffer::resize(std::size_t bytes_max) {
  rebuild(bytes_max, [](const EventRecord&) { return true; });
}

void TraceBuffer::clear(std::uint32_t cpu) {
  rebuild(bytes_max_, [cpu](const EventRecord& record) { return record.cpu != cpu; });
  counts_of(cpu) = {};
}

template <typename Stays>
void TraceBuffer::rebuild(std::size_t bytes_max, const Stays& stays) {
  TraceBuffer other(bytes_max);
  other.overwritten_ = overwritten_;
  other.overwrites_ = overwrites_;
  other.by_cpu_ = by_cpu_;
  for (CpuCounts& each : other.by_cpu_) {
    each.entries = 0;
    each.next = {};
  }
  each([&](Kind kind, const EventRecord& record, std::uint32_t generation) {
    if (stays(record)) other.add(kind, record, generation);
  });
  *this = std::move(other);
}

std::vector<std::pair<EventNumber, std::uint32_t>> TraceBuffer::events() const {
  std::vector<std::pair<EventNumber, std::uint32_t>> found;
  each([&](Kind kind, const EventRecord& record, std::uint32_t generation) {
    if (kind == Kind::kGap) return;
    const std::pair event(record.event, generation);
    const auto place = std::ranges::lower_bound(found, event);
    if (place == found.end() || *place != event) found.insert(place, event);
  });
  return found;
}

}  // namespace tallyfs::tracing
