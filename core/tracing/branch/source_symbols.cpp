#include "core/tracing/branch/source_symbols.h"

namespace tallyfs::tracing {

Symbols::Place SourceSymbols::place(std::uint64_t address) const {
  for (const auto& source : sources_) {
    if (auto found = source->place(address); !found.name.empty()) return found;
  }
  return {};
}

std::string SourceSymbols::syscall(std::uint64_t number) const {
  for (const auto& source : sources_) {
    if (auto found = source->syscall(number); !found.empty()) return found;
  }
  return {};
}

std::optional<std::string> SourceSymbols::text(std::uint64_t address) const {
  for (const auto& source : sources_) {
    if (auto found = source->text(address)) return found;
  }
  return std::nullopt;
}

}  // namespace tallyfs::tracing
