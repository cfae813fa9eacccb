// Events that are defined by their fields: `lat u64 lat; pid_t pid; char comm[16]` (TRIGGERS.md,
// core/model/field_grammar.h), and the layout of their records. Triggers and user programs both
// define such events. Values, without threads. At most kFieldsMax fields, texts of kTextBytesMax
// bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/field_grammar.h"
#include "core/tracing/command/faults.h"
#include "core/tracing/format/format.h"

namespace tallyfs::tracing {

struct FieldsDefinition {
  static constexpr std::size_t kFieldsMax = 64;

  struct Field {
    std::string name;
    std::string type;  // "u64", "char[16]", "char[]", "unsigned long[]"
    std::uint32_t size = 8;
    bool is_signed = false;
    FieldKind kind = FieldKind::kNumber;
    std::uint32_t offset = 0;  // in a record

    bool operator==(const Field&) const = default;
  };
  std::string name;
  std::vector<Field> fields;
  std::uint32_t fixed_bytes = 8;  // of a record, the common fields included

  // `NAME FIELDS`. The faults have the kernel's words.
  static Checked<FieldsDefinition> parse(std::string_view text);

  // `NAME\tTYPE FIELD; TYPE FIELD`, as synthetic_events shows it, without a newline.
  std::string text() const;
  // The text of events/SYS/EVENT/format.
  std::string format_text(std::uint16_t id) const;

  bool operator==(const FieldsDefinition&) const = default;
};

}  // namespace tallyfs::tracing
