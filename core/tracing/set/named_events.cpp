#include "core/tracing/set/named_events.h"

#include <algorithm>

namespace tallyfs {
namespace {

constexpr std::string_view kNameBytes =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

std::string_view name_before(std::string_view text, std::size_t end) {
  const std::size_t before = text.substr(0, end).find_last_not_of(kNameBytes);
  const std::size_t begin = before == text.npos ? 0 : before + 1;
  return text.substr(begin, end - begin);
}

std::string_view name_from(std::string_view text, std::size_t begin) {
  return text.substr(begin, text.find_first_not_of(kNameBytes, begin) - begin);
}

}  // namespace

bool NamedEvents::hides_one_of(std::string_view shown) const {
  if (scope_ == Scope::kAll) return false;
  for (std::size_t i = shown.find_first_of(".:"); i != shown.npos;
       i = shown.find_first_of(".:", i + 1)) {
    const auto number = events_.find(name_before(shown, i), name_from(shown, i + 1));
    if (number && hides(events_.at(*number))) return true;
  }
  return false;
}

}  // namespace tallyfs
