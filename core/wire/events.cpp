#include "core/wire/events.h"

#include <algorithm>
#include <cstring>

#include "core/base/bytes.h"
#include "core/base/near_time.h"
#include "core/wire/padding.h"

namespace tallyfs::wire {
namespace {

// A record's fixed part, as it stands in FORMAT.md.
struct Head {
  std::uint64_t time_ns;
  std::uint32_t cpu;
  std::int32_t pid;
  std::uint32_t event;
  std::uint16_t bytes;
  std::uint8_t comm_bytes;
  std::uint8_t frames;
};
static_assert(sizeof(Head) == 24);

void append_padded(std::string& out, std::string_view bytes) {
  out.append(bytes);
  out.append(padded(bytes.size()) - bytes.size(), '\0');
}

}  // namespace

bool PackedEvents::take(EventRecord& record, std::uint64_t now_ns) {
  Head head;
  if (rest_.size() < sizeof head) return false;
  std::memcpy(&head, rest_.data(), sizeof head);
  const std::size_t comm_at = sizeof head + padded(head.bytes);
  const std::size_t stack_at = comm_at + padded(head.comm_bytes);
  const std::size_t size = stack_at + head.frames * sizeof(std::uint64_t);
  if (size > rest_.size() || head.comm_bytes > kCommBytesMax || (number_ && head.event != 0)) {
    return false;
  }
  const char* const at = rest_.data();
  record.event = head.event;
  record.time_ns = clamped_past(head.time_ns, now_ns);
  record.cpu = head.cpu;
  record.pid = head.pid;
  record.bytes = {at + sizeof head, head.bytes};
  record.comm = {at + comm_at, head.comm_bytes};
  // Aligned, since the receive buffer is and every length on the way here is a multiple of 8.
  record.stack = {reinterpret_cast<const std::uint64_t*>(at + stack_at), head.frames};
  rest_ = rest_.subspan(size);
  return true;
}

std::span<const EventRecord> PackedEvents::unpack(std::span<EventRecord> scratch,
                                                  std::chrono::nanoseconds now) {
  const auto now_ns = static_cast<std::uint64_t>(now.count());
  std::size_t taken = 0;
  while (taken < scratch.size() && !rest_.empty()) {
    if (take(scratch[taken], now_ns)) {
      ++taken;
    } else {
      broken_ = true;
      rest_ = {};
    }
  }
  return scratch.first(taken);
}

Result<OfferedEvent> read_offered_event(std::uint16_t flags, std::string_view payload) {
  ByteReader in(payload);
  OfferedEvent offered;
  offered.id = in.get<std::uint32_t>();
  offered.system = in.get_text();
  offered.format = in.get_text();
  if (flags != 0 || !in.ok() || in.left() >= 8) return invalid("malformed offer of an event");
  return offered;
}

Result<LostEvents> read_lost_events(std::uint16_t flags, std::string_view payload) {
  ByteReader in(payload);
  const LostEvents lost{in.get<std::uint64_t>()};
  if (flags != 0 || !in.ok() || in.left() != 0) return invalid("malformed message of lost events");
  return lost;
}

Result<PackedEvents> read_records(EventKind kind, std::uint16_t flags,
                                  std::span<const char> payload) {
  if (flags != 0) return invalid("records of events with unknown flags");
  if (kind == kSourceRecords) return PackedEvents(std::nullopt, payload);
  if (payload.size() < 8) return invalid("records without the number of their event");
  const auto number = ByteReader({payload.data(), payload.size()}).get<std::uint64_t>();
  return PackedEvents(number, payload.subspan(8));
}

void append_user_message(std::string& out, std::uint64_t number) {
  ByteWriter writer(out);
  writer.put(static_cast<std::uint16_t>(kUserRecords));
  writer.put(std::uint16_t{0});
  writer.put(static_cast<std::uint32_t>(sizeof number));
  writer.put(number);
}

std::size_t packed_bytes(const EventRecord& record) {
  return sizeof(Head) + padded(record.bytes.size()) +
         padded(std::min(record.comm.size(), kCommBytesMax)) +
         std::min(record.stack.size(), kRecordFramesMax) * sizeof(std::uint64_t);
}

void append_record(std::string& out, const EventRecord& record) {
  const std::string_view comm = record.comm.substr(0, kCommBytesMax);
  const auto stack = record.stack.first(std::min(record.stack.size(), kRecordFramesMax));
  const Head head{.time_ns = record.time_ns,
                  .cpu = record.cpu,
                  .pid = record.pid,
                  .event = record.event,
                  .bytes = static_cast<std::uint16_t>(record.bytes.size()),
                  .comm_bytes = static_cast<std::uint8_t>(comm.size()),
                  .frames = static_cast<std::uint8_t>(stack.size())};
  out.append(reinterpret_cast<const char*>(&head), sizeof head);
  append_padded(out, record.bytes);
  if (!comm.empty()) append_padded(out, comm);
  if (!stack.empty()) out.append(reinterpret_cast<const char*>(stack.data()), stack.size_bytes());
}

}  // namespace tallyfs::wire
