// The names of functions that a stripped program has packed into itself, as Fedora's have:
// .gnu_debugdata, an ELF file that xz has packed (MiniDebugInfo). A stranger has made it: it may
// unpack to kUnpackedMax bytes, with kUnpackingMax bytes of memory.
// Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/tracing/probe/elf_file.h"

namespace tallyfs {

inline constexpr std::size_t kPackedMax = std::size_t{16} << 20;
inline constexpr std::size_t kUnpackedMax = std::size_t{64} << 20;
inline constexpr std::size_t kUnpackingMax = std::size_t{64} << 20;

// kInvalid: it is not what xz has packed, or is cut off, or liblzma was not there when tallyfs was
// built. kTooBig: it unpacks to more than bytes_max.
Result<std::vector<char>> unpack(std::string_view packed, std::size_t bytes_max = kUnpackedMax);
// Nothing: the program has none. kInvalid; kTooBig.
Result<std::optional<tracing::ElfFile>> packed_symbols(const tracing::ElfFile& program);

}  // namespace tallyfs
