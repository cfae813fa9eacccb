// The state of stats/ that a successor continues with: templates with the processes that have
// registered them; subsystems and objects with their numbers, feeders and demand
// (core/state/FORMAT.md).
//
// Functions without state. What takes or changes Subsystems needs the branch's lock; what puts a
// list of them into a sink is called without it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/branch/saved_object.h"
#include "core/stats3/branch/feeder_templates.h"
#include "core/stats3/branch/stats_object.h"
#include "core/stats3/branch/subsystem_rates.h"
#include "core/stats3/branch/subsystems.h"
#include "core/tree/tree.h"

namespace tallyfs::stats3 {

// A subsystem or an object on its way to the next server. It may be removed meanwhile.
struct TransferredEntry {
  NodeId node = 0;
  SavedKind kind = SavedKind::kFedSubsystem;
  std::string label{};
  std::string head{};  // what the branch knows of it
  // Either is shared with the subsystem or object, and with its files.
  std::shared_ptr<const SubsystemRates> rates{};
  std::shared_ptr<const StatsObject> object{};
};

// In the order in which they came: a subsystem before its objects.
std::vector<TransferredEntry> list_handed(const Subsystems& subsystems);
// The table of numbers, as bytes.
std::string handed_numbers(const Subsystems& subsystems);
// Both are false when the sink takes no more.
bool put_handed_templates(const FeederTemplates& templates, ObjectSink& sink);
bool put_handed(const std::vector<TransferredEntry>& entries, ObjectSink& sink);
// Behind all of these.
void put_handed_numbers(std::string_view numbers, ObjectSink& sink);
// A stamp of the state that only a successor loads: feeders, and objects that end with their
// feeder.
std::uint64_t feeders_stamp(const Subsystems& subsystems);

// kInvalid: no such object is handed on; kExists, kNotFound, kNoSpace.
Result<void> load_tellers(FeederTemplates& templates, const SavedObject& object,
                          const Loading& loading);
Result<void> load_fed_subsystem(Subsystems& subsystems, const SavedObject& object,
                                const Loading& loading);
Result<void> load_fed_object(Subsystems& subsystems, const SavedObject& object,
                             const Loading& loading);
Result<void> load_numbers(Subsystems& subsystems, const SavedObject& object,
                          const Loading& loading);

}  // namespace tallyfs::stats3
