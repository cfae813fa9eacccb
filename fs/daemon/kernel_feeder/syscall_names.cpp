#include "fs/daemon/kernel_feeder/syscall_names.h"

#include <algorithm>
#include <string_view>

namespace tallyfs {
namespace {

struct Syscall {
  std::uint64_t number;
  std::string_view name;
};

// Made of the header when the build is configured, in the order of their numbers.
constexpr Syscall kSyscalls[] = {
#include "syscall_names.inc"
};

}  // namespace

std::string syscall_name(std::uint64_t number) {
  const auto* const at = std::ranges::lower_bound(kSyscalls, number, {}, &Syscall::number);
  if (at == std::end(kSyscalls) || at->number != number) return {};
  return "sys_" + std::string(at->name);
}

}  // namespace tallyfs
