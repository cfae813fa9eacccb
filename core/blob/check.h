// Looks at bytes that a stranger sent before anybody follows an offset in them: every field in its
// range, every slot and every byte of data where FORMAT.md has it and belonging to one only, trees
// of t-digests that reach each centroid once. What it lets pass, all other calls of this room can
// be given.
//
// Pure: any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/result.h"

namespace tallyfs::blob {

// Nothing wrong: the bytes of the blob, of which there may be fewer than given. Else kInvalid, and
// the reason names the field. Foreign endianness is refused, not converted. The bytes may stand at
// any address.
Result<std::size_t> check_blob(std::span<const std::uint8_t> bytes);

}  // namespace tallyfs::blob
