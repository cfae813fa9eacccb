// The kernel's events about block requests, in a form of our own.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

namespace tallyfs {

// The kernel's number of a device in trace events: major << 20 | minor.
using DeviceNumber = std::uint32_t;

// The letter of the operation in an event's rwbs: R read, W write, F flush, D discard, N none...
// An F before another letter says "flush first" and is no operation: FWFS is a write.
char operation_of(std::string_view rwbs);

// The directions that have statistics of their own.
enum class Direction { kRead, kWrite, kOther };
inline constexpr std::size_t kDirections = 3;

constexpr Direction direction_of(char operation) {
  return operation == 'R'   ? Direction::kRead
         : operation == 'W' ? Direction::kWrite
                            : Direction::kOther;
}

// A request that the driver was given, returned unfinished or completed, whole or in part.
struct RequestEvent {
  enum class Kind { kIssue, kRequeue, kComplete };

  Kind kind = Kind::kIssue;
  DeviceNumber device = 0;
  char operation = 'N';
  std::uint64_t sector = 0;   // the first one; sectors have 512 bytes
  std::uint32_t sectors = 0;  // kComplete: that are done now; 0 for a request without data
  std::uint32_t bytes = 0;    // kIssue only
  std::chrono::nanoseconds time{0};
};

}  // namespace tallyfs
