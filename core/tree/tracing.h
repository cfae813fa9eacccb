// The tracing/ directory: an EventSet, those of instances/, and the files made of them. Sources
// offer events and feed records; whoever writes into a file makes it ask the sources
// for what its triggers need.
//
// Thread-safe. One lock (Tracing::mutex_) over all sets and over which source has offered what; it is
// held while a run of records is fed, never while a source is asked, nor while what is shown is
// rendered. Lock order: Tracing, then Ledger or Tree.
//
// Limits: Options; what an instance and its histograms may grow to stands in the ledger.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/base/ledger.h"
#include "core/base/mutex.h"
#include "core/base/result.h"
#include "core/event/event_set.h"
#include "core/tree/event_source.h"
#include "core/tree/tree.h"

namespace tally {

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
};

class Tracing {
 public:
  static constexpr std::uint32_t kSourceIdsMax = 1u << 17;

  struct Options {
    uid_t owner = 0;  // whose quota the sets are held by
    EventSet::Limits set = {};
    std::size_t instances_max = 64;
  };

  // Fills the directory `tracing`. Tree and ledger outlive it, it outlives the tree's files.
  Tracing(Tree& tree, NodeId tracing, Ledger& ledger, const Options& options, Moment now);
  ~Tracing();

  // --- For sources, which outlive it or are withdrawn.
  // The event appears in events/, in every instance. Offering what is there changes nothing; one that was
  // there before its source was withdrawn is delivered again, and asked for if triggers wait for it:
  // then want() is called, from here. kInvalid, with the reason; kExists: another source's, or
  // defined otherwise and in use; kNoSpace.
  Result<void> offer(EventSource& source, const EventOffer& offer, Moment now) EXCLUDES(mutex_);
  // The same of many, with one want() at the end. How many were taken; refused ones are left out.
  std::size_t offer(EventSource& source, std::span<const EventOffer> offers, Moment now)
      EXCLUDES(mutex_);
  // It delivers nothing any more. Events go that nothing is set on; the others stay, silent, until
  // somebody offers them again or takes off what is set on them.
  void withdraw(EventSource& source, Moment now) EXCLUDES(mutex_);
  void withdraw(EventSource& source, std::uint32_t source_id, Moment now) EXCLUDES(mutex_);
  // What is asked of the source right now: what a new feeder is told.
  std::vector<WantedEvent> wanted(const EventSource& source) const EXCLUDES(mutex_);
  // Records in the order of their times; EventRecord::event is the source_id. Views need to last no
  // longer than the call.
  void feed(EventSource& source, std::span<const EventRecord> records, Moment now)
      EXCLUDES(mutex_);
  // So many records were lost on their way. Counted, and shown at the top of `trace`.
  void lost(EventSource& source, std::uint64_t records, Moment now) EXCLUDES(mutex_);
};

}  // namespace tally
