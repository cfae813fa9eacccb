#include "feeders/intake/switch_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "feeders/intake/sealed_memory.h"

namespace tallyfs {
namespace {

constexpr std::uint64_t kPageBytes = 4096;

}  // namespace

Result<SealedPage> SealedPage::create(const char* name, std::uint64_t bytes) {
  bytes = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  Fd fd = open_memory(name);
  if (!fd.valid() || ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
    return memory_error(ErrorCode::kNoSpace, "no memory for a page that feeders read");
  }
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (mapped == MAP_FAILED) {
    return memory_error(ErrorCode::kNoSpace, "cannot map a page that feeders read");
  }
  SealedPage page(std::move(fd), {static_cast<std::byte*>(mapped), bytes});
  const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;
  if (::fcntl(page.fd(), F_ADD_SEALS, seals) != 0) {
    return memory_error(ErrorCode::kInvalid, "cannot seal a page that feeders read");
  }
  return page;
}

SealedPage::SealedPage(SealedPage&& other) noexcept
    : fd_(std::move(other.fd_)), memory_(std::exchange(other.memory_, {})) {}

SealedPage::~SealedPage() {
  if (!memory_.empty()) ::munmap(memory_.data(), memory_.size());
}

}  // namespace tallyfs
