#include "feeders/intake/sealed_memory.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "core/base/descriptor_numbers.h"

namespace tallyfs {
namespace {

// Linux has it since 6.3, with this value on every architecture; older headers do not have it.
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

}  // namespace

// Where vm.memfd_noexec is 2, only memory that can never be executed is to be had; an older kernel
// knows none such.
Fd open_memory(const char* name) {
  Fd fd = opened_unseen(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL));
  if (fd.valid() || errno != EINVAL) return fd;
  return opened_unseen(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
}

Fd reopen_to_read(const Fd& memory) {
  std::string path("/proc/self/fd/");
  path.append(std::to_string(memory.get()));
  return Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

Error memory_error(ErrorCode code, const char* what) {
  std::string reason(what);
  reason.append(": ").append(std::strerror(errno));
  return {code, std::move(reason)};
}

}  // namespace tallyfs
