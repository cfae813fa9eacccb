#include "core/tracing/probe/place_name.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "core/tracing/probe/letters.h"
#include "core/tracing/probe/probe_line.h"

namespace tallyfs::tracing {
namespace {

// Takes the offset after the last `+`, unless that is a part of the name, as in `operator+`.
Result<void> take_offset(std::string_view& name, PlaceName& place) {
  const std::size_t plus = name.rfind('+');
  if (plus == name.npos || plus + 1 == name.size() || !is_digit(name[plus + 1])) return {};
  place.offset = parse_unsigned(name.substr(plus + 1));
  if (!place.offset) return invalid("an offset is a number", place.name_at + plus + 1);
  name = name.substr(0, plus);
  return {};
}

Result<void> take_function(std::string_view name, PlaceName& place) {
  if (auto done = take_offset(name, place); !done) return done;
  if (place.kind == ProbeKind::kReturn && place.offset.value_or(0) != 0) {
    return invalid("a return is one of the function: it has no offset", place.name_at);
  }
  const std::size_t at = name.find('@');
  if (at != name.npos) {
    place.version = name.substr(name.substr(at).starts_with("@@") ? at + 2 : at + 1);
    if (place.version.empty()) return invalid("a version is missing", place.name_at + at + 1);
    name = name.substr(0, at);
  }
  place.name = name;
  if (place.name.empty()) return invalid("a function's name is missing", place.name_at);
  const std::size_t parameters = place.name.find('(');
  if (parameters == place.name.npos) return {};
  return invalid("a function's name stands without its parameters", place.name_at + parameters);
}

Result<void> take_marker(std::string_view name, std::size_t colon, PlaceName& place) {
  if (place.kind == ProbeKind::kReturn) return invalid("a marker has no return", place.name_at);
  place.provider = name.substr(0, colon);
  place.name = name.substr(colon + 1);
  if (place.provider.empty()) return invalid("a marker's provider is missing", place.name_at);
  if (place.name.find(':') != place.name.npos) {
    return invalid("a marker is PROVIDER:NAME", place.name_at + colon + 1);
  }
  if (!place.name.empty()) return {};
  return invalid("a marker's name is missing", place.name_at + colon + 1);
}

}  // namespace

bool is_place_name(std::string_view place) {
  const std::size_t colon = place.rfind(':');
  const bool is_place = place.find('/') != place.npos && colon != place.npos;
  return is_place && (colon + 1 == place.size() || !is_digit(place[colon + 1]));
}

Result<PlaceName> parse_place_name(std::string_view place, ProbeKind kind) {
  PlaceName named{.kind = kind, .path = {}, .provider = {}, .name = {}, .version = {}};
  const std::size_t colon = place.find(':');
  if (colon == place.npos) return invalid("a place is PATH:OFFSET or PATH:FUNCTION", 0);
  named.path = place.substr(0, colon);
  if (!named.path.starts_with('/')) return invalid("a path begins with /", 0);
  named.name_at = colon + 1;
  std::string_view name = place.substr(colon + 1);
  if (name.ends_with(kReturnSuffix)) {
    named.kind = ProbeKind::kReturn;
    name.remove_suffix(kReturnSuffix.size());
  }
  const std::size_t provider = name.find(':');
  const bool is_function = provider == name.npos || name.substr(provider).starts_with("::");
  auto done = is_function ? take_function(name, named) : take_marker(name, provider, named);
  if (!done) return done.error();
  return named;
}

std::string default_event(const PlaceName& place) {
  std::string name = place.provider + "_" + place.name;
  if (!place.is_marker()) {
    std::string_view base = place.path;
    base.remove_prefix(base.rfind('/') + 1);
    base = base.substr(0, base.find_first_of(".-_"));
    name =
        std::string(1, static_cast<char>(place.kind)) + "_" + std::string(base) + "_" + place.name;
    if (place.offset) append_hex(name += "_", *place.offset);
  }
  std::ranges::replace_if(
      name, [](char c) { return !is_of_name(c); }, '_');
  if (is_digit(name.front())) name.front() = '_';
  return name.substr(0, kProbeNameBytesMax);
}

}  // namespace tallyfs::tracing
