// Takes traced records of one CPU out: as records, and as pages of the kernel's ring buffer.
#include <cstddef>
#include <cstring>

#include "core/tracing/trace/page_copy.h"
#include "core/tracing/trace/trace_buffer.h"

namespace tallyfs::tracing {

// False: the page has no room for the record, or the record must begin a page.
bool TraceBuffer::move_to_page(PageCopy& page, std::size_t at, const Head& head,
                               const Formats& formats, TaskNames& names) {
  CpuCounts& counts = counts_of(head.cpu);
  if (head.kind == Kind::kGap) {
    if (!page.is_empty()) return false;
    counts.missing.is_at_least = true;
    return true;
  }
  std::uint64_t frames[kStackDepthMax];
  const EventRecord record = record_of(at, head, frames);
  const auto added =
      page.add(head.kind, record, formats(record.event, head.generation), counts.missing);
  if (added == PageCopy::Added::kTooLarge && page.is_empty()) {
    counts.missing.number += 1;
    counts.dropped += 1;
    return true;
  }
  if (added != PageCopy::Added::kYes) return false;
  counts.taken += 1;
  names.note(record.pid, record.comm);
  return true;
}

void TraceBuffer::mark_taken(std::size_t at, const Head& head) {
  constexpr bool kTaken = true;
  std::memcpy(bytes_.data() + at + offsetof(Head, taken), &kTaken, sizeof kTaken);
  taken_ += 1;
  if (head.kind != Kind::kGap) counts_of(head.cpu).entries -= 1;
}

bool TraceBuffer::has_records(std::uint32_t cpu) const {
  return cpu < by_cpu_.size() && by_cpu_[cpu].entries > 0;
}

template <typename Take>
void TraceBuffer::take_each(std::uint32_t cpu, const Take& take) {
  Place place = by_cpu_[cpu].next;
  if (place.number < first_number_) place = {.number = first_number_, .at = first_};
  while (place.number < first_number_ + count_) {
    const Head head = head_at(place.at);
    if (head.bytes == 0) {
      place.at = 0;
      continue;
    }
    const bool is_its = !head.taken && head.cpu == cpu;
    if (is_its) {
      if (!take(place.at, head)) break;
      mark_taken(place.at, head);
    }
    place.at += sizeof(Head) + head.bytes;
    place.number += 1;
  }
  by_cpu_[cpu].next = place;
  drop_taken();
}

TraceBuffer TraceBuffer::take(std::size_t bytes_max, std::uint32_t cpu) {
  TraceBuffer taken(bytes_max);
  if (!has_records(cpu)) return taken;
  take_each(cpu, [&](std::size_t at, const Head& head) {
    const std::size_t bytes = taken.bytes_.size() + sizeof(Head) + head.bytes;
    if (bytes > bytes_max && taken.count_ > 0) return false;
    taken.append(*this, at);
    if (head.kind != Kind::kGap) counts_of(cpu).taken += 1;
    return true;
  });
  return taken;
}

void TraceBuffer::take_page(std::uint32_t cpu, PageCopy& page, const Formats& formats,
                            TaskNames& names) {
  if (!has_records(cpu)) return;
  take_each(cpu, [&](std::size_t at, const Head& head) {
    return move_to_page(page, at, head, formats, names);
  });
  if (!page.is_empty()) counts_of(cpu).missing = {};
}

}  // namespace tallyfs::tracing
