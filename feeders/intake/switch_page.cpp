#include "feeders/intake/switch_page.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace tally {
namespace {

constexpr std::size_t kPageBytes = 4096;

Error failure(ErrorCode code, const char* what) {
  return {code, std::string(what) + ": " + std::strerror(errno)};
}

}  // namespace

Result<SwitchPage> SwitchPage::create(std::uint64_t statistics) {
  const std::size_t bytes =
      (statistics * sizeof(Switch) + kPageBytes - 1) / kPageBytes * kPageBytes;
  Fd fd(::memfd_create("tallyfs-switches", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid() || ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
    return failure(ErrorCode::kNoSpace, "no memory for the page of switches");
  }
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (mapped == MAP_FAILED) return failure(ErrorCode::kNoSpace, "cannot map the page of switches");
  // Zeros are what atomics of 0 look like.
  SwitchPage page(std::move(fd), {static_cast<Switch*>(mapped), bytes / sizeof(Switch)});
  const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;
  if (::fcntl(page.fd(), F_ADD_SEALS, seals) != 0) {
    return failure(ErrorCode::kInvalid, "cannot seal the page of switches");
  }
  return page;
}

SwitchPage::SwitchPage(SwitchPage&& other) noexcept
    : fd_(std::move(other.fd_)), switches_(std::exchange(other.switches_, {})) {}

SwitchPage::~SwitchPage() {
  if (!switches_.empty()) ::munmap(switches_.data(), switches_.size_bytes());
}

}  // namespace tally
