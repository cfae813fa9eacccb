// The traced records of an EventSet: those of `trace`, those of `snapshot`, and tracing_on.
// Confined to the EventSet's lock; a TraceCopy is a value that any thread may render.
// Limits: bytes() for each of trace and snapshot.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "core/tracing/set/event_table.h"
#include "core/tracing/trace/page_copy.h"
#include "core/tracing/trace/trace_buffer.h"
#include "core/tracing/trace/trace_copy.h"

namespace tallyfs::tracing {

class TraceStore {
 public:
  TraceStore(EventTable& events, std::size_t bytes_max) : events_(events), trace_(bytes_max) {}

  bool is_on() const { return is_on_; }
  void set_on(bool on) { is_on_ = on; }
  // options/pause-on-trace: records from these times on are not kept, until as many ends as begins.
  // They count in left_out(). All earlier records were added before begin_pause().
  void begin_pause(std::uint64_t time_ns);
  void end_pause(std::uint64_t time_ns);
  // Records that were left out since the last clear().
  std::uint64_t left_out() const { return left_out_; }
  // options/overwrite: the oldest records give way to new ones; else new ones are dropped.
  void set_overwrites(bool on);

  // --- trace
  // Nothing is added while tracing is off.
  void add(TraceBuffer::Kind kind, const EventRecord& record, std::uint32_t generation);
  // An unknown number of records of each CPU is missing at this time: `trace` says so, if tracing
  // is on.
  void add_gap(std::uint64_t time_ns, std::uint32_t cpus);
  void clear();
  void clear(std::uint32_t cpu) { trace_.clear(cpu); }
  bool is_empty() const { return trace_.is_empty(); }
  TraceCopy copy() const { return copy(trace_.copy()); }
  // Takes out the oldest records, of this CPU alone if one is given: at most bytes_max bytes
  // together, or one record alone. The copy has no header. For trace_pipe.
  TraceCopy take(std::size_t bytes_max, std::optional<std::uint32_t> only_cpu = {});
  // Takes out the oldest records of a CPU for a page of the kernel's ring buffer, which is empty
  // before, and stays so if there is none. It is made and encoded outside of the lock. For
  // trace_pipe_raw and snapshot_raw.
  enum class Buffer { kTrace, kSnapshot };
  void take_page(Buffer buffer, std::uint32_t cpu, PageCopy& page);
  // The tasks of the records that were taken.
  std::vector<TaskNames::Named> taken_names() const { return taken_names_.all(); }
  // Whether the CPU has records to take.
  bool has_records(Buffer buffer, std::uint32_t cpu) const;
  // The bytes that are kept for `trace`, and for `snapshot`. The newest records that fit stay.
  std::size_t bytes() const { return trace_.bytes_max(); }
  void resize(std::size_t bytes);

  // --- snapshot
  // The records that were traced so far become the snapshot, and tracing goes on with an empty
  // buffer. As in the kernel, buffers change places, so that a trigger may do it for every record.
  void take_snapshot();
  void make_snapshot();  // an empty one, if there is none
  void clear_snapshot();
  void clear_snapshot(std::uint32_t cpu);
  void free_snapshot() { snapshot_.reset(); }
  bool has_snapshot() const { return snapshot_.has_value(); }
  // Without a snapshot, or with an empty one, the text says so.
  TraceCopy copy_snapshot() const;

  // Save and load the records of both, and the counts, for a successor. Events are found by their
  // names; records of missing events stay, without their fields. load() fails the reader on bytes
  // that save() does not write; the store is empty then.
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

  // The memory that a copy takes.
  std::size_t kept_bytes() const { return trace_.kept_bytes(); }
  std::size_t snapshot_kept_bytes() const { return snapshot_ ? snapshot_->kept_bytes() : 0; }
  std::uint64_t overwritten() const;

 private:
  using Event = std::pair<EventNumber, std::uint32_t>;  // with its generation
  void save_events(ByteWriter& out) const;
  std::map<Event, Event> load_events(ByteReader& in) const;
  TraceCopy copy(TraceBuffer records) const;
  static TraceBuffer::Style style_of(const DefinedEvent& event);

  EventTable& events_;
  bool is_on_ = true;
  // The last pause, or the present one, which has no end yet.
  std::uint64_t pause_begin_ns_ = UINT64_MAX, pause_end_ns_ = UINT64_MAX;
  std::uint32_t pauses_ = 0;
  std::uint64_t left_out_ = 0;
  bool overwrites_ = true;
  TraceBuffer trace_;
  std::optional<TraceBuffer> snapshot_;
  TaskNames taken_names_;
};

}  // namespace tallyfs::tracing
