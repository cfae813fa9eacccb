// Makes a JSON object key by key, as sources of the store give them. A value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "tools/tree/json.h"

namespace tallyfs::past {

class JsonObject {
 public:
  JsonObject& text(std::string_view key, std::string value) {
    return put(key, {.kind = Json::Kind::kString, .text = std::move(value)});
  }
  JsonObject& number(std::string_view key, std::uint64_t value) {
    return put(key, {.kind = Json::Kind::kNumber, .text = std::to_string(value)});
  }
  JsonObject& put(std::string_view key, Json value) {
    made_.keys.emplace_back(key);
    made_.items.push_back(std::move(value));
    return *this;
  }
  Json take() { return std::move(made_); }

 private:
  Json made_{.kind = Json::Kind::kObject};
};

}  // namespace tallyfs::past
