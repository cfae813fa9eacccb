// The self-description of trace records, in the text form that tracefs has in
// events/SYSTEM/EVENT/format. Parsing takes a text and needs no kernel. The offsets of fields
// differ between kernels, so no offset is hard-coded here.
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

namespace tallyfs::tracing {

inline constexpr std::size_t kFormatBytesMax = 64 * 1024;
inline constexpr std::size_t kFormatFieldsMax = 256;

// The contents of a field, as far as keys, values and filters distinguish them.
enum class FieldKind {
  kNumber,    // 1, 2, 4 or 8 bytes
  kText,      // char[N], ended by a NUL or by its size
  kLocated,   // __data_loc char[]: u32, the place in its lower half, the length in its upper half
  kRelative,  // __rel_loc char[]: the same, counted from the end of the field
  kTail,      // char[] of size 0, up to the end of the record
  kStack,     // __data_loc [unsigned] long[]: addresses
  kOther,     // arrays of numbers, and other types that cannot be compared
};

struct TraceField {
  std::string name;  // without the brackets of an array
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  bool is_signed = false;
  std::string type = {};  // as declared, the brackets behind it: `char[16]`, `__data_loc char[]`

  std::uint32_t end() const { return offset + size; }
  FieldKind kind() const;
  bool is_text() const;
  // The size of an element of an array of numbers, and the number of its elements; for other fields
  // 1, and the size of the field. 0 elements: each record gives the number.
  std::uint32_t element_bytes() const;
  std::uint32_t elements() const;
};

struct EventFormat {
  std::string name;
  std::uint16_t id = 0;
  std::vector<TraceField> fields;

  // The bytes that every record of the event has.
  std::uint32_t fixed_bytes() const;

  // kNotFound: the event of this kernel has no such field.
  Result<TraceField> field(std::string_view name) const;
};

// Parses lines `field:TYPE NAME; offset:N; size:N; signed:N;`, up to `print fmt:`; other lines are
// skipped. kInvalid, with the reason.
Result<std::vector<TraceField>> parse_fields(std::string_view text);

// kInvalid, with the reason: the text is no such description, or contradicts itself. Unknown lines
// are skipped: a later kernel may have more of them.
Result<EventFormat> parse_event_format(std::string_view text);

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

}  // namespace tallyfs::tracing
