// Memory for one request at a time, resident from the start: the kernel drops a request that it
// cannot copy since the server is killed while the memory is made. Where the limit of locked memory
// (RLIMIT_MEMLOCK) is too low, the pages are touched instead.
//
// Confined to its thread.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "fs/protocol.h"

namespace tallyfs {

class RequestBuffer {
 public:
  // The kernel wants room for the largest write and its headers.
  static constexpr std::size_t kBytes = protocol::kMaxWriteBytes + 4096;

  RequestBuffer()
      : memory_(
            ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) std::abort();
    if (::mlock(memory_, kBytes) != 0) std::memset(memory_, 0, kBytes);
  }
  ~RequestBuffer() { ::munmap(memory_, kBytes); }
  RequestBuffer(const RequestBuffer&) = delete;
  RequestBuffer& operator=(const RequestBuffer&) = delete;

  void* memory() const { return memory_; }

 private:
  void* const memory_;
};

}  // namespace tallyfs
