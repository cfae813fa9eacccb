// The nodes of the instances in the tree. The directories of systems and events are many and mostly
// unused. So they and their files are entered into the tree when a person looks into the directory
// above them. After that they follow the events of the set.
// Confined to the lock of Tracing's State; takes the tree's lock.
#pragma once

#include <string>

#include "core/tracing/branch/instances.h"
#include "core/tracing/branch/probes.h"
#include "core/tree/tree.h"

namespace tallyfs::tracing {

class InstanceAccess;

class InstanceDirectories {
 public:
  // All outlive it.
  InstanceDirectories(Tree& tree, const Instances& instances, const Probes& probes,
                      Tracing::State& state)
      : tree_(tree), instances_(instances), probes_(probes), state_(state) {}

  // directory: a node that the top fills.
  void enter_top(NodeId directory, Timestamp now);
  // An instance of instances/.
  void enter(const SharedInstance& instance, Timestamp now);
  void remove(const TracingInstance& instance, Timestamp now) {
    tree_.remove(instance.nodes.directory, now);
  }

  // Called after events were defined or removed; path: only this event.
  void update_all(Timestamp now);
  void update_all(const EventPath& path, Timestamp now);

  // Called when a person looks into events/, a system or an event.
  void fill_events(const SharedInstance& instance, Timestamp now);
  void fill_system(const SharedInstance& instance, const std::string& system, Timestamp now);
  void fill_event(const SharedInstance& instance, const EventPath& path, Timestamp now);

 private:
  using View = std::shared_ptr<const InstanceAccess>;

  View view_of(const SharedInstance& instance) const;
  void enter_files(const SharedInstance& instance, Timestamp now);
  void enter_cpus(const SharedInstance& instance, const View& view, Timestamp now);
  void enter_options(const SharedInstance& instance, const View& view, Timestamp now);
  void update(const SharedInstance& instance, Timestamp now);
  void update(const SharedInstance& instance, const EventPath& path, Timestamp now);
  void update_system(const SharedInstance& instance, const std::string& system, Timestamp now);
  void enter_system(const SharedInstance& instance, const std::string& system, Timestamp now);
  void enter_event(const SharedInstance& instance, const EventPath& path, Timestamp now);

  Tree& tree_;
  const Instances& instances_;
  const Probes& probes_;
  Tracing::State& state_;
  NodeId instances_directory_ = 0;
};

}  // namespace tallyfs::tracing
