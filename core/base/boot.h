// Which boot of the machine something belongs to. CLOCK_MONOTONIC begins anew with each boot, so
// times of another boot say nothing. Values.
#pragma once

#include <array>
#include <cstdint>

namespace tallyfs {

// The machine's, as /proc/sys/kernel/random/boot_id has it; all zeros: not known, which is no boot
// that another one could equal.
using BootId = std::array<std::uint8_t, 16>;

enum class Boot : std::uint8_t { kThis, kOther };

inline Boot boot_of(const BootId& saved, const BootId& now) {
  return saved == now && saved != BootId{} ? Boot::kThis : Boot::kOther;
}

}  // namespace tallyfs
