#include "core/tracing/set/named_events.h"

#include <algorithm>

namespace tallyfs::tracing {
namespace {

constexpr std::string_view kNameBytes =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

std::string_view name_before(std::string_view text, std::size_t end) {
  const std::size_t before = text.substr(0, end).find_last_not_of(kNameBytes);
  const std::size_t begin = before == text.npos ? 0 : before + 1;
  return text.substr(begin, end - begin);
}

std::string_view name_from(std::string_view text, std::size_t begin) {
  begin = std::min(begin, text.size());
  return text.substr(begin, text.find_first_not_of(kNameBytes, begin) - begin);
}

}  // namespace

bool NamedEvents::hides(std::string_view system, std::string_view name) const {
  const auto number = events_.find(system, name);
  return number && hides(events_.at(*number));
}

// Each SYSTEM.EVENT in a part of a histogram's command. Its name alone has neither '=' nor '(', or
// follows name=. A '-' is a minus, or of the system's name.
bool NamedEvents::hides_one_of_part(std::string_view part) const {
  if (part.find_first_of("=(") == part.npos || part.starts_with("name=")) return false;
  for (std::size_t i = part.find('.'); i != part.npos; i = part.find('.', i + 1)) {
    const std::string_view name = name_from(part, i + 1);
    std::string_view system = name_before(part, i);
    for (;;) {
      if (hides(system, name)) return true;
      const std::size_t minus = system.find('-');
      if (minus == system.npos) break;
      system.remove_prefix(minus + 1);
    }
  }
  return false;
}

bool NamedEvents::hides_one_of(const TriggerCommand& command) const {
  if (scope_ == Scope::kAll) return false;
  std::string_view rest = command.parameters;
  const std::size_t colon = std::min(rest.find(':'), rest.size());
  if (has_target(command.kind)) {
    return hides(rest.substr(0, colon), name_from(rest, colon + 1));
  }
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(':'));
    if (hides_one_of_part(part)) return true;
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  }
  return false;
}

}  // namespace tallyfs::tracing
