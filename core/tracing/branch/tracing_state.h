// The implementation of Tracing: one lock, the parts under it, and the operations that take the
// lock. Each part has one duty, a class and a header of its own, and no lock.
//
// Thread-safe. The lock is held while a run of records is fed. It is not held while a virtual
// function of a source is called, nor while a text is made of a copy.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/call_context.h"
#include "core/base/mutex.h"
#include "core/tracing/branch/event_offers.h"
#include "core/tracing/branch/event_routes.h"
#include "core/tracing/branch/instance_directories.h"
#include "core/tracing/branch/instances.h"
#include "core/tracing/branch/probes.h"
#include "core/tracing/branch/readings.h"
#include "core/tracing/branch/record_sequencer.h"
#include "core/tracing/branch/source_requests.h"
#include "core/tracing/branch/source_symbols.h"
#include "core/tracing/branch/task_groups.h"
#include "core/tracing/branch/tracing.h"

namespace tallyfs::tracing {

// The kind of text that is written into trace_marker, and into trace_marker_raw.
enum class MarkerKind { kText, kRaw };

struct Tracing::State : public std::enable_shared_from_this<Tracing::State> {
  using Write = std::function<Result<void>(EventSet&)>;
  using Undo = std::function<void(EventSet&)>;

  // The tree and the ledger outlive it.
  State(Tree& tree, Ledger& ledger, const Options& given);

  // --- Changes, which files call.
  // Drains the sources, so that the write has its place among the records; then writes, and asks
  // the sources for the events that the write needs. If a source refuses, undo reverts the write;
  // without an undo the refusal is ignored. Then removes events that existed only because something
  // was set on them.
  Result<void> change(TracingInstance& instance, const CallContext& call, const Write& write,
                      const Undo& undo = {}) EXCLUDES(mutex);
  // change() without sweep().
  Result<void> change_only(TracingInstance& instance, const CallContext& call, const Write& write,
                           const Undo& undo = {}) EXCLUDES(mutex);
  void sweep(Timestamp now) EXCLUDES(mutex);
  // A synthetic event belongs to all instances, as in the kernel. removed: the name of the event,
  // "*" for all, empty for a definition. An event that is in use in any instance is removed from
  // none.
  Result<void> change_synthetic(const Write& write, std::string_view removed, Timestamp now)
      EXCLUDES(mutex);
  // kInvalid: options/markers is off.
  Result<void> mark(TracingInstance& instance, MarkerKind kind, std::string_view bytes,
                    pid_t writer, Timestamp now) EXCLUDES(mutex);
  Result<void> make_instance(std::string_view name, Timestamp now) EXCLUDES(mutex);
  Result<void> remove_instance(std::string_view name, Timestamp now) EXCLUDES(mutex);

  // --- Sources.
  // Feeds the records that the sources have so far; only: as far as they matter to this instance.
  // Sources that are asked for nothing are not drained. A late source is drained for other
  // instances as well while records of the instance may be pending for it.
  void refresh(const CallContext& call, const TracingInstance* only = nullptr) EXCLUDES(mutex);
  // Asks the sources for the events that are wanted of them now.
  Result<void> give(const SourceRequests& orders, const CancellationToken& cancel) EXCLUDES(mutex);
  std::vector<WantedEvent> wanted(EventSource& source) EXCLUDES(mutex);
  SourceSymbols symbols(const CancellationToken& cancel) EXCLUDES(mutex);
  // The text of the file of that name.
  std::string printk_formats(const CancellationToken& cancel) EXCLUDES(mutex);
  // Looks up the processes of threads that note_groups() has found, without the lock.
  void look_up_groups(Timestamp now) EXCLUDES(mutex);
  bool has_kernel_events() EXCLUDES(mutex);
  // For what happens outside of calls: the end of a file's holding.
  Timestamp now() const { return options.clock ? options.clock->now() : SystemClock().now(); }

  // Called by the operations above, and by Tracing's operations.
  SourceRequests enter_demands(TracingInstance& instance, Timestamp now) REQUIRES(mutex);
  // Returns whether look_up_groups() is due.
  bool note_groups(std::span<const EventRecord> records, Timestamp now) REQUIRES(mutex);
  // Empty while no instance records them.
  std::shared_ptr<const TaskGroups::Groups> saved_groups() REQUIRES(mutex);
  void count_lost(const std::set<TracingInstance*>& by, std::uint64_t records, Timestamp now)
      REQUIRES(mutex);

  const Options options;
  const PointerHash pointers = PointerHash::make_random();
  Readings readings;

  Mutex mutex{LockRank::kTracing};
  Instances instances GUARDED_BY(mutex);
  EventRoutes routes GUARDED_BY(mutex);
  Probes probes GUARDED_BY(mutex);
  EventOffers offers GUARDED_BY(mutex);
  RecordSequencer order GUARDED_BY(mutex);
  TaskGroups groups GUARDED_BY(mutex);
  InstanceDirectories directories GUARDED_BY(mutex);
  bool has_ended_waits GUARDED_BY(mutex) = false;

 private:
  // Waits until the expected events of the orders are delivered. kNoDevice: they are not, nothing
  // is expected any more, or the waits have ended; kInterrupted.
  Result<void> wait_for_expected(const SourceRequests& orders, const CancellationToken& cancel)
      EXCLUDES(mutex);
  std::vector<EventSource*> all_sources() EXCLUDES(mutex);
  // Whether any instance does. If none does, those that are known are forgotten.
  bool records_groups() REQUIRES(mutex);
  // Reverts a write that the sources have refused, or have not carried out in time.
  void revert(TracingInstance& instance, const Undo& undo, Timestamp now) EXCLUDES(mutex);
};

// A source that has refused one order, or not answered it, is given the next one without a wait.
inline CancellationToken no_wait() {
  return CancellationToken([] { return true; });
}

// A write into a file that was looked up before its instance was removed.
inline Error removed_instance() { return {ErrorCode::kStale, "the instance was removed"}; }

}  // namespace tallyfs::tracing
