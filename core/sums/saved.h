// Parts common to all saved state. Each type's data starts with the version of its layout.
#pragma once

#include <chrono>
#include <cstdint>

#include "core/base/bytes.h"

namespace tallyfs {

// Fails the reader when the next byte is not the version.
inline void expect_version(ByteReader& in, std::uint8_t version) {
  if (in.get<std::uint8_t>() != version) in.fail();
}

inline void save_time(ByteWriter& out, std::chrono::nanoseconds time) {
  out.put(std::int64_t{time.count()});
}

// Fifty years: a time since boot that no machine will see. Two of them and the longest period
// (kPeriodMax) still add up within 63 bits of nanoseconds.
inline constexpr std::chrono::nanoseconds kUptimeMax = std::chrono::hours(50 * 365 * 24);

// Fails the reader on a time beyond kUptimeMax. (A sample's own time is not bounded: a feeder may
// send any time.)
inline std::chrono::nanoseconds load_time(ByteReader& in) {
  const std::chrono::nanoseconds time(in.get<std::int64_t>());
  if (time < std::chrono::nanoseconds(0) || time > kUptimeMax) {
    in.fail();
    return std::chrono::nanoseconds(0);
  }
  return time;
}

}  // namespace tallyfs
