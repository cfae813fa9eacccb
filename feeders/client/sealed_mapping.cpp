#include "feeders/client/sealed_mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

namespace tallyfs {
namespace {

Error failure(const char* what, const char* of) {
  std::string reason(what);
  reason.append(of).append(": ").append(std::strerror(errno));
  return {ErrorCode::kNoSpace, std::move(reason)};
}

}  // namespace

bool is_sealed(const Fd& memory) {
  const int seals = ::fcntl(memory.get(), F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
}

SealedMapping::~SealedMapping() {
  for (void* const place : places_) {
    if (place) ::munmap(place, bytes_max_);
  }
}

Result<void> SealedMapping::map(const Fd& page, std::uint64_t bytes, const char* what) {
  struct stat status {};
  bytes = std::min<std::uint64_t>(bytes, bytes_max_);
  if (!is_sealed(page) || ::fstat(page.get(), &status) != 0 || bytes == 0 ||
      static_cast<std::uint64_t>(status.st_size) < bytes) {
    return Error{ErrorCode::kInvalid,
                 std::string("what the daemon sent is no sealed page of ").append(what)};
  }
  const std::size_t next = current_ ^ 1;
  void*& place = places_[next];
  if (!place) {
    void* const reserved =
        ::mmap(nullptr, bytes_max_, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) return failure("no room for the ", what);
    place = reserved;
  }
  if (::mmap(place, bytes, PROT_READ, MAP_SHARED | MAP_FIXED, page.get(), 0) == MAP_FAILED) {
    return failure("cannot map the ", what);
  }
  current_ = next;
  bytes_ = bytes;
  return {};
}

}  // namespace tallyfs
