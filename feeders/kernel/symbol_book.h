// The kernel's symbols, read when they are first asked for, and which of them are the tracing
// itself, whose frames stand at the top of every stack that it records.
//
// Confined to one thread. Remembers at most kKnownMax addresses.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "feeders/kernel/kernel_symbols.h"

namespace tallyfs {

class SymbolBook {
 public:
  static constexpr std::size_t kKnownMax = 4'096;
  using Read = std::function<Result<KernelSymbols>()>;

  explicit SymbolBook(Read read) : read_(std::move(read)) {}

  // Reads the symbols now, so that no reader waits for that later.
  void load() { (void)symbols(); }
  Symbols::Place place(std::uint64_t address);
  // Of a stack, innermost frame first, what is above the traced code left out.
  std::span<const std::uint64_t> without_tracing(std::span<const std::uint64_t> stack);

 private:
  const KernelSymbols& symbols();
  bool is_tracing(std::uint64_t address);

  const Read read_;
  std::optional<KernelSymbols> symbols_;
  boost::unordered_flat_map<std::uint64_t, bool> tracing_;  // of what was asked
};

}  // namespace tallyfs
