#include "feeders/intake/switch_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "feeders/intake/sealed_memory.h"

namespace tallyfs {
namespace {

constexpr std::uint64_t kPageBytes = 4096;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

}  // namespace

Result<SealedPage> SealedPage::create(const char* name, std::uint64_t bytes) {
  bytes = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  Fd fd = open_memory(name);
  if (!fd.valid() || ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
    return memory_error(ErrorCode::kNoSpace, "no memory for a page that feeders read");
  }
  if (::fchmod(fd.get(), S_IRUSR) != 0 || ::fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0) {
    return memory_error(ErrorCode::kInvalid, "cannot seal a page that feeders read");
  }
  return map(std::move(fd), bytes);
}

Result<SealedPage> SealedPage::adopt(Fd fd, std::uint64_t bytes) {
  struct stat status {};
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  const bool is_sealed = seals >= 0 && (seals & kSeals) == kSeals;
  if (bytes != 0 && is_sealed && ::fstat(fd.get(), &status) == 0 &&
      static_cast<std::uint64_t>(status.st_size) == bytes) {
    return map(std::move(fd), bytes);
  }
  return Error{ErrorCode::kInvalid, "this is no page that feeders read, or one of another size"};
}

Result<SealedPage> SealedPage::map(Fd fd, std::uint64_t bytes) {
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (mapped == MAP_FAILED) {
    return memory_error(ErrorCode::kNoSpace, "cannot map a page that feeders read");
  }
  SealedPage page(std::move(fd), {static_cast<std::byte*>(mapped), bytes});
  page.for_feeders_ = reopen_to_read(page.fd_);
  if (page.for_feeders_.valid()) return page;
  return memory_error(ErrorCode::kInvalid, "cannot open a page that feeders read");
}

SealedPage::SealedPage(SealedPage&& other) noexcept
    : fd_(std::move(other.fd_)),
      for_feeders_(std::move(other.for_feeders_)),
      memory_(std::exchange(other.memory_, {})) {}

SealedPage::~SealedPage() {
  if (!memory_.empty()) ::munmap(memory_.data(), memory_.size());
}

}  // namespace tallyfs
