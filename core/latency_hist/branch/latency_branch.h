// The tracing/latency_hist branch: what the kernel's events tell, as enable/ has it, and one
// directory for each name under which programs feed latencies of their own.
//
// Thread-safe. One lock over what the kernel's events fill, one for each fed directory, one over
// the names of those; none is held while another one is taken but Tree's and Ledger's, or while the
// feeder of the kernel's events is asked for something. Histograms, their records and what is
// enabled outlive the daemon; measurements that are under way do not.
#pragma once

#include <sys/types.h>

#include <boost/unordered/unordered_flat_map.hpp>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/base/ledger.h"
#include "core/base/mutex.h"
#include "core/base/result.h"
#include "core/branch/branch.h"
#include "core/branch/ownership.h"
#include "core/latency_hist/branch/kernel_source.h"
#include "core/latency_hist/branch/latency_files.h"
#include "core/latency_hist/engine/kernel_latencies.h"
#include "core/model/kernel_event.h"
#include "core/model/latency_sample.h"
#include "core/tree/tree.h"

namespace tallyfs::latency_hist {

class LatencyBranch final : public Branch {
 public:
  struct Options {
    unsigned cpus = 1;               // that this machine could have
    uid_t owner = 0;                 // like root, may feed the kernel's events
    KernelSource* source = nullptr;  // outlives the branch; nullptr: there is none
    // Has a line logged: that histograms of the kernel's events fall short. On any thread, with no
    // lock held.
    std::function<void(const std::string&)> warn = [](const std::string&) {};
    std::uint64_t epoch = 0;  // of the daemon
  };

  // Enters latency_hist/ below `tracing`. Tree and ledger outlive it, it outlives the tree's files.
  LatencyBranch(Tree& tree, NodeId tracing, Ledger& ledger, const Options& options, Timestamp now);
  ~LatencyBranch() override;

  Handled handles() const override {
    return {.lines = kLines<wire::LatencyLine>,
            .messages = kMessages<wire::KernelEvents, wire::Latencies>,
            .objects = saved_kinds(SavedKind::kLatencies, SavedKind::kKernelLatencies,
                                   SavedKind::kLatencySwitches)};
  }
  Result<Done> execute(const wire::Line& line, Call& call) override EXCLUDES(fed_mutex_);
  Result<Done> take(const wire::Message& message, Call& call) override
      EXCLUDES(kernel_mutex_, fed_mutex_);

  void save(ObjectSink& sink) const override EXCLUDES(kernel_mutex_, fed_mutex_);
  SavedAt save_at(std::string_view path, ObjectSink& sink, Timestamp now) const override;
  std::uint64_t stamp(Timestamp now) const override EXCLUDES(kernel_mutex_, fed_mutex_);
  Result<void> load(const SavedObject& object, const Loading& loading) override
      EXCLUDES(kernel_mutex_, fed_mutex_);

  // The kernel's events, in the order of their times. kNotPermitted: not from this uid.
  Result<void> take(std::span<const KernelEvent> events, uid_t sender, Timestamp now)
      EXCLUDES(kernel_mutex_);
  // Latencies of a program, into the directory of this name, which comes into being; lost: so many
  // that belong there have been dropped on their way. Returns how many of several were refused,
  // since there is no such CPU. kInvalid: no name, one of the kernel's, or all were refused.
  // kNoSpace: a quota of the uid. kNotPermitted: another uid has fed it first, and the sender is
  // neither root nor the owner.
  Result<std::size_t> add(std::string_view name, std::span<const LatencySample> samples,
                          std::uint64_t lost, uid_t sender, Timestamp now) EXCLUDES(fed_mutex_);
  // Allowed to the uid that fed it first, root and the owner. kNotFound, kBusy, kNotPermitted.
  Result<void> reset(std::string_view name, uid_t sender, Timestamp now) EXCLUDES(fed_mutex_);
  Result<void> remove(std::string_view name, uid_t sender, Timestamp now) EXCLUDES(fed_mutex_);
  // rmdir of a directory that programs feed. kBusy, kNotFound.
  Result<void> remove_directory(std::string_view name, Timestamp now) EXCLUDES(fed_mutex_);

  WantedEvents wanted() const EXCLUDES(kernel_mutex_);
  // The feeder of the events has ended, or is another one: some events are missing.
  void feeder_changed(Timestamp now) EXCLUDES(kernel_mutex_);
  // Another feeder than that which was switched on cannot do what is wanted: all goes off.
  void feeder_refused(Timestamp now) EXCLUDES(kernel_mutex_);

 private:
  static Error no_such_cpu();
  class Rules;
  class Switching;
  class KernelSet;
  class FedSet;
  struct FedDirectory {
    std::shared_ptr<LockedLatencies> latencies;  // shared with its files in the tree
    NodeId node = 0;
    uid_t creator = 0;
  };

  void enter_enable(Timestamp now);
  void enter_kernel_directories(Timestamp now);
  // The directories that programs feed, in the order in which they came.
  struct Fed {
    std::string name;
    FedDirectory directory;
  };
  std::vector<Fed> fed() const EXCLUDES(fed_mutex_);
  bool save_kernel(ObjectSink& sink) const EXCLUDES(kernel_mutex_);
  Result<void> load_fed(const SavedObject& object, const Loading& loading) EXCLUDES(fed_mutex_);
  Result<void> load_kernel(const SavedObject& object, const Loading& loading)
      EXCLUDES(kernel_mutex_);
  Result<void> load_switches(const SavedObject& object, const Loading& loading)
      EXCLUDES(kernel_mutex_);

  NodeId enter_kernel_directory(NodeId parent, std::string_view name, Latencies which,
                                MaxLatencyFiles files, Timestamp now);
  void enter_switch(NodeId directory, std::string_view name, Measuring what, Timestamp now);
  void enter_pid(NodeId directory, Measuring what, Timestamp now);

  std::int64_t enabled(Measuring what) const EXCLUDES(kernel_mutex_);
  Result<void> enable(Measuring what, std::string_view line, const CallContext& call)
      EXCLUDES(kernel_mutex_);
  pid_t selected(Measuring what) const EXCLUDES(kernel_mutex_);
  Result<void> select(Measuring what, std::string_view line, const CallContext& call)
      EXCLUDES(kernel_mutex_);
  Timestamp last_switch() const EXCLUDES(kernel_mutex_);
  void note_switch(Timestamp now) REQUIRES(kernel_mutex_) {
    last_switch_ = now;
    ++switches_;
  }
  void opened(const CallContext& call) EXCLUDES(kernel_mutex_);
  void take_kernel(std::span<const KernelEvent> events, Timestamp now) EXCLUDES(kernel_mutex_);
  Result<void> ask_source(const CancellationToken& cancel);
  Result<void> may_change(const FedDirectory& directory, uid_t sender) const;
  // Finds the directory if the sender may change it. The errors are those of reset().
  Result<FedDirectory*> find_for(std::string_view name, uid_t sender) REQUIRES(fed_mutex_);
  Result<std::shared_ptr<LockedLatencies>> find_or_create(std::string_view name, uid_t creator,
                                                          Timestamp now) EXCLUDES(fed_mutex_);

  Tree& tree_;
  Ledger& ledger_;
  const Options options_;
  const Ownership ownership_;
  NodeId directory_ = 0;

  mutable Mutex kernel_mutex_{LockRank::kKernelLatencies};
  KernelLatencies kernel_ GUARDED_BY(kernel_mutex_);
  // A write to enable/ or a pid is waiting for the feeder. Other writes wait: a refused write is
  // undone, and that must not undo half of another write.
  bool is_switching_ GUARDED_BY(kernel_mutex_) = false;
  std::condition_variable_any switched_;          // waits on kernel_mutex_
  Timestamp last_switch_ GUARDED_BY(kernel_mutex_);  // the last write to enable/ or a pid
  std::uint64_t switches_ GUARDED_BY(kernel_mutex_) = 0;

  mutable Mutex fed_mutex_{LockRank::kFedLatencies};
  boost::unordered_flat_map<std::string, FedDirectory> fed_ GUARDED_BY(fed_mutex_);
};

}  // namespace tallyfs::latency_hist
