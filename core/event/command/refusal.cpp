#include "core/event/command/refusal.h"

namespace tallyfs {

Error to_error(const Refusal& refusal) {
  Error error = refusal.error;
  error.location = refusal.location;
  error.text = refusal.command;
  return error;
}

}  // namespace tallyfs
