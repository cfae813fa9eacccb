// The state of stats/ that outlives the daemon: templates, subsystems and objects of a state file
// (core/state/FORMAT.md). Numbers are not saved, nor which process publishes what.
//
// Functions without state. What takes or changes Subsystems needs the branch's lock; what puts a
// list of them into a sink is called without it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/branch/saved_object.h"
#include "core/stats3/branch/feeder_templates.h"
#include "core/stats3/branch/stats_object.h"
#include "core/stats3/branch/subsystem_rates.h"
#include "core/stats3/branch/subsystems.h"
#include "core/tree/tree.h"

namespace tallyfs::stats3 {

// The version of the contents of all kinds that stats/ saves or hands on.
inline constexpr std::uint16_t kSavedFormat = 1;

// One subsystem or object on its way into a file. It may be removed meanwhile.
struct SavedEntry {
  NodeId node = 0;
  std::string label;
  uid_t uid = 0;
  // Either is shared with the subsystem or object, and with its files.
  std::shared_ptr<SubsystemRates> rates;
  std::shared_ptr<StatsObject> object;
};

// All but objects with lifetime=feeder.
std::vector<SavedEntry> list_saved(const Subsystems& subsystems);
// Both are false when the sink takes no more. put_saved() puts entries in the order in which they
// came: a subsystem before its objects.
bool put_template(const FeederTemplates::Saved& saved, ObjectSink& sink);
bool put_saved(std::vector<SavedEntry> entries, ObjectSink& sink);
// Another number whenever put_saved() puts something else.
std::uint64_t stamp_of(const std::vector<SavedEntry>& entries);

// kInvalid: put_template() or put_saved() puts no such object; kExists, kNotFound, kNoSpace.
Result<void> load_template(FeederTemplates& templates, const SavedObject& object, Timestamp now);
Result<void> load_subsystem(Subsystems& subsystems, const SavedObject& object, Timestamp now);
Result<void> load_object(Subsystems& subsystems, const SavedObject& object, Timestamp now);

}  // namespace tallyfs::stats3
