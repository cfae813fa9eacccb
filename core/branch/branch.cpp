#include "core/branch/branch.h"

#include <string>

namespace tallyfs {

Result<Done> Branch::take(const wire::Message&, Call&) {
  return Error{ErrorCode::kInvalid, "this branch takes no messages"};
}

bool Branch::process_ended(pid_t, Timestamp, const IsLate&) { return true; }

// A file of another version may have kinds that this one does not know.
// clang-format off
const char* name_of(SavedKind kind) {
  switch (kind) {
    case SavedKind::kInterface: return "interface";
    case SavedKind::kRule: return "rule";
    case SavedKind::kTemplate: return "template";
    case SavedKind::kSubsystem: return "subsystem";
    case SavedKind::kStatsObject: return "stats object";
    case SavedKind::kProgramEvent: return "event of a program";
    case SavedKind::kKernelEvent: return "event of the kernel";
    case SavedKind::kSyntheticEvent: return "synthetic event";
    case SavedKind::kTracingInstance: return "tracing directory";
    case SavedKind::kTrigger: return "trigger";
    case SavedKind::kHistogram: return "histogram";
    case SavedKind::kEventSettings: return "enable and filter of";
    case SavedKind::kLatencies: return "latency directory";
    case SavedKind::kKernelLatencies: return "kernel's latency directory";
    case SavedKind::kLatencySwitches: return "switches of latency_hist";
    case SavedKind::kErrorLog: return "log";
    case SavedKind::kFedInterface: return "interface";
    case SavedKind::kStatisticNumbers: return "table of numbers";
    case SavedKind::kStatsNumbers: return "table of numbers";
    case SavedKind::kProgramEventNumbers: return "table of numbers";
    case SavedKind::kFedSubsystem: return "subsystem";
    case SavedKind::kFedStatsObject: return "stats object";
    case SavedKind::kTellers: return "feeders of template";
    case SavedKind::kFedEvent: return "event of a program";
    case SavedKind::kPages: return "pages";
    case SavedKind::kProcesses: return "processes";
    case SavedKind::kLanes: return "lanes";
    case SavedKind::kSenders: return "senders";
    case SavedKind::kLateDatagram: return "datagram";
    case SavedKind::kLaneRings: return "lanes' rings";
    case SavedKind::kUnseenProcesses: return "unseen processes";
    case SavedKind::kLaneBindings: return "bindings of lane";
    case SavedKind::kFedChanges: return "changes of interface";
    case SavedKind::kJournal: return "journal";
    case SavedKind::kNodes: return "numbers of names";
    case SavedKind::kCachedDirectories: return "directories that the kernel knows";
    case SavedKind::kHandles: return "numbers of open files";
    case SavedKind::kOpenFile: return "open file";
    case SavedKind::kTrace: return "records of";
    case SavedKind::kKept: return "time of the memory";
    case SavedKind::kProbe: return "probe";
  }
  return "object";
}
// clang-format on

Error other_format(const SavedObject& object) {
  return {ErrorCode::kInvalid, "it has the format " + std::to_string(object.format) +
                                   ", which this version does not read"};
}

void Branch::save(ObjectSink&) const {}

Branch::SavedAt Branch::save_at(std::string_view, ObjectSink&, Timestamp) const {
  return SavedAt::kAll;
}

void Branch::save_for_successor(ObjectSink& sink, Timestamp) { save(sink); }

std::uint64_t Branch::stamp(Timestamp) const { return 0; }

Result<void> Branch::load(const SavedObject&, const Loading&) {
  return Error{ErrorCode::kInvalid, "this branch saves nothing"};
}

Result<void> Branch::end_loading(const Loading&) { return {}; }

}  // namespace tallyfs
