// What the commands for statistics and for interfaces have in common: places in a command, and
// reasons. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/text.h"
#include "core/wire/line.h"

namespace tallyfs {

// Where in the line what follows the target begins.
inline std::size_t rest_at(const wire::CommandLine& command) {
  const auto word = Tokens(command.rest.text).next();
  return command.rest.at + (word ? word->at : 0);
}

// Text of a sender in a reason.
inline std::string shown(std::string_view text) {
  constexpr std::size_t kBytesShown = 512;
  std::string escaped;
  append_escaped(escaped, text, kBytesShown, 0);
  return escaped;
}

inline Error own_interface(std::size_t at) {
  return {ErrorCode::kBusy, "this interface holds the daemon's own numbers", at};
}

}  // namespace tallyfs
