// The machine's own counter, if it has one: an instruction, twice. read_counter() may be carried
// out before what stands before it has ended; read_counter_ordered() is not, nor does it overtake
// what other threads did that this one has seen, for half as much again. Stateless; signal-safe.
#pragma once

#include <cstdint>

namespace tallyfs {

#if defined(__x86_64__)

inline constexpr const char* kCounterName = "tsc";
inline std::uint64_t read_counter() { return __builtin_ia32_rdtsc(); }
inline std::uint64_t read_counter_ordered() {
  __builtin_ia32_lfence();
  return __builtin_ia32_rdtsc();
}
// The rate is not known beforehand; it is measured.
inline std::uint64_t counter_rate_hz() { return 0; }

#elif defined(__aarch64__)

inline constexpr const char* kCounterName = "cntvct";
inline std::uint64_t read_counter() {
  std::uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
}
inline std::uint64_t read_counter_ordered() {
  std::uint64_t value;
  asm volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(value) : : "memory");
  return value;
}
inline std::uint64_t counter_rate_hz() {
  std::uint64_t rate;
  asm("mrs %0, cntfrq_el0" : "=r"(rate));
  return rate;
}

#else

inline constexpr const char* kCounterName = "";
inline std::uint64_t read_counter() { return 0; }
inline std::uint64_t read_counter_ordered() { return 0; }
inline std::uint64_t counter_rate_hz() { return 0; }

#endif

}  // namespace tallyfs
