// What enabled events left behind, for the files trace and snapshot: whole records, the oldest of
// which give way. Rendered generically, `field=value`: a kernel event's own print format is a
// program, which nobody here runs.
//
// Confined to the EventSet's lock. Holds at most bytes_max bytes, records of at most kRecordMax.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/event/format.h"
#include "core/event/record.h"
#include "core/event/symbols.h"

namespace tally {

class TraceBuffer {
 public:
  static constexpr std::size_t kRecordMax = 64 * 1024;

  explicit TraceBuffer(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // kind: the record itself, or only the stack that a stacktrace trigger asked for. generation
  // tells a number's event from those that had the number before.
  enum class Kind : std::uint8_t { kRecord, kStack };
  void add(Kind kind, const EventRecord& record, std::uint32_t generation);
  void clear();

  // How a record is shown: `name: field=value`, or as what a program wrote into trace_marker.
  enum class Style : std::uint8_t { kFields, kMarker };
  struct Shown {
    const EventFormat* format = nullptr;  // nullptr: the event is gone
    Style style = Style::kFields;
  };
  // Of the event of that number and generation.
  using Formats = std::function<Shown(EventNumber, std::uint32_t)>;
  std::string render(const Formats& formats, const Symbols& symbols) const;

  // Number and generation of the events in it, each once.
  std::vector<std::pair<EventNumber, std::uint32_t>> events() const;

  std::uint64_t overwritten() const { return overwritten_; }

 private:
  struct Head {
    std::uint32_t bytes;  // of all that follows, padded to 8; 0: go on at the start
    std::uint32_t generation;
    EventNumber event;
    std::uint32_t cpu;
    std::uint64_t time_ns;
    std::int32_t pid;
    std::uint32_t record_bytes;
    std::uint32_t comm_bytes;
    std::uint16_t frames;
    Kind kind;
  };

  void make_room(std::size_t bytes);
  void drop_oldest();
  Head head_at(std::size_t at) const;

  std::size_t bytes_max_;
  std::vector<char> bytes_;  // grows up to bytes_max_, then is a ring
  std::size_t first_ = 0;    // the oldest record
  std::size_t end_ = 0;      // where the next one goes
  std::uint64_t count_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t overwritten_ = 0;
};

}  // namespace tally
