// What tests of buffers and of what is packed from them share.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "feeders/client/thread_buffer.h"
#include "tests/unit/random.h"

namespace tallyfs {

struct DestroyBuffer {
  void operator()(ThreadBuffer* buffer) const { ThreadBuffer::destroy(buffer); }
};
using BufferPointer = std::unique_ptr<ThreadBuffer, DestroyBuffer>;

inline BufferPointer make_buffer(std::size_t capacity) {
  BufferPointer buffer(ThreadBuffer::create(capacity));
  EXPECT_TRUE(buffer && buffer->try_own());
  return buffer;
}

inline Stamp at_ns(std::uint64_t ns) { return {Stamp::Scale::kNs, ns}; }
inline Stamp at_cycles(std::uint64_t cycles) { return {Stamp::Scale::kCycles, cycles}; }

// The X of what is held, from the tail on.
inline std::vector<std::int64_t> held_in(ThreadBuffer& buffer) {
  const MutexLock lock(buffer.mutex());
  std::vector<std::int64_t> held;
  for (std::uint64_t i = buffer.tail(); i != buffer.head(); ++i)
    held.push_back(buffer.entry(i).x());
  return held;
}

inline void consume(ThreadBuffer& buffer, std::uint64_t entries) {
  const MutexLock lock(buffer.mutex());
  buffer.consume(entries);
}

}  // namespace tallyfs
