#include "core/branch/branch.h"

#include <string>

namespace tallyfs {

Result<Done> Branch::take(const wire::Message&, Call&) {
  return Error{ErrorCode::kInvalid, "this branch takes no messages"};
}

void Branch::process_ended(pid_t, Moment) {}

const char* name_of(SavedKind kind) {
  switch (kind) {
    case SavedKind::kInterface:
      return "interface";
    case SavedKind::kRule:
      return "rule";
    case SavedKind::kTemplate:
      return "template";
    case SavedKind::kSubsystem:
      return "subsystem";
    case SavedKind::kStatsObject:
      return "stats object";
  }
  return "object";
}

Error other_format(const SavedObject& object) {
  return {ErrorCode::kInvalid, "it has the format " + std::to_string(object.format) +
                                   ", which this version does not read"};
}

void Branch::save(ObjectSink&) const {}

std::uint64_t Branch::stamp(Moment) const { return 0; }

Result<void> Branch::load(const SavedObject&, const Loading&) {
  return Error{ErrorCode::kInvalid, "this branch saves nothing"};
}

}  // namespace tallyfs
