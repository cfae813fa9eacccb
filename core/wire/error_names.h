// The names of the failures that the daemon's processes tell one another: "EBUSY". Constants.
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include "core/base/result.h"

namespace tallyfs::wire {

struct NamedCode {
  std::string_view name;
  ErrorCode code;
};
inline constexpr NamedCode kNamedCodes[] = {
    {"ENODEV", ErrorCode::kNoDevice}, {"EACCES", ErrorCode::kNoAccess},
    {"EBUSY", ErrorCode::kBusy},      {"EINVAL", ErrorCode::kInvalid},
    {"ENOENT", ErrorCode::kNotFound}, {"EEXIST", ErrorCode::kExists},
    {"ENOSPC", ErrorCode::kNoSpace},  {"EPERM", ErrorCode::kNotPermitted}};

// The first of them for a code that has no name.
constexpr std::string_view name_of(ErrorCode code) {
  const auto* const found = std::ranges::find(kNamedCodes, code, &NamedCode::code);
  return found == std::end(kNamedCodes) ? kNamedCodes[0].name : found->name;
}

// nullopt: it is none of the names.
constexpr std::optional<ErrorCode> code_of(std::string_view name) {
  const auto* const found = std::ranges::find(kNamedCodes, name, &NamedCode::name);
  return found == std::end(kNamedCodes) ? std::nullopt : std::optional(found->code);
}

}  // namespace tallyfs::wire
