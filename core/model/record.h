// One record of an event, on its way through the engine: views that last as long as the call, and
// how numbers and texts are read from it at offsets that were checked before.
// Values, without threads.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace tallyfs {

// Names an event within its EventSet, as long as it is defined; 0 to events - 1.
using EventNumber = std::uint32_t;

struct EventRecord {
  EventNumber event = 0;
  std::uint64_t time_ns = 0;
  std::uint32_t cpu = 0;
  std::int32_t pid = 0;
  std::string_view bytes;                     // as the event's format says, common_type included
  std::string_view comm = {};                 // of the pid; empty: unknown
  std::span<const std::uint64_t> stack = {};  // innermost frame first; empty: not taken
};

// A number that lies at `at`, unaligned as it may be.
template <typename T>
inline T read_raw(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// Up to the first NUL.
inline std::string_view until_nul(std::string_view text) {
  const void* end = text.empty() ? nullptr : std::memchr(text.data(), 0, text.size());
  return end ? text.substr(0, static_cast<std::size_t>(static_cast<const char*>(end) - text.data()))
             : text;
}

}  // namespace tallyfs
