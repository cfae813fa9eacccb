// Takes traced records of one CPU out: as records, and as pages of the kernel's ring buffer.
#include <algorithm>
#include <cstring>

#include "core/event/trace/built_in_formats.h"
#include "core/event/trace/trace_buffer.h"

namespace tallyfs {
namespace {

using Kind = TraceBuffer::Kind;
using Shown = TraceBuffer::Shown;

constexpr std::size_t kPidAt = 4;
// The kernel ends each marker so.
constexpr std::string_view kMarkerEnd("\n\0", 2);

bool is_marker(const Shown& shown) { return shown.style == TraceBuffer::Style::kMarker; }

// The bytes of the record in a page.
std::size_t page_bytes(Kind kind, const EventRecord& record, const Shown& shown) {
  if (kind == Kind::kStack) return kKernelStackCallersAt + record.stack.size_bytes();
  return record.bytes.size() + (is_marker(shown) ? kMarkerEnd.size() : 0);
}

void write_stack(char* to, const EventRecord& record) {
  const auto frames = static_cast<std::int32_t>(record.stack.size());
  std::memcpy(to, &kKernelStackId, sizeof kKernelStackId);
  std::memcpy(to + kPidAt, &record.pid, sizeof record.pid);
  std::memcpy(to + kKernelStackSizeAt, &frames, sizeof frames);
  if (frames == 0) return;
  std::memcpy(to + kKernelStackCallersAt, record.stack.data(), record.stack.size_bytes());
}

// A program's record does not have the id of its event, by which readers of pages know it.
void write_record(char* to, const EventRecord& record, const Shown& shown) {
  char* const end = std::copy(record.bytes.begin(), record.bytes.end(), to);
  if (is_marker(shown)) std::copy(kMarkerEnd.begin(), kMarkerEnd.end(), end);
  if (!shown.format || record.bytes.size() < sizeof shown.format->id) return;
  std::memcpy(to, &shown.format->id, sizeof shown.format->id);
}

}  // namespace

// False: the page has no room for the record, or the record must begin a page.
bool TraceBuffer::move_to_page(PageWriter& page, std::size_t at, const Formats& formats,
                               TaskNames& names) {
  const Head head = head_at(at);
  CpuCounts& counts = counts_of(head.cpu);
  if (head.kind == Kind::kGap) {
    if (!page.is_empty()) return false;
    counts.missing.is_at_least = true;
  } else {
    std::uint64_t frames[kStackDepthMax];
    const EventRecord record = record_at(at, frames);
    const Shown shown = formats(record.event, head.generation);
    const std::size_t bytes = page_bytes(head.kind, record, shown);
    if (bytes > PageWriter::kRecordBytesMax) {
      if (!page.is_empty()) return false;
      counts.missing.number += 1;
      counts.dropped += 1;
    } else {
      page.miss(counts.missing);
      char* const to = page.add(record.time_ns, bytes);
      if (!to) return false;
      head.kind == Kind::kStack ? write_stack(to, record) : write_record(to, record, shown);
      counts.taken += 1;
      names.note(record.pid, record.comm);
    }
  }
  mark_taken(at);
  return true;
}

void TraceBuffer::mark_taken(std::size_t at) {
  Head head = head_at(at);
  head.taken = true;
  std::memcpy(bytes_.data() + at, &head, sizeof head);
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
    if (is_its && !take(place.at)) break;
    place.at += sizeof(Head) + head.bytes;
    place.number += 1;
  }
  by_cpu_[cpu].next = place;
  drop_taken();
}

TraceBuffer TraceBuffer::take(std::size_t bytes_max, std::uint32_t cpu) {
  TraceBuffer taken(std::max(4 * bytes_max, 8 * kRecordMax));
  if (!has_records(cpu)) return taken;
  std::size_t bytes = 0;
  take_each(cpu, [&](std::size_t at) {
    const Head head = head_at(at);
    bytes += sizeof(Head) + head.bytes;
    if (bytes > bytes_max && taken.count_ > 0) return false;
    std::uint64_t frames[kStackDepthMax];
    taken.add(head.kind, record_at(at, frames), head.generation);
    if (head.kind != Kind::kGap) counts_of(cpu).taken += 1;
    mark_taken(at);
    return true;
  });
  return taken;
}

std::string TraceBuffer::take_page(std::uint32_t cpu, const Formats& formats, TaskNames& names) {
  if (!has_records(cpu)) return {};
  PageWriter page;
  take_each(cpu, [&](std::size_t at) { return move_to_page(page, at, formats, names); });
  if (page.is_empty()) return {};
  counts_of(cpu).missing = {};
  return page.finish();
}

}  // namespace tallyfs
