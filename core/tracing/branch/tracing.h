// The tracing/ directory: an EventSet, those of instances/, and the files made of them. Sources
// offer events and feed records. A write into a file asks the sources for the events that its
// triggers need.
//
// Thread-safe. One lock, of its State, guards all sets and the offers of the sources. It is held
// while a run of records is fed, but not while a source is asked or a text is rendered. Lock order:
// Tracing, then Ledger, Tree, or an Interface (for the daemon's own numbers).
//
// Limits: Options; the ledger holds the memory that instances and their histograms may grow to.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/base/ledger.h"
#include "core/base/result.h"
#include "core/branch/daemon_counters.h"
#include "core/branch/process_names.h"
#include "core/branch/saved_object.h"
#include "core/tracing/branch/event_source.h"
#include "core/tracing/branch/probe_source.h"
#include "core/tracing/set/event_set.h"
#include "core/tree/error_log.h"
#include "core/tree/tree.h"

namespace tallyfs::tracing {

// An event as its source describes it.
struct EventOffer {
  enum class Form {
    kKernelFormat,  // the text of a `format` file
    kFields,        // `NAME u64 lat; pid_t pid`, as in synthetic_events
  };
  std::string_view system;
  Form form = Form::kKernelFormat;
  std::string_view text;
  // Records name the event by this number, and want() asks for it; below Tracing::kSourceIdsMax.
  // For a kernel event its id serves.
  std::uint32_t source_id = 0;
  // For a source that gives an id to another event later: how often this id was given before.
  // Records of the earlier events of the id do not count.
  std::uint32_t use = 0;
};

class Tracing {
 public:
  static constexpr std::uint32_t kSourceIdsMax = 1u << 17;

  struct Options {
    uid_t owner = 0;  // the sets are held by this uid's quota
    EventSet::Limits set = {};
    std::size_t instances_max = 64;
    std::uint32_t cpus = 1;
    // For all instances: the bytes that opens of hist, trace and snapshot may keep or copy to make
    // their texts.
    std::uint64_t reading_bytes_max = 512ull << 20;
    // Shared with the tree's directories: one log for the whole mount. nullptr: there is none.
    std::shared_ptr<ErrorLog> error_log = nullptr;
    const Clock* clock = nullptr;        // outlives it; nullptr: the machine's
    DaemonCounters* counters = nullptr;  // outlives it; nullptr: nothing is counted
    // Outlives it; nullptr: markers are shown without the name of their writer.
    const ProcessNames* processes = nullptr;
    // Outlives it; nullptr: there are no probes, and no files of them.
    ProbeSource* probes = nullptr;
    ProbeTargets probe_targets = {};
  };

  // Fills the directory `directory`. Tree and ledger outlive Tracing; Tracing outlives the tree's
  // files.
  Tracing(Tree& tree, NodeId directory, Ledger& ledger, const Options& options, Timestamp now);
  ~Tracing();

  // --- For sources. A source outlives Tracing or is withdrawn.
  // The event appears in events/, in every instance. An offer of an existing event changes nothing.
  // An event that existed before its source was withdrawn is delivered again. If triggers wait for
  // it, it is asked for: offer() then calls want(). kInvalid, with the reason; kExists: the event
  // is another source's, or defined otherwise and in use; kNoSpace. A refused offer has changed
  // nothing.
  // An event with a kernel's format replaces an event that was defined by its fields, and the other
  // source is notified. So an early definition by fields cannot keep the kernel's events out.
  Result<void> offer(EventSource& source, const EventOffer& offer, Timestamp now);
  // offer() for many offers, with one want() at the end. Returns how many were accepted; refused
  // offers are left out.
  std::size_t offer(EventSource& source, std::span<const EventOffer> offers, Timestamp now);
  // The source delivers nothing any more. Its events on which nothing is set are removed. The
  // others stay, without records, until a source offers them again or nothing is set on them any
  // more.
  void withdraw(EventSource& source, Timestamp now);
  // withdraw() for one event. kNotFound; kBusy: something is set on it, and nothing has changed.
  Result<void> withdraw(EventSource& source, std::uint32_t source_id, Timestamp now);
  // The daemon before knew the kernel's events that load() restores from now on. This source, which
  // outlives Tracing, will offer them soon. Until end_expecting() they stay, and a write that needs
  // one of them waits for the offer.
  void expect(EventSource& from);
  // Whether some of them have not been offered.
  bool misses_expected() const;
  // Removes expected events that were not offered, except those on which something is set.
  void end_expecting(Timestamp now);
  // Writes that wait for an offer wait no longer, and are refused; the events stay. For a daemon
  // that is about to end.
  void end_waits();
  // The events that are wanted of the source now: the first order to a new feeder.
  std::vector<WantedEvent> wanted(EventSource& source) const;
  // Feeds records in the order of their times. EventRecord::event is the source_id, `use` that of
  // its offer: other records are skipped. Views need to last no longer than the call.
  void feed(EventSource& source, std::span<const EventRecord> records, Timestamp now,
            std::uint32_t use = 0);
  // This many records of the source were lost on their way. They are counted, and shown at the top
  // of `trace` of the instances that ask this source for any.
  void lost(EventSource& source, std::uint64_t records, Timestamp now);
  // The source has broken off, and the number of missing records is unknown: it counts as one, and
  // `trace` of the instances that asked says so. False: no instance asked for any.
  bool broke_off(EventSource& source, Timestamp now);
  // Sets the threads that are not shown, the daemon's own. Records of kernel events are skipped if
  // their process, or the thread that they wake or switch to, is one of these.
  void leave_out(std::vector<pid_t> threads);

  // --- For the source of probes, when another one has to make them.
  std::vector<ProbePlace> probe_places() const;
  std::vector<std::uint64_t> probe_serials() const;
  // Whether so many places, with so much text, may be made besides. kNoSpace.
  Result<void> may_add_places(std::size_t places, std::size_t bytes) const;
  // It has made this one. As offer(), if something is set on its event. A place with a line becomes
  // one of the probe's.
  void probe_made(const ProbePlace& place, const MadeProbe& made, Timestamp now);
  // It could not make it: the event has no source, and error_log says why.
  void probe_refused(std::uint64_t serial, Error error, Timestamp now);
  // A place was made after its write had given up: it is listed, if its probe is. False: no probe
  // has that serial, or it has no place besides, and the source removes it.
  bool place_made_late(const ProbePlace& place, const MadeProbe& made, Timestamp now);

  // --- What outlives the daemon, as Branch has it. UserEvents saves the events of programs.
  void save(ObjectSink& sink) const;
  // save() for a successor, with all events of the kernel.
  void save_for_successor(ObjectSink& sink) const;
  // The traced records, for the next server of the same mount alone.
  void save_records(ObjectSink& sink) const;
  std::uint64_t stamp(Timestamp now) const;
  Result<void> load(const SavedObject& object, const Loading& loading);
  // An event by what of it outlives the daemon; all zero: there is none.
  struct KnownEvent {
    std::uint16_t id = 0;
    bool is_in_use = false;
  };
  KnownEvent known(std::string_view system, std::string_view name) const;
  // The event gets this id if it is defined before the result is freed, and the id is free.
  EventIds::Id hold_id(std::string_view system, std::string_view name, std::uint16_t id);
  // Feeds records that still wait for a late source: no more of them come.
  void feed_pending(Timestamp now);

  struct State;  // used by the files

 private:
  // Shared with the files in the tree, which may be open for longer than Tracing exists.
  const std::shared_ptr<State> state_;
};

}  // namespace tallyfs::tracing
