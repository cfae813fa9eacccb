// A latency that a program has measured by itself. 48 bytes, laid out as on the wire
// (core/wire/FORMAT.md, kind 8), so that the intake can hand datagrams on in place.
#pragma once

#include <cstdint>

#include "core/model/task.h"

namespace tallyfs {

struct LatencySample {
  std::int64_t latency_ns = 0;
  std::int64_t time_ns = 0;  // CLOCK_MONOTONIC, of its end
  std::uint32_t cpu = 0;
  std::uint32_t zero = 0;
  Task task;
};
static_assert(sizeof(LatencySample) == 48);

}  // namespace tallyfs
