#include "feeders/clock/driver.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <string_view>

#include "core/base/fd.h"
#include "feeders/clock/cycles.h"

namespace tallyfs {
namespace {

#if defined(__x86_64__)
// CPUID 80000007H, EDX bit 8: what the kernel calls constant_tsc and nonstop_tsc.
bool is_counter_invariant() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
}

Trust first_line_is(const char* path, std::string_view line) {
  const int errno_before = errno;
  const Fd file(::open(path, O_RDONLY | O_CLOEXEC));
  char text[32];
  const auto size = file.valid() ? ::read(file.get(), text, sizeof text) : -1;
  errno = errno_before;
  if (size <= 0) return Trust::kUnknown;
  const bool is_same = std::string_view(text, static_cast<std::size_t>(size)) == line;
  return is_same ? Trust::kYes : Trust::kNo;
}
#endif

}  // namespace

Trust is_counter_trusted() {
#if defined(__x86_64__)
  if (!is_counter_invariant()) return Trust::kNo;
  return first_line_is("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
#elif defined(__aarch64__)
  return Trust::kYes;
#else
  return Trust::kNo;
#endif
}

const Driver* best_driver() {
  const bool has_counter = kCounterDriver.kind != Driver::Kind::kNone;
  return has_counter && is_counter_trusted() == Trust::kYes ? &kCounterDriver : &kMonotonicDriver;
}

const Driver* driver_by_environment() {
  const char* const told = ::secure_getenv("TALLY_CLOCK");
  const std::string_view name = told ? told : "auto";
  if (name == "off") return nullptr;
  return name == kMonotonicDriver.name ? &kMonotonicDriver : best_driver();
}

}  // namespace tallyfs
