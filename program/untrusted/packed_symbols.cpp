#include "program/untrusted/packed_symbols.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

namespace tallyfs {

Result<std::optional<tracing::ElfFile>> packed_symbols(const tracing::ElfFile& program) {
  const auto* const section = program.section(".gnu_debugdata");
  if (!section) return std::optional<tracing::ElfFile>();
  const auto packed = program.contents(*section, kPackedMax);
  if (!packed) return packed.error();
  auto bytes = unpack(packed.value());
  if (!bytes) return bytes.error();
  const std::size_t size = bytes.value().size();
  auto file = tracing::ElfFile::open(
      [bytes = std::move(bytes.value())](std::uint64_t offset, std::span<char> into) {
        const std::size_t from = std::min<std::uint64_t>(offset, bytes.size());
        const std::size_t some = std::min(into.size(), bytes.size() - from);
        std::memcpy(into.data(), bytes.data() + from, some);
        return some;
      },
      size);
  if (!file) return file.error();
  return std::optional(std::move(file.value()));
}

}  // namespace tallyfs
