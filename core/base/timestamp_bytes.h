// A moment as bytes: its two times in ns, as i64 each. The monotonic one means something within a
// boot only.
#pragma once

#include <chrono>
#include <cstdint>

#include "core/base/bytes.h"
#include "core/base/clock.h"

namespace tallyfs {

inline void put_timestamp(ByteWriter& out, Timestamp moment) {
  out.put(std::int64_t{moment.monotonic.count()});
  out.put(std::int64_t{moment.realtime.count()});
}

inline Timestamp get_timestamp(ByteReader& in) {
  Timestamp moment;
  moment.monotonic = std::chrono::nanoseconds(in.get<std::int64_t>());
  moment.realtime = std::chrono::nanoseconds(in.get<std::int64_t>());
  return moment;
}

}  // namespace tallyfs
