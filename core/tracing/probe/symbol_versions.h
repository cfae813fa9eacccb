// The versions of dynamic symbols: `malloc` of GLIBC_2.2.5. Confined to one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/tracing/probe/elf_file.h"

namespace tallyfs::tracing {

class SymbolVersions {
 public:
  struct Version {
    std::string_view name;   // empty: of a version that the file does not define
    bool is_hidden = false;  // not the default one
  };

  // For a file without versions.
  SymbolVersions() = default;
  // kInvalid: the file is broken; kTooBig.
  static Result<SymbolVersions> read(const ElfFile& file);

  // The version of the dynamic symbol with that index. nullopt: it has none.
  std::optional<Version> of(std::uint64_t index) const;

 private:
  std::string indices_;  // two bytes for each symbol
  std::map<std::uint16_t, std::string> names_;
};

}  // namespace tallyfs::tracing
