// A record of a user's event from the text of its fields: `lat=7 comm="two words" stack=0x1,0x2`.
// Pure. Fields that are not named are 0 or empty; numbers are decimal or hexadecimal after 0x.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/event/format/synthetic.h"

namespace tallyfs {

// Laid out as the event's format says, without the common fields that stand in the first 8 bytes
// of a record. kInvalid: an unknown field, one that is named twice, a value that its field does not
// hold; token_at is an offset into text.
Result<std::string> record_from_text(const FieldsDefinition& fields, std::string_view text);

}  // namespace tallyfs
