// The tracing/ directory: an EventSet, those of instances/, and the files made of them. Sources
// offer events and feed records; whoever writes into a file makes it ask the sources for what its
// triggers need.
//
// Thread-safe. One lock, of its State, over all sets and over which source has offered what; it
// is held while a run of records is fed, never while a source is asked, nor while what is shown is
// rendered. Lock order: Tracing, then Ledger, Tree, or an Interface (for the daemon's own numbers).
//
// Limits: Options; what an instance and its histograms may grow to stands in the ledger.
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
#include "core/branch/own_numbers.h"
#include "core/branch/process_names.h"
#include "core/branch/tracing/event_source.h"
#include "core/event/set/event_set.h"
#include "core/tree/error_log.h"
#include "core/tree/tree.h"

namespace tallyfs {

// An event as its source describes it.
struct EventOffer {
  enum class Form {
    kKernelFormat,  // the text of a `format` file
    kFields,        // `NAME u64 lat; pid_t pid`, as in synthetic_events
  };
  std::string_view system;
  Form form = Form::kKernelFormat;
  std::string_view text;
  // What records name it by, and want() asks for; below Tracing::kSourceIdsMax. For a kernel event
  // its id will do.
  std::uint32_t source_id = 0;
  // Of a source whose ids come to mean other events: how often this one has. Records of what it
  // meant before count nowhere.
  std::uint32_t use = 0;
};

class Tracing {
 public:
  static constexpr std::uint32_t kSourceIdsMax = 1u << 17;

  struct Options {
    uid_t owner = 0;  // whose quota the sets are held by
    EventSet::Limits set = {};
    std::size_t instances_max = 64;
    std::uint32_t cpus = 1;
    // Of all instances: what opens of hist, trace and snapshot may keep or copy to make their
    // texts.
    std::uint64_t reading_bytes_max = 512ull << 20;
    // Shared with its directories in the tree: one for all of the mount. nullptr: there is none.
    std::shared_ptr<ErrorLog> error_log = nullptr;
    OwnNumbers* own = nullptr;  // outlives it; nullptr: nothing is counted
    // Outlives it; nullptr: markers are shown without the name of their writer.
    const ProcessNames* processes = nullptr;
  };

  // Fills the directory `directory`. Tree and ledger outlive it, it outlives the tree's files.
  Tracing(Tree& tree, NodeId directory, Ledger& ledger, const Options& options, Moment now);
  ~Tracing();

  // --- For sources, which outlive it or are withdrawn.
  // The event appears in events/, in every instance. Offering what is there changes nothing; one
  // that was there before its source was withdrawn is delivered again, and asked for if triggers
  // wait for it: then want() is called, from here. kInvalid, with the reason; kExists: another
  // source's, or defined otherwise and in use; kNoSpace. What is refused has changed nothing.
  // An event that comes with a kernel's format takes the place of one that was defined by its
  // fields, of which the other source is told: nobody keeps the kernel's events out by being first.
  Result<void> offer(EventSource& source, const EventOffer& offer, Moment now);
  // The same of many, with one want() at the end. How many were taken; refused ones are left out.
  std::size_t offer(EventSource& source, std::span<const EventOffer> offers, Moment now);
  // It delivers nothing any more. Events go that nothing is set on; the others stay, silent, until
  // somebody offers them again or takes off what is set on them.
  void withdraw(EventSource& source, Moment now);
  // The same of one event. kNotFound; kBusy: something is set on it, and nothing has changed.
  Result<void> withdraw(EventSource& source, std::uint32_t source_id, Moment now);
  // What is asked of the source right now: what a new feeder is told.
  std::vector<WantedEvent> wanted(EventSource& source) const;
  // Records in the order of their times; EventRecord::event is the source_id, use that of its
  // offer: others are passed over. Views need to last no longer than the call.
  void feed(EventSource& source, std::span<const EventRecord> records, Moment now,
            std::uint32_t use = 0);
  // So many of the source's records were lost on their way. Counted, and shown at the top of
  // `trace` of the instances that ask it for any.
  void lost(EventSource& source, std::uint64_t records, Moment now);
  // The source has broken off, and nobody knows how many of the records that it was asked for are
  // missing: counts as one, and `trace` of the instances that asked says so. False: nobody asked.
  bool broke_off(EventSource& source, Moment now);
  // Threads that nobody wants to see, the daemon's own: records of kernel events whose process, or
  // whom they wake or switch to, is one of them are passed over.
  void leave_out(std::vector<pid_t> threads);

  struct State;  // for the files

 private:
  // Shared with the files in the tree, which may be open for longer than this lives.
  const std::shared_ptr<State> state_;
};

}  // namespace tallyfs
