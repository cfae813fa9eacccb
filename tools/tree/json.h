// JSON as it was read: each number is the text that stood there, so none of any length is rounded.
//
// Boost.JSON parses; its document would make doubles of numbers beyond 64 bits, so only its parser
// is used. This room, not tools/display, reads: what is drawn has no need of a parser.
// Values, confined to their owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"

namespace tallyfs {

// The keys of an object, in their order. Objects of one text that have the same keys share them:
// they die with the last of these, and a key that is added is added to a copy.
class JsonKeys {
 public:
  JsonKeys() = default;
  explicit JsonKeys(std::vector<std::string> keys)
      : keys_(std::make_shared<std::vector<std::string>>(std::move(keys))) {}

  std::size_t size() const { return keys_ ? keys_->size() : 0; }
  const std::string& operator[](std::size_t i) const { return (*keys_)[i]; }
  const std::string* begin() const { return keys_ ? keys_->data() : nullptr; }
  const std::string* end() const { return begin() + size(); }
  void emplace_back(std::string_view key);

 private:
  std::shared_ptr<std::vector<std::string>> keys_;
};

struct Json {
  enum class Kind : std::uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  std::string text{};         // of a bool, a number, a string
  std::vector<Json> items{};  // of an array, an object
  JsonKeys keys{};            // of an object, as many as items

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
