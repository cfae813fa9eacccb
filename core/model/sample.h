// A sample: what a feeder says and all that it knows. 24 bytes, laid out as a full record on the
// wire (core/wire/FORMAT.md, kind 1), so that a decoder can hand datagrams on in place.
#pragma once

#include <chrono>
#include <cstdint>

namespace tallyfs {

struct Sample {
  std::int64_t x = 0;
  std::uint64_t y = 1;
  std::chrono::nanoseconds time{0};  // CLOCK_MONOTONIC; the intake fills it in where it was missing
};
static_assert(sizeof(Sample) == 24);

}  // namespace tallyfs
