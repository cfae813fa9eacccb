#include "feeders/tracefs/ring_losses.h"

#include "core/base/text.h"

namespace tallyfs {
namespace {

std::optional<std::uint64_t> number_behind(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() + (line.size() < text.size() ? 1 : 0));
    if (line.starts_with(name)) return parse_unsigned(trimmed(line.substr(name.size())));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> parse_ring_losses(std::string_view stats) {
  const auto overrun = number_behind(stats, "overrun:");
  const auto dropped = number_behind(stats, "dropped events:");
  if (!overrun || !dropped) return std::nullopt;
  return *overrun + *dropped;
}

}  // namespace tallyfs
