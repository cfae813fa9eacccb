// The modifiers that stand behind a field and a dot: how the field is shown, or which statistic of
// it is kept.
// Values, without threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tallyfs::tracing {

enum class Display : std::uint8_t {
  kPlain,
  kHex,
  kSymbol,
  kSymbolOffset,
  kExecname,
  kSyscall,
  kLog2,
  kBuckets,
  kStack,  // the kernel's
  kPercent,
  kGraph,  // of values only
  kAverage,
  kMinimum,
  kMaximum,
  kDeviation,
  kP50,
  kP99,
  kP999,  // ours, of values only
};

struct Modifiers {
  Display display = Display::kPlain;
  // The width of kBuckets, 1 or more. For kLog2 it is K, for 2^K steps to an octave; 0 for the
  // kernel's `.log2`.
  std::uint64_t parameter = 0;
  bool usecs = false;  // of a time

  // Adds the modifier that `text` names, without its dot. False: no modifier has that name, or
  // another one already says how the field is shown.
  bool add(std::string_view text);
  // "log2" of ".usecs.log2=3": how it is shown; empty: as it is.
  std::string_view name() const;
  // ".hex", ".usecs.log2=3"; empty without any.
  std::string text() const;

  bool operator==(const Modifiers&) const = default;
};

constexpr bool is_percentile(Display display) {
  return display == Display::kP50 || display == Display::kP99 || display == Display::kP999;
}
// Whether the statistic is shown instead of the sum, under a name of its own.
constexpr bool is_statistic(Display display) {
  return display == Display::kAverage || display == Display::kMinimum ||
         display == Display::kMaximum || display == Display::kDeviation || is_percentile(display);
}

// Parses a number as C writes it: 12, 0x1f, 017.
std::optional<std::uint64_t> parse_c_number(std::string_view text);

}  // namespace tallyfs::tracing
