#include "feeders/kernel/symbol_book.h"

#include <algorithm>
#include <string_view>

namespace tallyfs {
namespace {

// What runs between the traced place and the recording of its stack.
constexpr std::string_view kTracing[] = {"trace_event_", "__traceiter_",    "event_triggers_",
                                         "stacktrace_",  "ftrace_syscall_", "trace_sys_"};

}  // namespace

const KernelSymbols& SymbolBook::symbols() {
  if (!symbols_) {
    auto read = read_();
    symbols_ = read ? std::move(read.value()) : KernelSymbols();
  }
  return *symbols_;
}

Symbols::Place SymbolBook::place(std::uint64_t address) { return symbols().place(address); }

bool SymbolBook::is_tracing(std::uint64_t address) {
  const auto known = tracing_.find(address);
  if (known != tracing_.end()) return known->second;
  const std::string name = place(address).name;
  const bool is_it = std::ranges::any_of(
      kTracing, [&](std::string_view prefix) { return name.starts_with(prefix); });
  if (tracing_.size() == kKnownMax) tracing_.clear();
  tracing_[address] = is_it;
  return is_it;
}

std::span<const std::uint64_t> SymbolBook::without_tracing(std::span<const std::uint64_t> stack) {
  while (!stack.empty() && is_tracing(stack.front())) stack = stack.subspan(1);
  return stack;
}

}  // namespace tallyfs
