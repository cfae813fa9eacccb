#include "core/branch/branch.h"

namespace tallyfs {

Result<Done> Branch::take(const wire::Message&, Call&) {
  return Error{ErrorCode::kInvalid, "this branch takes no messages"};
}

void Branch::process_ended(pid_t, Moment) {}

void Branch::save(ByteWriter&) const {}

Result<void> Branch::load(ByteReader&, Moment) { return {}; }

}  // namespace tallyfs
