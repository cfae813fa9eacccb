// The settings of a tracing directory as they outlive the daemon (core/state/FORMAT.md, kind 9):
// what its files show, without its events and triggers. Traced records are not saved.
//
// A value. Reading checks all lengths and ranges; apply() is called under the lock of Tracing's
// State.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/tracing/branch/trace_options.h"
#include "core/tracing/branch/tracing_instance.h"

namespace tallyfs::tracing {

class SavedInstance {
 public:
  // The limits of the machine and of the daemon.
  struct Bounds {
    std::uint32_t cpus = 1;
    EventSet::Limits set;
  };

  static void save(const TracingInstance& instance, ByteWriter& out);
  // Whether its settings are those of a new one.
  static bool is_as_first(const TracingInstance& instance);
  // Fails the reader on what save() does not write.
  static SavedInstance load(ByteReader& in, const Bounds& bounds);

  const std::string& name() const { return name_; }  // empty: the top
  // The processes that it names are those of another boot.
  void end_processes() { selection_.end_all(); }
  // Sets everything, or nothing: kInvalid for an option that is refused, kNoSpace.
  Result<void> apply(TracingInstance& instance) const;

 private:
  explicit SavedInstance(std::size_t pids_max) : selection_(pids_max) {}

  void load_sizes(ByteReader& in, std::uint32_t cpus);
  void load_options(ByteReader& in);
  void load_percent(std::string_view text, ByteReader& in);
  void load_filters(ByteReader& in);
  Result<void> set_options(TracingInstance& instance) const;
  void reset_options(TracingInstance& instance) const;
  Result<void> set_sizes(TracingInstance& instance) const;

  std::string name_;
  bool is_on_ = true;
  bool has_snapshot_ = false;
  const TraceClock* clock_ = kTraceClocks.begin();
  std::uint64_t cmdlines_max_ = 0;
  std::uint32_t buffer_percent_ = 0;
  std::uint64_t trace_bytes_ = 0;  // 0: as an instance has them at first
  std::vector<std::uint64_t> cpu_kib_;
  std::vector<std::pair<const TraceOption*, bool>> options_;
  TraceSelection selection_;
  std::vector<std::pair<std::string, std::string>> filters_;  // of systems
};

}  // namespace tallyfs::tracing
