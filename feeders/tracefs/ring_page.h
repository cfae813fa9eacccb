// One page of the kernel's ring buffer, as trace_pipe_raw hands it out, taken apart into events.
// Written after what the kernel says of itself in events/header_page and events/header_event.
//
// The page is trusted in nothing: every length is checked against what was read. Confined to the
// thread that holds it; the views last as long as the page's bytes.
//
// The page: a header (PageFormat): u64 time of the first event; `commit`, of which the lower
// bits are the bytes of data in use, bit 31 says that events were lost before this page, and
// bit 30 that their number stands, as wide as commit, behind the data. Then events, each of
//
//   u32: type_len in the lower 5 bits, time_delta in the upper 27
//   1..28: a record of type_len * 4 bytes follows
//   0:     u32 size, in bytes and with itself, then the record
//   29:    padding. With time_delta 0 the page ends here; else u32 size as above: a discarded event
//   30:    u32: the delta's bits 27 and up
//   31:    u32: likewise, but of a time (its lower 59 bits), not of a delta
//
// A delta counts from the event before, the first one from the page's time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/base/result.h"
#include "feeders/tracefs/page_format.h"

namespace tallyfs {

// A record, which starts with its common_type, and its time on the instance's trace_clock.
struct TraceRecord {
  std::uint64_t time_ns = 0;
  std::span<const char> payload;
};

class RingPage {
 public:
  // kInvalid: shorter than its header, or in use beyond its end.
  static Result<RingPage> open(const PageFormat& format, std::span<const char> page);

  std::optional<TraceRecord> next();

  // How many events were lost before this page; 1 if it has no room to say how many.
  std::uint64_t lost() const { return lost_; }
  // Time of the first event, before the first next(); then that of the last one.
  std::uint64_t time_ns() const { return time_ns_; }
  // The last next() met bytes that make no sense: the rest of the page is lost.
  bool broken() const { return broken_; }

 private:
  RingPage(std::uint64_t time_ns, std::span<const char> rest, std::uint64_t lost)
      : time_ns_(time_ns), rest_(rest), lost_(lost) {}

  std::optional<std::span<const char>> take(std::size_t bytes);
  std::optional<std::uint32_t> take_word();
  std::optional<TraceRecord> end_broken();
  std::optional<TraceRecord> record(std::optional<std::span<const char>> payload);

  std::uint64_t time_ns_;
  std::span<const char> rest_;
  std::uint64_t lost_;
  bool broken_ = false;
};

}  // namespace tallyfs
