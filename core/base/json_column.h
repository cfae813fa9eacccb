// The columns of which the `values` of many types are made in JSON: each a key with an array.
// Confined as the writer is.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/base/json.h"

namespace tallyfs {

// write(i) writes element i, for each below size.
template <typename Write>
void write_column(JsonWriter& json, std::string_view key, std::size_t size, Write write) {
  json.key(key).begin_array();
  for (std::size_t i = 0; i < size && !json.is_too_long(); ++i) write(i);
  json.end_array();
}

}  // namespace tallyfs
