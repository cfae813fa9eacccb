#include "tools/ctl/probed_code.h"

#include <fcntl.h>
#include <sys/file.h>

#include <fstream>
#include <sstream>

// What a compiler makes of an empty function begins as it likes.
#if defined(__x86_64__)
asm(R"(
.pushsection .text.tallyctl_probed, "ax", @progbits
.balign 64
.type tallyctl_probed_push, @function
tallyctl_probed_push:
  push %rbp
  pop %rbp
  ret
.size tallyctl_probed_push, . - tallyctl_probed_push
.balign 64
.type tallyctl_probed_nop, @function
tallyctl_probed_nop:
  .byte 0x0f, 0x1f, 0x44, 0x00, 0x00
  ret
.size tallyctl_probed_nop, . - tallyctl_probed_nop
.balign 64
.type tallyctl_probed_step, @function
tallyctl_probed_step:
  mov %rsp, %rax
  ret
.size tallyctl_probed_step, . - tallyctl_probed_step
.popsection
)");
extern "C" {
void tallyctl_probed_push();
void tallyctl_probed_nop();
void tallyctl_probed_step();
}
#elif defined(__aarch64__)
asm(R"(
.pushsection .text.tallyctl_probed, "ax", %progbits
.balign 64
.type tallyctl_probed_nop, %function
tallyctl_probed_nop:
  nop
  ret
.size tallyctl_probed_nop, . - tallyctl_probed_nop
.balign 64
.type tallyctl_probed_step, %function
tallyctl_probed_step:
  mov x0, sp
  ret
.size tallyctl_probed_step, . - tallyctl_probed_step
.popsection
)");
extern "C" {
void tallyctl_probed_nop();
void tallyctl_probed_step();
}
#endif

namespace tallyfs {

const std::vector<ProbedKind>& probed_kinds() {
  static const std::vector<ProbedKind> kKinds = {
#if defined(__x86_64__)
    {"emulated", "entry; first instruction push, jump or call", tallyctl_probed_push},
    {"nop5", "entry; a nop of 5 bytes, of new kernels a call", tallyctl_probed_nop},
    {"stepped", "entry; any other instruction, a single step", tallyctl_probed_step},
#elif defined(__aarch64__)
    {"emulated", "entry; first instruction nop", tallyctl_probed_nop},
    {"stepped", "entry; any other instruction, a single step", tallyctl_probed_step},
#endif
  };
  return kKinds;
}

Fd lock_probed_code(int operation) {
  Fd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  if (file.valid() && ::flock(file.get(), operation | LOCK_NB) != 0) file.reset();
  return file;
}

std::optional<CodePlace> place_of(ProbedCode code) {
  const auto address = reinterpret_cast<std::uintptr_t>(code);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::uint64_t begin = 0, end = 0, offset = 0;
    char dash = 0;
    std::string rights, device, inode, path;
    words >> std::hex >> begin >> dash >> end >> rights >> offset >> device >> inode >> path;
    if (address < begin || address >= end) continue;
    const bool is_usable = path.starts_with('/') && path.find(':') == path.npos && words.eof();
    if (!is_usable) return std::nullopt;
    return CodePlace{path, address - begin + offset};
  }
  return std::nullopt;
}

}  // namespace tallyfs
