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

  // Only records of these processes are traced; with none, all are. Numbers, each added.
  const Pids& pids() const { return pids_; }
  Result<void> write_pids(std::string_view text);
  void clear_pids() { pids_.clear(); }
  // Records of these are not.
  const Pids& notrace_pids() const { return notrace_pids_; }
  Result<void> write_notrace_pids(std::string_view text);
  void clear_notrace_pids() { notrace_pids_.clear(); }
  // A line for each.
  static std::string text(const Pids& pids);

  // Only what happens on the CPUs of the mask is traced; all are at first. The kernel's bit masks:
  // `ff`, `3,ffffffff`. kInvalid: no such mask, or one without any of the first `cpus`.
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
