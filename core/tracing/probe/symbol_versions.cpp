#include "core/tracing/probe/symbol_versions.h"

#include <utility>

#include "core/base/bytes.h"

namespace tallyfs::tracing {
namespace {

constexpr std::uint64_t kIndexBytesMax = ElfFile::kSymbolsMax * 2;
constexpr std::uint64_t kDefinitionBytesMax = std::uint64_t{1} << 20;
constexpr int kDefinitionsMax = 4'096;
constexpr std::uint16_t kIsHidden = 0x8000;
constexpr std::uint16_t kIsBase = 1;  // of the file itself, which is no version
constexpr std::uint16_t kFirstOfVersions = 2;

std::string_view behind(std::string_view bytes, std::size_t at) {
  return at < bytes.size() ? bytes.substr(at) : std::string_view();
}

// Calls use(index, byte of the name) for each definition, in the chain that they make.
template <typename Use>
void each_definition(std::string_view bytes, const Use& use) {
  std::size_t at = 0;
  for (int i = 0; i < kDefinitionsMax; ++i) {
    ByteReader reader(behind(bytes, at));
    (void)reader.get<std::uint16_t>();
    const auto flags = reader.get<std::uint16_t>();
    const auto index = reader.get<std::uint16_t>();
    (void)reader.get<std::uint16_t>();
    (void)reader.get<std::uint32_t>();
    const auto first_name = reader.get<std::uint32_t>();
    const auto next = reader.get<std::uint32_t>();
    ByteReader name(behind(bytes, at + first_name));
    const auto text = name.get<std::uint32_t>();
    if (!reader.ok() || !name.ok()) return;
    if ((flags & kIsBase) == 0) use(index, text);
    if (next == 0) return;
    at += next;
  }
}

}  // namespace

Result<SymbolVersions> SymbolVersions::read(const ElfFile& file) {
  SymbolVersions versions;
  const ElfFile::Section* const indices = file.section(".gnu.version");
  if (!indices) return versions;
  auto bytes = file.contents(*indices, kIndexBytesMax);
  if (!bytes) return bytes.error();
  versions.indices_ = std::move(bytes.value());
  const ElfFile::Section* const definitions = file.section(".gnu.version_d");
  const ElfFile::Section* const strings = file.section(".dynstr");
  if (!definitions || !strings) return versions;
  const auto defined = file.contents(*definitions, kDefinitionBytesMax);
  if (!defined) return defined.error();
  const auto names = file.contents(*strings, ElfFile::kStringBytesMax);
  if (!names) return names.error();
  each_definition(defined.value(), [&](std::uint16_t index, std::uint32_t text) {
    const auto rest = behind(names.value(), text).substr(0, ElfFile::kSymbolNameBytesMax);
    versions.names_.emplace(index, rest.substr(0, rest.find('\0')));
  });
  return versions;
}

std::optional<SymbolVersions::Version> SymbolVersions::of(std::uint64_t index) const {
  if (index >= indices_.size() / 2) return std::nullopt;
  ByteReader reader(behind(indices_, static_cast<std::size_t>(index) * 2));
  const auto version = reader.get<std::uint16_t>();
  const auto number = static_cast<std::uint16_t>(version & ~kIsHidden);
  if (number < kFirstOfVersions) return std::nullopt;
  const auto name = names_.find(number);
  return Version{name == names_.end() ? std::string_view() : std::string_view(name->second),
                 (version & kIsHidden) != 0};
}

}  // namespace tallyfs::tracing
