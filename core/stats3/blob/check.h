// Checks bytes from an untrusted sender before any offset in them is followed. Every field must be
// in its range; every slot and every byte of data must stand where FORMAT.md has it and belong to
// one owner only; trees of t-digests must reach each centroid once. Bytes that pass may be given to
// all other calls of this room.
//
// Pure: any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/result.h"

namespace tallyfs::stats3::blob {

// The size of the blob, which may be less than the bytes given. kInvalid: the reason names the
// field. Foreign endianness is refused, not converted. The bytes may stand at any address.
Result<std::size_t> check_blob(std::span<const std::uint8_t> bytes);

}  // namespace tallyfs::stats3::blob
