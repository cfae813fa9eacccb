// Events on the wire (FORMAT.md, kinds 9 to 12): an event that a source offers, and records, many
// to a message, written by the source and read in place.
//
// A reader trusts nothing: it yields records that lie wholly inside their message. Confined to the
// thread that holds them; what is read views the datagram's bytes.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/model/record.h"

namespace tallyfs::wire {

enum EventKind : std::uint16_t {
  kOfferedEvent = 9,
  kSourceRecords = 10,
  kUserRecords = 11,
  kLostEvents = 12,
};

inline constexpr std::size_t kRecordBytesMax = 65'535;
inline constexpr std::size_t kRecordFramesMax = 255;
inline constexpr std::size_t kCommBytesMax = 16;

// An event of which the sender has records, if they are asked for.
struct OfferedEvent {
  std::uint32_t id = 0;  // by which the sender calls it
  std::string_view system;
  std::string_view format;  // as the kernel's file of that name
};

// The least number of records that are missing.
struct LostEvents {
  std::uint64_t records = 0;
};

class PackedEvents {
 public:
  // number: of the user's event that all records are of; nothing: each says which event of the
  // source's it is of. The records must be 8-byte aligned.
  PackedEvents(std::optional<std::uint64_t> number, std::span<const char> records)
      : number_(number), rest_(records) {}

  std::optional<std::uint64_t> number() const { return number_; }
  // The next ones, as many as scratch holds, none later than now; empty at the end.
  // EventRecord::event is the source's id, or 0.
  std::span<const EventRecord> unpack(std::span<EventRecord> scratch, std::chrono::nanoseconds now);
  // The last unpack() met bytes that are no record: what was left is not taken.
  bool broken() const { return broken_; }

 private:
  bool take(EventRecord& record, std::uint64_t now_ns);

  std::optional<std::uint64_t> number_;
  std::span<const char> rest_;
  bool broken_ = false;
};

// These parse the payload of a message.
Result<OfferedEvent> read_offered_event(std::uint16_t flags, std::string_view payload);
Result<LostEvents> read_lost_events(std::uint16_t flags, std::string_view payload);
Result<PackedEvents> read_records(EventKind kind, std::uint16_t flags,
                                  std::span<const char> payload);

// Appends the head of a message of kind 11 without records. The caller adds the bytes of each
// record that it appends to the length at byte 4.
void append_user_message(std::string& out, std::uint64_t number);

// Bytes of a record in a message.
std::size_t packed_bytes(const EventRecord& record);

// Appends a record in the form of a message. It gets the first kCommBytesMax bytes of comm and the
// first kRecordFramesMax frames of a stack. record.bytes has at most kRecordBytesMax bytes.
void append_record(std::string& out, const EventRecord& record);

}  // namespace tallyfs::wire
