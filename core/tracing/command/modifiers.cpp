#include "core/tracing/command/modifiers.h"

#include <charconv>

#include "core/base/text.h"

namespace tallyfs::tracing {
namespace {

struct Name {
  std::string_view text;
  Display display;
};

constexpr Name kModifierNames[] = {
    {"hex", Display::kHex},           {"sym", Display::kSymbol},
    {"execname", Display::kExecname}, {"sym-offset", Display::kSymbolOffset},
    {"syscall", Display::kSyscall},   {"log2", Display::kLog2},
    {"buckets", Display::kBuckets},   {"stacktrace", Display::kStack},
    {"percent", Display::kPercent},   {"graph", Display::kGraph},
    {"avg", Display::kAverage},       {"min", Display::kMinimum},
    {"max", Display::kMaximum},       {"stddev", Display::kDeviation},
    {"p50", Display::kP50},           {"p99", Display::kP99},
    {"p999", Display::kP999},
};

// More steps than a double has are no steps.
constexpr std::uint64_t kLog2StepsMax = 12;

}  // namespace

std::optional<std::uint64_t> parse_c_number(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X") || !text.starts_with('0')) {
    return parse_unsigned(text);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 8);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool Modifiers::add(std::string_view text) {
  if (text == "usecs") return usecs = true;
  const std::size_t equals = text.find('=');
  std::string_view name = text.substr(0, equals);
  if (name == "bucket") name = "buckets";
  std::optional<std::uint64_t> number;
  if (equals != text.npos) {
    number = parse_c_number(text.substr(equals + 1));
    const bool takes_one = name == "buckets" || name == "log2";
    if (!takes_one || !number || *number == 0) return false;
    if (name == "log2" && *number > kLog2StepsMax) return false;
  } else if (name == "buckets") {
    return false;
  }
  for (const Name& known : kModifierNames) {
    if (known.text != name) continue;
    if (display != Display::kPlain) return false;
    display = known.display;
    parameter = number.value_or(0);
    return true;
  }
  return false;
}

std::string_view Modifiers::name() const {
  for (const Name& known : kModifierNames) {
    if (known.display == display) return known.text;
  }
  return {};
}

std::string Modifiers::text() const {
  std::string text = usecs ? ".usecs" : "";
  if (name().empty()) return text;
  text.append(".").append(name());
  if (parameter == 0) return text;
  text.push_back('=');
  append_number(text, parameter);
  return text;
}

}  // namespace tallyfs::tracing
