// A lane file as a feeder has it: mapped, and then sealed.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>

#include <cstddef>

namespace tallyfs {

// MAP_FAILED: it cannot be mapped or sealed.
inline void* map_lane(int fd, std::size_t bytes) {
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) return MAP_FAILED;
  return ::fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE) == 0 ? mapped : MAP_FAILED;
}

}  // namespace tallyfs
