#include "core/branch/branch.h"

#include <string>

namespace tallyfs {
namespace {

struct NamedKind {
  SavedKind kind;
  const char* name;
};

constexpr NamedKind kNamedKinds[] = {
    {SavedKind::kInterface, "interface"},
    {SavedKind::kRule, "rule"},
    {SavedKind::kTemplate, "template"},
    {SavedKind::kSubsystem, "subsystem"},
    {SavedKind::kStatsObject, "stats object"},
    {SavedKind::kProgramEvent, "event of a program"},
    {SavedKind::kKernelEvent, "event of the kernel"},
    {SavedKind::kSyntheticEvent, "synthetic event"},
    {SavedKind::kTracingInstance, "tracing directory"},
    {SavedKind::kTrigger, "trigger"},
    {SavedKind::kHistogram, "histogram"},
    {SavedKind::kEventSettings, "enable and filter of"},
    {SavedKind::kLatencies, "latency directory"},
    {SavedKind::kKernelLatencies, "kernel's latency directory"},
    {SavedKind::kLatencySwitches, "switches of latency_hist"},
    {SavedKind::kErrorLog, "log"},
    {SavedKind::kFedInterface, "interface"},
    {SavedKind::kStatisticNumbers, "table of numbers"},
    {SavedKind::kStatsNumbers, "table of numbers"},
    {SavedKind::kProgramEventNumbers, "table of numbers"},
    {SavedKind::kFedSubsystem, "subsystem"},
    {SavedKind::kFedStatsObject, "stats object"},
    {SavedKind::kTellers, "feeders of template"},
    {SavedKind::kFedEvent, "event of a program"},
    {SavedKind::kPages, "pages"},
    {SavedKind::kProcesses, "processes"},
    {SavedKind::kLanes, "lanes"},
    {SavedKind::kSenders, "senders"},
    {SavedKind::kLateDatagram, "datagram"},
    {SavedKind::kNodes, "numbers of names"},
    {SavedKind::kCachedDirectories, "directories that the kernel knows"},
    {SavedKind::kHandles, "numbers of open files"},
    {SavedKind::kOpenFile, "open file"},
    {SavedKind::kTrace, "records of"},
};

}  // namespace

Result<Done> Branch::take(const wire::Message&, Call&) {
  return Error{ErrorCode::kInvalid, "this branch takes no messages"};
}

void Branch::process_ended(pid_t, Moment) {}

const char* name_of(SavedKind kind) {
  for (const NamedKind& each : kNamedKinds) {
    if (each.kind == kind) return each.name;
  }
  return "object";
}

Error other_format(const SavedObject& object) {
  return {ErrorCode::kInvalid, "it has the format " + std::to_string(object.format) +
                                   ", which this version does not read"};
}

void Branch::save(ObjectSink&) const {}

void Branch::hand_on(ObjectSink& sink, Moment) { save(sink); }

std::uint64_t Branch::stamp(Moment) const { return 0; }

Result<void> Branch::load(const SavedObject&, const Loading&) {
  return Error{ErrorCode::kInvalid, "this branch saves nothing"};
}

}  // namespace tallyfs
