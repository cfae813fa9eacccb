#include "feeders/intake/switch_page.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace tallyfs {
namespace {

constexpr std::size_t kPageBytes = 4096;

// Of Linux 6.3, with this value on every architecture; older headers do not have it.
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

Error failure(ErrorCode code, const char* what) {
  return {code, std::string(what) + ": " + std::strerror(errno)};
}

// Where vm.memfd_noexec is 2, only memory that can never be executed is to be had; an older kernel
// knows none such.
Fd open_memory() {
  const char* const name = "tallyfs-switches";
  Fd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL));
  if (fd.valid() || errno != EINVAL) return fd;
  return Fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
}

}  // namespace

Result<SwitchPage> SwitchPage::create(std::uint64_t statistics) {
  const std::size_t bytes =
      (statistics * sizeof(Switch) + kPageBytes - 1) / kPageBytes * kPageBytes;
  Fd fd = open_memory();
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

}  // namespace tallyfs
