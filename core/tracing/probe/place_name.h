// Places by name: `PATH:SYMBOL`, `PATH:SYMBOL+OFFSET`, `PATH:ns::f`, `PATH:PROVIDER:NAME`, and the
// first three with `%return` at their end. The path ends at the first `:`. A symbol may end with
// its version, `f@V`. Values and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace tallyfs::tracing {

enum class ProbeKind : char { kEntry = 'p', kReturn = 'r' };

// Ends a place of a p: line that means the return.
inline constexpr std::string_view kReturnSuffix = "%return";

struct PlaceName {
  ProbeKind kind = ProbeKind::kEntry;
  std::string path;
  std::string provider;  // of a marker; empty: it is a function
  std::string name;      // of the function as it was written, without version, or of the marker
  std::string version;   // empty: the default one
  std::optional<std::uint64_t> offset;
  std::size_t name_at = 0;  // the byte of the place at which the name begins

  bool is_marker() const { return !provider.empty(); }
};

// Whether it is no place of the kernel's: it has a `/`, and no digit follows its last `:`.
bool is_place_name(std::string_view place);
// kind: of the line; with `%return` it is kReturn in any case. kInvalid, with the byte of the place
// that is wrong.
Result<PlaceName> parse_place_name(std::string_view place, ProbeKind kind);
// The name of the event, if the line gives none: `p_BASE_SYMBOL`, `r_BASE_SYMBOL` or
// `PROVIDER_NAME`, cut to the longest name that there may be.
std::string default_event(const PlaceName& place);

}  // namespace tallyfs::tracing
