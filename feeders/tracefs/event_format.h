// The self-description of trace records, as tracefs gives it: events/SYSTEM/EVENT/format for
// events, events/header_page for the pages of the ring buffer. Fed with text, needs no kernel.
// Where a field lies differs between kernels, so nobody here knows an offset by heart.
//
// Values; may be shared once made. Texts have at most kFormatBytesMax bytes and
// kFormatFieldsMax fields, records at most 64 KiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace tally {

inline constexpr std::size_t kFormatBytesMax = 64 * 1024;
inline constexpr std::size_t kFormatFieldsMax = 256;

struct TraceField {
  std::string name;  // without the brackets of an array
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  bool is_signed = false;

  std::uint32_t end() const { return offset + size; }
};

struct EventFormat {
  std::string name;
  std::uint16_t id = 0;
  std::vector<TraceField> fields;

  // kNotFound: the event of this kernel has no such field.
  Result<TraceField> field(std::string_view name) const;
};

// kInvalid, with the reason: it is no such text, or one that contradicts itself. Lines that mean
// nothing to us are passed over: a later kernel may have more of them.
Result<EventFormat> parse_event_format(std::string_view text);

struct PageFormat {
  TraceField timestamp;
  TraceField commit;
  TraceField data;  // its size is that of a whole page without the header

  std::size_t page_bytes() const { return data.end(); }
};

// kInvalid likewise, and for a page that RingPage could not read (a commit of 2 bytes).
Result<PageFormat> parse_page_format(std::string_view text);

// A field that is one number of 1, 2, 4 or 8 bytes.
class TraceNumber {
 public:
  // kNotFound, or kInvalid if the field is no number.
  static Result<TraceNumber> find(const EventFormat& format, std::string_view name);

  // The payload must have end() bytes. A signed field is sign-extended.
  std::uint64_t read(std::span<const char> payload) const;
  std::size_t end() const { return field_.end(); }

 private:
  explicit TraceNumber(TraceField field) : field_(std::move(field)) {}
  TraceField field_;
};

}  // namespace tally
