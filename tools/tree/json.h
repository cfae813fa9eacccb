// JSON as it was read: each number is the text that stood there, so none of any length is rounded.
//
// Boost.JSON parses; its document would make doubles of numbers beyond 64 bits, so only its parser
// is used. This room, not tools/display, reads: what is drawn has no need of a parser.
// Values, confined to their owner.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"

namespace tallyfs {

struct Json {
  enum class Kind : std::uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  std::string text{};               // of a bool, a number, a string
  std::vector<Json> items{};        // of an array, an object
  std::vector<std::string> keys{};  // of an object, as many as items

  // Null if this is no object or has no such key.
  const Json* find(std::string_view key) const;
  // The value of that key as text, empty without it, and as a number, 0 if it is none.
  std::string_view text_of(std::string_view key) const;
  std::uint64_t number_of(std::string_view key) const;
};

// At most 32 deep. kInvalid says what is wrong.
Result<Json> parse_json(std::string_view text);

void write_json(JsonWriter& writer, const Json& json);

}  // namespace tallyfs
