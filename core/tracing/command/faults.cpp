#include "core/tracing/command/faults.h"

namespace tallyfs::tracing {

Error Fault::in(std::string location, std::string command) const {
  const std::size_t found = token.empty() ? at : command.find(token);
  return {.code = code,
          .reason = std::string(reason),
          .token_at = found == std::string::npos ? 0 : found,
          .location = std::move(location),
          .text = std::move(command)};
}

}  // namespace tallyfs::tracing
