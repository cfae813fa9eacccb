// Names of the kernel's addresses, from the text of /proc/kallsyms. Immutable once made; some
// megabytes. At most kSymbolsMax symbols.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/symbols.h"

namespace tallyfs {

class KernelSymbols {
 public:
  static constexpr std::size_t kSymbolsMax = 4'000'000;

  // Lines `ADDRESS TYPE NAME[\t[MODULE]]`; others are passed over, as are addresses of zero, which
  // the kernel shows to unprivileged readers.
  static KernelSymbols parse(std::string_view kallsyms);

  // The symbol that the address lies in, or behind; of several for one address the first of the
  // text, as the kernel has it. An empty name: none.
  Symbols::Place place(std::uint64_t address) const;
  bool empty() const { return symbols_.empty(); }

 private:
  struct Symbol {
    std::uint64_t address;
    std::uint32_t name_at;  // in names_
    std::uint16_t name_bytes;
    std::uint16_t module_bytes;  // behind the name
  };

  std::vector<Symbol> symbols_;  // by address
  std::string names_;
};

// kNotFound: it cannot be read. Reading it takes some 50 ms.
Result<KernelSymbols> read_kernel_symbols();

}  // namespace tallyfs
