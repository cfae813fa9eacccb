// Traced records on their way from one server to the next.
#include <algorithm>
#include <tuple>

#include "core/tracing/trace/trace_buffer.h"

namespace tallyfs::tracing {
namespace {

constexpr std::size_t kCommBytesMax = 16;
// Sums of the counts of all CPUs fit. At ten million records a second it takes three years.
constexpr std::uint64_t kCountMax = std::uint64_t{1} << 50;

std::uint64_t get_count(ByteReader& in) { return std::min(in.get<std::uint64_t>(), kCountMax); }

}  // namespace

void TraceBuffer::save(ByteWriter& out) const {
  out.put(overwritten_);
  out.put(static_cast<std::uint32_t>(by_cpu_.size()));
  for (const CpuCounts& each : by_cpu_) {
    for (const std::uint64_t count : {each.overwritten, each.taken, each.dropped}) out.put(count);
    out.put(each.missing.number);
    out.put(static_cast<std::uint8_t>(each.missing.is_at_least));
  }
  out.put(count_ - taken_);
  each([&](Kind kind, const EventRecord& record, std::uint32_t generation) {
    out.put(static_cast<std::uint8_t>(kind));
    out.put(record.event);
    out.put(generation);
    out.put(record.time_ns);
    out.put(record.cpu);
    out.put(record.pid);
    out.put_text(record.bytes);
    out.put_text(record.comm);
    out.put(static_cast<std::uint16_t>(record.stack.size()));
    for (const std::uint64_t frame : record.stack) out.put(frame);
  });
}

void TraceBuffer::load_record(ByteReader& in, const EventOf& event_of) {
  const auto kind = in.get<std::uint8_t>();
  EventRecord record;
  record.event = in.get<EventNumber>();
  auto generation = in.get<std::uint32_t>();
  record.time_ns = in.get<std::uint64_t>();
  record.cpu = in.get<std::uint32_t>();
  record.pid = in.get<std::int32_t>();
  record.bytes = in.get_text();
  record.comm = in.get_text();
  const auto depth = in.get<std::uint16_t>();
  std::uint64_t frames[kStackDepthMax] = {};
  const bool is_possible = kind <= static_cast<std::uint8_t>(Kind::kGap) &&
                           record.comm.size() <= kCommBytesMax && depth <= kStackDepthMax;
  if (!is_possible) in.fail();
  for (std::size_t i = 0; i < depth && in.ok(); ++i) frames[i] = in.get<std::uint64_t>();
  if (!in.ok()) return;
  record.stack = {frames, depth};
  if (kind != static_cast<std::uint8_t>(Kind::kGap)) {
    std::tie(record.event, generation) = event_of(record.event, generation);
  }
  add(static_cast<Kind>(kind), record, generation);
}

bool TraceBuffer::load(ByteReader& in, const EventOf& event_of) {
  const std::uint64_t overwritten = get_count(in);
  const auto cpus = in.get<std::uint32_t>();
  if (cpus > kCpusMax) in.fail();
  std::vector<CpuCounts> saved;
  for (std::uint32_t cpu = 0; cpu < cpus && in.ok(); ++cpu) {
    CpuCounts& counts = saved.emplace_back();
    for (std::uint64_t* const count : {&counts.overwritten, &counts.taken, &counts.dropped}) {
      *count = get_count(in);
    }
    counts.missing.number = get_count(in);
    counts.missing.is_at_least = in.get_flag();
  }
  for (auto left = in.get<std::uint64_t>(); left != 0 && in.ok(); --left) {
    load_record(in, event_of);
  }
  // Records without room here count as overwritten.
  overwritten_ += overwritten;
  for (std::uint32_t cpu = 0; cpu < saved.size(); ++cpu) {
    CpuCounts& counts = counts_of(cpu);
    counts.overwritten += saved[cpu].overwritten;
    counts.taken += saved[cpu].taken;
    counts.dropped += saved[cpu].dropped;
    counts.missing.number += saved[cpu].missing.number;
    counts.missing.is_at_least |= saved[cpu].missing.is_at_least;
  }
  return in.ok();
}

}  // namespace tallyfs::tracing
