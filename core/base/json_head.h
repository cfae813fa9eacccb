// The head of the JSON texts of statistics: how they are made up, by which daemon, and when. Pure
// functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/json.h"

namespace tallyfs {

// Within a format, keys are only ever added.
inline constexpr int kJsonFormat = 1;

// Which start of the daemon it was: an identifier of 16 hexadecimal digits.
inline std::string epoch_text(std::uint64_t epoch) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t i = text.size(); i-- > 0; epoch >>= 4) text[i] = kDigits[epoch & 15];
  return text;
}

// One instant on two clocks.
inline void write_timestamp(JsonWriter& json, Timestamp now) {
  json.key("time_us").microseconds(now.monotonic).key("realtime_us").microseconds(now.realtime);
}

// The members of a data.json before its statistics.
struct JsonHead {
  std::string_view interface;
  std::uint64_t epoch = 0;
  std::uint64_t serial = 0;
  Timestamp now;
};
inline void write_head(JsonWriter& json, const JsonHead& head) {
  json.key("interface").string(head.interface).key("format").number(kJsonFormat);
  json.key("epoch").string(epoch_text(head.epoch)).key("serial").number(head.serial);
  write_timestamp(json, head.now);
}

}  // namespace tallyfs
