// Which records of enabled events are traced: set_event_pid, set_event_notrace_pid and
// tracing_cpumask. Triggers see the records of all processes, but only of CPUs of the mask.
// Confined to the EventSet's lock; what is copied is a value.
// Limits: pids_max process ids in each of the two files.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/model/record.h"

namespace tallyfs::tracing {

class TraceSelection {
 public:
  using Pids = std::vector<std::int32_t>;  // in order
  using Cpus = std::vector<bool>;          // by number

  explicit TraceSelection(std::size_t pids_max) : pids_max_(pids_max) {}

  // Whether the lists of processes let it in: it is of such a process, or about one (subject_at:
  // the offset of that process in the record, of a switch or a wakeup).
  bool is_traced(const EventRecord& record, std::optional<std::uint32_t> subject_at) const {
    if (!traced_.is_set && !left_out_.is_set) return true;
    if (lets_in(record.pid)) return true;
    if (!subject_at || *subject_at + sizeof(std::int32_t) > record.bytes.size()) return false;
    return lets_in(read_raw<std::int32_t>(record.bytes.data() + *subject_at));
  }
  // Whether the record's CPU is in tracing_cpumask.
  bool is_on_cpu(const EventRecord& record) const {
    return record.cpu >= left_out_cpus_.size() || !left_out_cpus_[record.cpu];
  }

  // Only records of these processes are traced. Before the list is written, and when it is cleared,
  // all are; a list whose processes have all ended selects none. The text is process ids: all are
  // added, or none if there is an error. kNoSpace: more than pids_max.
  const Pids& pids() const { return traced_.pids; }
  Result<void> write_pids(std::string_view text);
  void clear_pids() { traced_ = {}; }
  // Records of these processes are not traced.
  const Pids& notrace_pids() const { return left_out_.pids; }
  Result<void> write_notrace_pids(std::string_view text);
  void clear_notrace_pids() { left_out_ = {}; }
  // add_child(): for event-fork, adds the child to each list that has its parent, if there is room.
  // remove(): a process that ends is in no list; its last records count as before, until
  // add_child() gets its id.
  void add_child(std::int32_t parent, std::int32_t child);
  void remove(std::int32_t pid);
  // One line for each process id.
  static std::string text(const Pids& pids);

  // Only events on the CPUs of the mask count, for the trace and for triggers; all CPUs are in it
  // at first, and none need be. The text is the kernel's form of bit masks: `ff`, `3,ffffffff`.
  // kInvalid: the text is no mask, or it names a CPU that is not among the first `cpus`.
  const Cpus& left_out_cpus() const { return left_out_cpus_; }
  Result<void> write_cpumask(std::string_view text, std::uint32_t cpus);
  static std::string cpumask_text(const Cpus& left_out, std::uint32_t cpus);

  // Whether no list and no mask leaves anything out.
  bool is_all() const {
    return !traced_.is_set && !left_out_.is_set &&
           std::ranges::find(left_out_cpus_, true) == left_out_cpus_.end();
  }
  // Save and load the selection. load() fails the reader on bytes that save() does not write; the
  // selection is then undefined. CPUs beyond the first `cpus` are left out.
  void save(ByteWriter& out) const;
  void load(ByteReader& in, std::uint32_t cpus);
  // The processes of another boot have ended.
  void end_all();

 private:
  struct List {
    bool is_set = false;  // stays when the last of its processes has ended
    Pids pids;
    std::vector<std::int32_t> ended;  // pids_max at most, the last one behind

    bool has(std::int32_t pid) const {
      return std::ranges::binary_search(pids, pid) || std::ranges::find(ended, pid) != ended.end();
    }
  };

  bool lets_in(std::int32_t pid) const {
    if (traced_.is_set && !traced_.has(pid)) return false;
    return !left_out_.is_set || !left_out_.has(pid);
  }
  Result<void> add_pids(List& to, std::string_view file, std::string_view text) const;
  static void save(ByteWriter& out, const List& list);
  void load(ByteReader& in, List& list) const;

  std::size_t pids_max_;
  List traced_, left_out_;
  Cpus left_out_cpus_;  // none beyond its end
};

}  // namespace tallyfs::tracing
