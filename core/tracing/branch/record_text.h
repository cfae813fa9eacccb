// Makes a record of a user's event from the text of its fields: `lat=7 comm="two words"
// stack=0x1,0x2`. Pure. Fields that are not named are 0 or empty; numbers are decimal, or
// hexadecimal after 0x.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/tracing/format/synthetic.h"

namespace tallyfs::tracing {

// The record is laid out as the event's format says, without the common fields in the first 8 bytes
// of a record. kInvalid: an unknown field, a field that is named twice, or a value that does not
// fit its field; token_at is an offset into text.
Result<std::string> record_from_text(const FieldsDefinition& fields, std::string_view text);

}  // namespace tallyfs::tracing
