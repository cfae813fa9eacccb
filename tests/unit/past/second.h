#pragma once

#include <cstdint>

namespace tallyfs::past {

inline constexpr std::uint64_t kSecondUs = 1'000'000;

}  // namespace tallyfs::past
