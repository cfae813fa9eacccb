#include "core/event/command/faults.h"

namespace tallyfs {

Refusal Fault::in(std::string location, std::string command) const {
  const std::size_t found = command.find(token);
  Error error{code, std::string(reason), found == std::string::npos ? 0 : found};
  return {std::move(error), std::move(location), std::move(command)};
}

}  // namespace tallyfs
