// Makes datagrams of a buffer's samples (core/wire/FORMAT.md): those of one statistic together, in
// their order, whatever came between, so that the daemon takes each statistic's lock once; Y only
// where it is not 1 throughout; times converted. What the FORMAT calls a message is a run here.
//
// Stateless; its memory is the buffer's and the stack's.
#pragma once

#include <cstdint>
#include <string_view>

#include "feeders/client/sample_time.h"
#include "feeders/client/thread_buffer.h"

namespace tallyfs {

// X and time of one statistic.
inline constexpr std::uint64_t kDatagramSamplesMax = (ThreadBuffer::kDatagramBytes - 32) / 16;

struct Packed {
  std::string_view datagram;        // in the buffer's memory, until the next pack()
  std::uint64_t entries = 0;        // from the buffer's tail on, that are dealt with:
  std::uint64_t samples = 0;        // either all of them in the datagram,
  std::uint64_t refused = 0;        // or all to be dropped, since the daemon will not have them
  FedStatistic* unknown = nullptr;  // it ends here for want of this one's number
};

// Packs as much from the buffer's tail as fits into one datagram.
Packed pack(ThreadBuffer& buffer, const SampleTimes& times, std::uint64_t epoch)
    REQUIRES(buffer.mutex());

}  // namespace tallyfs
