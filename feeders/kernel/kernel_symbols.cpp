#include "feeders/kernel/kernel_symbols.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "core/base/fd.h"

namespace tallyfs {
namespace {

constexpr std::size_t kSymbolBytesMax = 512;
constexpr std::size_t kPieceBytes = 1u << 20;
constexpr std::size_t kKallsymsBytesMax = 512u << 20;

std::string_view take_word(std::string_view& line) {
  const std::size_t start = std::min(line.find_first_not_of(" \t"), line.size());
  const std::size_t end = std::min(line.find_first_of(" \t", start), line.size());
  const std::string_view word = line.substr(start, end - start);
  line.remove_prefix(end);
  return word;
}

std::string_view without_brackets(std::string_view module) {
  if (module.size() < 2 || module.front() != '[' || module.back() != ']') return {};
  return module.substr(1, module.size() - 2);
}

}  // namespace

KernelSymbols KernelSymbols::parse(std::string_view kallsyms) {
  KernelSymbols made;
  while (!kallsyms.empty() && made.symbols_.size() < kSymbolsMax) {
    std::string_view line = kallsyms.substr(0, kallsyms.find('\n'));
    kallsyms.remove_prefix(std::min(line.size() + 1, kallsyms.size()));
    const std::string_view number = take_word(line);
    Symbol symbol{};
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), symbol.address, 16);
    const bool is_number = error == std::errc() && end == number.data() + number.size();
    (void)take_word(line);
    const std::string_view name = take_word(line);
    const std::string_view module = without_brackets(take_word(line));
    if (!is_number || symbol.address == 0 || name.empty() || name.size() > kSymbolBytesMax ||
        module.size() > kSymbolBytesMax) {
      continue;
    }
    symbol.name_at = static_cast<std::uint32_t>(made.names_.size());
    symbol.name_bytes = static_cast<std::uint16_t>(name.size());
    symbol.module_bytes = static_cast<std::uint16_t>(module.size());
    made.names_.append(name).append(module);
    made.symbols_.push_back(symbol);
  }
  std::ranges::stable_sort(made.symbols_, {}, &Symbol::address);
  return made;
}

Symbols::Place KernelSymbols::place(std::uint64_t address) const {
  const auto behind = std::ranges::upper_bound(symbols_, address, {}, &Symbol::address);
  if (behind == symbols_.begin()) return {};
  const auto first =
      std::ranges::lower_bound(symbols_, std::prev(behind)->address, {}, &Symbol::address);
  const std::string_view names = names_;
  return {
      .name = std::string(names.substr(first->name_at, first->name_bytes)),
      .offset = address - first->address,
      .size = behind == symbols_.end() ? 0 : behind->address - first->address,
      .module = std::string(names.substr(first->name_at + first->name_bytes, first->module_bytes))};
}

Result<KernelSymbols> read_kernel_symbols() {
  const Fd file(::open("/proc/kallsyms", O_RDONLY | O_CLOEXEC));
  std::string text;
  std::size_t filled = 0;
  for (;;) {
    text.resize(filled + kPieceBytes);
    const auto size = ::read(file.get(), text.data() + filled, kPieceBytes);
    if (size < 0) return Error{ErrorCode::kNotFound, "cannot read /proc/kallsyms"};
    if (size == 0 || filled > kKallsymsBytesMax) break;
    filled += static_cast<std::size_t>(size);
  }
  text.resize(filled);
  return KernelSymbols::parse(text);
}

}  // namespace tallyfs
