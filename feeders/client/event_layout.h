// The fields of a user's event: the place of each in the program's structure, and in a record on
// the wire (core/wire/FORMAT.md, kind 11). Immutable once made. At most kFieldsMax fields.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/field_grammar.h"

namespace tallyfs {

class EventLayout {
 public:
  static constexpr std::size_t kFieldsMax = 64;
  // The longest text of a `char[]`; the rest is cut off.
  static constexpr std::size_t kTextMax = 1'024;
  // The bytes of a record before its first field.
  static constexpr std::size_t kCommonBytes = 8;

  // `u64 lat; pid_t pid; char comm[16]`: core/model/field_grammar.h, without stacks. kInvalid.
  static Result<EventLayout> parse(std::string_view fields);

  // The size of the program's structure.
  std::size_t struct_bytes() const { return struct_bytes_; }
  // The fields of a record, from its byte 8 on.
  void append(std::string& record, const void* structure) const;

 private:
  enum class Kind : std::uint8_t { kBytes, kText };
  struct Field {
    Kind kind = Kind::kBytes;
    std::uint32_t bytes = 0;
    std::uint32_t struct_at = 0;
    std::uint32_t record_at = 0;  // from byte 8 on
  };

  Result<void> add(const ParsedField& field);
  void place(Kind kind, std::uint32_t bytes, std::uint32_t alignment, std::uint32_t record_bytes);

  std::vector<Field> fields_;
  std::uint32_t struct_bytes_ = 0;
  std::uint32_t struct_alignment_ = 1;
  std::uint32_t record_bytes_ = 0;
};

}  // namespace tallyfs
