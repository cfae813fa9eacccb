// How many samples a message has that was refused. Pure.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/base/bytes.h"
#include "core/wire/binary.h"

namespace tallyfs::wire {

// bytes: what DatagramReader::rest() was before next() returned an error. Flags count as FORMAT.md
// has them, known or not: each is a field of 8 bytes. 1 at least, and for a message of another kind
// or of a wrong length.
inline std::uint64_t refused_samples(std::span<const char> bytes) {
  ByteReader in({bytes.data(), bytes.size()});
  const auto kind = in.get<std::uint16_t>();
  const auto flags = in.get<std::uint16_t>();
  const auto length = in.get<std::uint32_t>();
  constexpr std::size_t kNumberBytes = 8;
  if (!in.ok() || kind != kSamplesKind || length > in.left() || length < kNumberBytes) return 1;
  const auto fields = static_cast<std::size_t>(1 + std::popcount(flags));
  return std::max<std::uint64_t>((length - kNumberBytes) / (8 * fields), 1);
}

}  // namespace tallyfs::wire
