// The tracing/ branch: the tracing directory (Tracing), the events of user programs (UserEvents)
// and the messages of the kernel's feeder (KernelFeed). It passes each line and message to one of
// these. Definitions, triggers and histograms outlive the daemon. Traced records do not: like the
// kernel's, a trace ends with its daemon.
//
// Thread-safe, as its parts are.
#pragma once

#include <cstddef>
#include <optional>

#include "core/branch/branch.h"
#include "core/branch/branch_dependencies.h"
#include "core/tracing/branch/kernel_feed.h"
#include "core/tracing/branch/tracing.h"
#include "core/tracing/branch/user_events.h"

namespace tallyfs::tracing {

class TracingBranch final : public Branch {
 public:
  static constexpr std::size_t kSwitches = UserEvents::kEventsMax;

  struct Options {
    Tracing::Options tracing = {};
    BranchDependencies dependencies = {};
    // Outlives the branch; nullptr: the kernel's events are not read.
    EventSource* kernel = nullptr;
  };

  // Fills the directory `directory`. Tree and ledger outlive the branch.
  TracingBranch(Tree& tree, NodeId directory, Ledger& ledger, const Options& options,
                Timestamp now);

  Handled handles() const override {
    return {.lines = kLines<wire::EventLine>,
            .messages = kMessages<wire::PackedEvents, wire::OfferedEvent, wire::LostEvents>,
            .objects = saved_kinds(
                SavedKind::kProgramEvent, SavedKind::kKernelEvent, SavedKind::kSyntheticEvent,
                SavedKind::kTracingInstance, SavedKind::kTrigger, SavedKind::kHistogram,
                SavedKind::kEventSettings, SavedKind::kErrorLog, SavedKind::kFedEvent,
                SavedKind::kProgramEventNumbers, SavedKind::kTrace, SavedKind::kProbe)};
  }
  Result<Done> execute(const wire::Line& line, Call& call) override;
  Result<Done> take(const wire::Message& message, Call& call) override;
  bool process_ended(pid_t process, Timestamp now, const IsLate& is_late = never_late) override;
  void save(ObjectSink& sink) const override;
  bool has_long_contents() const override { return true; }
  void save_for_successor(ObjectSink& sink, Timestamp now) override;
  std::uint64_t stamp(Timestamp now) const override;
  Result<void> load(const SavedObject& object, const Loading& loading) override;

  Tracing& tracing() { return tracing_; }
  UserEvents& user_events() { return user_events_; }
  // Nullptr: the kernel's events are not read.
  KernelFeed* kernel() { return kernel_ ? &*kernel_ : nullptr; }

 private:
  Result<void> feed(wire::PackedEvents records, const Call& call);

  Tracing tracing_;
  UserEvents user_events_;
  std::optional<KernelFeed> kernel_;
};

}  // namespace tallyfs::tracing
