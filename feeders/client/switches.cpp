#include "feeders/client/switches.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

namespace tallyfs {
namespace {

bool is_sealed(int fd) {
  const int seals = ::fcntl(fd, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
}

Error failure(ErrorCode code, const char* what) {
  return {code, std::string(what) + ": " + std::strerror(errno)};
}

}  // namespace

Switches::~Switches() {
  if (address_) ::munmap(address_, kBytesMax);
}

Result<void> Switches::map(const Fd& page, std::uint64_t bytes) {
  struct stat status {};
  bytes = std::min<std::uint64_t>(bytes, kBytesMax);
  if (!is_sealed(page.get()) || ::fstat(page.get(), &status) != 0 || bytes == 0 ||
      static_cast<std::uint64_t>(status.st_size) < bytes) {
    return Error{ErrorCode::kInvalid, "what the daemon sent is no sealed page of switches"};
  }
  if (!address_) {
    void* const reserved =
        ::mmap(nullptr, kBytesMax, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) return failure(ErrorCode::kNoSpace, "no room for the switches");
    address_ = reserved;
  }
  if (::mmap(address_, bytes, PROT_READ, MAP_SHARED | MAP_FIXED, page.get(), 0) == MAP_FAILED) {
    return failure(ErrorCode::kNoSpace, "cannot map the switches");
  }
  bytes_ = bytes;
  return {};
}

const Switches::Slot* Switches::slot(std::uint64_t number) const {
  const auto index = static_cast<std::uint32_t>(number);
  if ((std::size_t{index} + 1) * sizeof(Slot) > bytes_) return nullptr;
  return static_cast<const Slot*>(address_) + index;
}

const std::uint32_t* Switches::find(std::uint64_t number) const {
  const Slot* const found = slot(number);
  return found ? &found->on : nullptr;
}

bool Switches::is_void(std::uint64_t number) const {
  const Slot* const found = slot(number);
  return found && __atomic_load_n(&found->generation, __ATOMIC_RELAXED) != number >> 32;
}

}  // namespace tallyfs
