// One tracing directory: the top, or one of instances/. Guarded by the lock of Tracing's State.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/reservation.h"
#include "core/tracing/branch/readings.h"
#include "core/tracing/hist/hist_command.h"
#include "core/tracing/set/event_set.h"
#include "core/tree/tree.h"

namespace tallyfs::tracing {

inline constexpr std::string_view kMarkerSystem = "ftrace";

using EventPath = std::pair<std::string, std::string>;  // system, event

// The nodes of an instance. Those of systems and events exist once a person has looked into
// the directory above them.
struct InstanceNodes {
  struct System {
    NodeId node = 0;
    bool filled = false;
    std::map<std::string, NodeId, std::less<>> events;
  };

  NodeId directory = 0, events = 0;
  bool filled = false;
  std::map<std::string, System, std::less<>> systems;
};

using TraceClock = std::string_view;  // one of kTraceClocks

struct TracingInstance {
  // The most that buffer_size_kb can be, of all CPUs together.
  static constexpr std::uint64_t kTraceBytesMax = 128u << 20;
  // The bound of saved_cmdlines_size: a kernel has no more processes than that.
  static constexpr std::uint64_t kNamesMax = 4'194'304;
  static constexpr std::uint64_t kNamesFirst = 128;

  TracingInstance(std::string its_name, const EventSet::Limits& limits,
                  std::shared_ptr<EventIds> ids, Reservation its_share)
      : name(std::move(its_name)),
        set(limits, std::move(ids)),
        share(std::move(its_share)),
        trace_bytes_first(limits.trace_bytes_max) {}

  std::optional<EventNumber> find(const EventPath& path) const {
    return set.events.find(path.first, path.second);
  }
  // Marks its texts as changed.
  void touch(Timestamp now) {
    changes += 1;
    last_change = now;
  }
  void count_lost(std::uint64_t records) {
    lost += records;
    cleared_cpus.clear();
  }
  void clear_cpu(std::uint32_t cpu, std::uint32_t cpus);
  // True if the buffer is as full as buffer_percent says.
  bool is_filled() const;
  void clear_trace() {
    set.trace.clear();
    lost = 0;
  }
  // Adjusts its share of the ledger to the memory that it may grow to now: histograms, and the
  // buffers of trace and snapshot beyond their first size. kNoSpace: the share has not changed.
  Result<void> hold_memory();

  const std::string name;  // empty: the top
  EventSet set;
  Reservation share;
  const std::size_t trace_bytes_first;
  std::size_t held_bytes = 0;  // of the share: histograms, and what buffer_size_kb added
  EventNumber marker = 0;      // ftrace/print
  EventNumber raw_marker = 0;  // ftrace/raw_data
  // options/
  bool markers = true;
  bool shows_fields = false;          // fields: no print formats
  bool shows_context = true;          // context-info: task, CPU and time
  bool shows_irq_info = true;         // irq-info: the column of flags
  bool pauses_on_trace = false;       // pause-on-trace
  bool stops_when_freed = false;      // disable_on_free
  bool hashes_pointers = true;        // hash-ptr
  bool records_groups = false;        // record-tgid
  std::uint64_t changed_options = 0;  // a bit for each of the others that is not as it was first
  // per_cpu/cpuN/buffer_size_kb, if any was written since buffer_size_kb; empty: all are alike.
  std::vector<std::uint64_t> cpu_kib;
  const TraceClock* clock = kTraceClocks.begin();  // trace_clock
  // How full the buffer is, in percent of its pages, when poll() finds something to read.
  std::uint32_t buffer_percent = 0;
  std::uint64_t cmdlines_max = kNamesFirst;  // saved_cmdlines_size
  bool removed = false;  // files that were looked up before still lead here; they change nothing
  // Shared with its open files: another owner beside this one means that a file is open.
  const std::shared_ptr<const void> open_mark = std::make_shared<char>();
  // Lost records of sources that it asked for any, since `trace` was cleared. It is cleared at
  // once, or one CPU after the other, as it is unknown which CPU's records were lost.
  std::uint64_t lost = 0;
  std::set<std::uint32_t> cleared_cpus;  // since the last loss
  std::uint64_t changes = 0;             // changes whenever one of its texts does
  Timestamp last_change;
  LastHist last_hist;
  InstanceNodes nodes;
};

// Shared with its files and with directories that are being entered; the last owner frees it.
using SharedInstance = std::shared_ptr<TracingInstance>;

}  // namespace tallyfs::tracing
