// Which records of enabled events are traced: set_event_pid, set_event_notrace_pid and
// tracing_cpumask. Triggers see all records.
// Confined to the EventSet's lock; what is copied is a value.
// Limits: pids_max process ids in each of the two files.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/record.h"

namespace tallyfs {

class TraceSelection {
 public:
  using Pids = std::vector<std::int32_t>;  // in order
  using Cpus = std::vector<bool>;          // by number

  explicit TraceSelection(std::size_t pids_max) : pids_max_(pids_max) {}

  bool is_traced(const EventRecord& record) const {
    if (!pids_.empty() && !std::ranges::binary_search(pids_, record.pid)) return false;
    if (!notrace_pids_.empty() && std::ranges::binary_search(notrace_pids_, record.pid)) {
      return false;
    }
    return record.cpu >= left_out_cpus_.size() || !left_out_cpus_[record.cpu];
  }

  // Only records of these processes are traced; without any, all are. The text is numbers, each
  // added.
  const Pids& pids() const { return pids_; }
  Result<void> write_pids(std::string_view text);
  void clear_pids() { pids_.clear(); }
  // Records of these processes are not traced.
  const Pids& notrace_pids() const { return notrace_pids_; }
  Result<void> write_notrace_pids(std::string_view text);
  void clear_notrace_pids() { notrace_pids_.clear(); }
  // One line for each process id.
  static std::string text(const Pids& pids);

  // Only events on the CPUs of the mask are traced; all CPUs are in it at first. The text is the
  // kernel's form of bit masks: `ff`, `3,ffffffff`. kInvalid: the text is no mask, or has none of
  // the first `cpus`.
  const Cpus& left_out_cpus() const { return left_out_cpus_; }
  Result<void> write_cpumask(std::string_view text, std::uint32_t cpus);
  static std::string cpumask_text(const Cpus& left_out, std::uint32_t cpus);

 private:
  Result<void> add_pids(Pids& to, std::string_view file, std::string_view text) const;

  const std::size_t pids_max_;
  Pids pids_, notrace_pids_;
  Cpus left_out_cpus_;  // none beyond its end
};

}  // namespace tallyfs
