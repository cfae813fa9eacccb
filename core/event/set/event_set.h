// The tracing directory as an engine: events and their formats, the triggers set on them, the
// histograms that these fill, synthetic events, and what was traced. One EventSet is one tracing
// instance (the kernel's manual "Event Histograms"; grammar: TRIGGERS.md). It knows nothing of
// sockets, files or the mount: texts go in and out, records come in, and what a source of events
// has to do is asked for by demand().
//
// How it is used:
//   * who knows of an event defines it (define_event with the kernel's format text, define_fields
//     with `u64 lat; pid_t pid`), and keeps the number;
//   * what is written into a file goes to the call of that file's name, which returns an
//     Error for error_log; what is read is rendered by render_...(), histograms in two steps, so that
//     the long one runs outside the lock;
//   * after each write, take_changed_demands() names the events whose source must be told;
//   * records are fed in the order of their times. Synthetic events come into being within feed().
//
// Confined to its holder's lock; HistCopy is a value that any thread may render. A trigger is
// compiled when it is set: feed() parses nothing, allocates only for a key that is new, and
// makes no virtual call.
//
// Limits (Limits, and those of the kernel in TRIGGERS.md): what exceeds one is refused with
// kNoSpace or counted in Counts, which the tree shows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/event/format/format.h"
#include "core/event/hist/hist_copy.h"
#include "core/event/trace/trace_copy.h"
#include "core/model/record.h"
#include "core/model/symbols.h"

namespace tallyfs {

// What the source of an event has to do for this set.
struct Demand {
  bool on = false;     // its records are asked for
  bool stack = false;  // with EventRecord::stack
  bool comm = false;   // with EventRecord::comm
  // What everything that asks has in common, in the filter language; empty: all records. A source
  // may leave out what does not pass, and need not.
  std::string filter = {};

  bool operator==(const Demand&) const = default;
};

class EventSet {
 public:
  struct Limits {
    std::size_t events_max = 65'536;
    std::size_t triggers_max = 4096;            // of all events together
    std::size_t hist_bytes_max = 512ull << 20;  // what all histograms may grow to
    std::size_t trace_bytes_max = 4ull << 20;   // what is kept for `trace`, and for `snapshot`
    std::size_t pids_max = 1024;                // in set_event_pid, set_event_notrace_pid
    std::size_t synthetic_depth_max = 8;        // synthetic events that cause synthetic events
  };
  // Bounds that were reached, and records that could not be used, since the set was made.
  struct Counts {
    std::uint64_t records = 0;
    std::uint64_t records_short = 0;    // fewer bytes than the event's fixed fields
    std::uint64_t records_unknown = 0;  // of an event that is not defined
    std::uint64_t synthetic = 0;
    std::uint64_t synthetic_cut = 0;      // beyond synthetic_depth_max
    std::uint64_t records_of_others = 0;  // not traced for set_event_pid, or tracing_cpumask
    std::uint64_t trace_overwritten = 0;
  };
  struct EventName {
    EventNumber number;
    std::string_view system;
    std::string_view name;
  };

  EventSet();
  explicit EventSet(const Limits& limits);
  ~EventSet();
  EventSet(const EventSet&) = delete;
  EventSet& operator=(const EventSet&) = delete;

  // --- Events. A system is 1 to 64 letters, digits or '_', and not `synthetic`.
  // kInvalid: no format; kNoSpace; kExists: defined otherwise, and in use (else it is redefined,
  // and keeps its number).
  Result<EventNumber> define_event(std::string_view system, std::string_view format);
  // The same of an event whose definition here matters more than any other: one that is there
  // otherwise and in use is redefined as well. What is set on it goes, and whatever refers to that;
  // triggers of other events that only name it stay.
  Result<EventNumber> take_over_event(std::string_view system, std::string_view format);
  // A user's event, in the grammar of synthetic events: `lat u64 lat; pid_t pid`. Records are laid
  // out as format() says. kInvalid, kNoSpace, kExists likewise.
  Result<EventNumber> define_fields(std::string_view system, std::string_view definition);
  // One that is no source's, as the kernel's own ftrace/print: it cannot be enabled, is in no list
  // of events, and its records are always traced. As define_event() otherwise.
  Result<EventNumber> define_built_in(std::string_view system, std::string_view format);
  // kBusy: it has triggers, is enabled or referenced. Its number may be used again; until then what
  // is written for it is refused with kNotFound, and what is rendered is empty.
  Result<void> remove_event(EventNumber event);
  std::optional<EventNumber> find(std::string_view system, std::string_view name) const;
  // All, or those of a system, by system and name. The views last until an event is defined or
  // removed.
  std::vector<EventName> events() const;
  std::vector<EventName> events(std::string_view system) const;
  bool has_system(std::string_view system) const;
  const EventFormat& format(EventNumber event) const;
  EventName name(EventNumber event) const;  // views that last as long
  bool is_built_in(EventNumber event) const;
  bool in_use(EventNumber event) const;  // remove_event() would say kBusy

  // --- events/SYS/EVENT/
  std::string render_format(EventNumber event) const;
  std::string render_id(EventNumber event) const;
  std::string render_enable(EventNumber event) const;   // "0\n", "1\n", with '*'
  std::string render_filter(EventNumber event) const;   // "none\n", or the text, or what is wrong
  std::string render_trigger(EventNumber event) const;  // newest first, as the kernel does
  HistCopy copy_hist(EventNumber event) const;          // empty without a histogram
  std::uint64_t hits(EventNumber event) const;          // changes when hist does: for poll()

  Result<void> write_enable(EventNumber event, std::string_view text);  // "0" or "1"
  Result<void> write_filter(EventNumber event, std::string_view text);  // "0" takes it off
  // One command; a leading '!' removes. White space around it is not part of it.
  Result<void> write_trigger(EventNumber event, std::string_view text);
  // O_TRUNC: removes all triggers but those whose variables others refer to.
  void truncate_trigger(EventNumber event);

  // --- events/SYS/ (and events/ with an empty system): "0", "1" or "X", with '*'.
  std::string render_enable(std::string_view system) const;
  Result<void> write_enable(std::string_view system, std::string_view text);
  std::string render_system_filter(std::string_view system) const;
  // Sets the filter on all events of the system that have its fields.
  Result<void> write_filter(std::string_view system, std::string_view text);

  // --- Files of the whole set.
  std::string render_available_events() const;
  std::string render_set_event() const;
  // Words `SYS:EVENT`, `SYS:*`, `EVENT`, `*:*`, each with '!' to disable; kInvalid if nothing
  // matches.
  Result<void> write_set_event(std::string_view text);
  void truncate_set_event();
  // Only records of these processes are traced; with none, all are. Triggers see all of them.
  // Numbers, each added.
  std::string render_set_event_pid() const;
  Result<void> write_set_event_pid(std::string_view text);
  void truncate_set_event_pid();
  // Records of these are not.
  std::string render_set_event_notrace_pid() const;
  Result<void> write_set_event_notrace_pid(std::string_view text);
  void truncate_set_event_notrace_pid();
  // Only what happens on these CPUs is traced, likewise; all are at first. The kernel's bit masks:
  // `ff`, `3,ffffffff`. kInvalid: no such mask, or one without any of the first `cpus`.
  std::string render_tracing_cpumask(std::uint32_t cpus) const;
  Result<void> write_tracing_cpumask(std::string_view text, std::uint32_t cpus);
  std::string render_synthetic_events() const;
  std::string render_dynamic_events() const;
  // Of one that was defined by its fields: the text that defines it.
  std::string fields_text(EventNumber event) const;
  Result<void> write_synthetic_events(std::string_view line);
  Result<void> write_dynamic_events(std::string_view line);
  // O_TRUNC: removes all. kBusy if one is in use; then none is.
  Result<void> truncate_synthetic_events();

  bool tracing_on() const;
  void start_tracing();
  void stop_tracing();
  // What enabled events, and stacktrace triggers, left behind; with the kernel's header.
  std::string render_trace(const Symbols& symbols) const { return copy_trace().render(symbols); }
  TraceCopy copy_trace() const;
  // At this time records of each CPU are missing, nobody knows how many: `trace` says so, if
  // tracing is on.
  void trace_gap(std::uint64_t time_ns, std::uint32_t cpus);
  void clear_trace();
  void clear_trace(std::uint32_t cpu);
  // The oldest records, of together at most bytes_max or one alone: they are no longer there, and
  // the copy has no header. For trace_pipe.
  TraceCopy take_trace(std::size_t bytes_max);
  bool has_trace() const;
  // `PID NAME` of the last at most names_max whose records are traced and who said their names.
  std::string render_saved_cmdlines(std::size_t names_max) const;
  // What is kept for `trace`, and for `snapshot`. The newest records that fit stay.
  std::size_t trace_bytes() const;
  void resize_trace(std::size_t bytes);
  // What a copy of them takes.
  std::size_t trace_kept_bytes() const;
  std::size_t snapshot_kept_bytes() const;
  // The same of the last snapshot, whose records are no longer in render_trace(); a text that says
  // so if there is none, or nothing in it.
  std::string render_snapshot(const Symbols& symbols) const {
    return copy_snapshot().render(symbols);
  }
  TraceCopy copy_snapshot() const;
  void take_snapshot();
  void clear_snapshot();  // there may be one without records
  void free_snapshot();

  // --- Records.
  void feed(const EventRecord& record);

  // --- What is asked of the sources.
  Demand demand(EventNumber event) const;
  // Events whose demand() is not what it was at the last call, each once.
  std::vector<EventNumber> take_changed_demands();

  // Which events people have enabled, and that again, for who has to take a write back.
  std::vector<EventNumber> enabled_events() const;
  void restore_enabled(const std::vector<EventNumber>& events);

  // What all histograms may grow to as they are defined.
  std::size_t hist_bytes() const;
  const Counts& counts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tallyfs
