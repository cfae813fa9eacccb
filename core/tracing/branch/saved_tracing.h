// Saves the state of tracing/ that outlives the daemon (core/state/FORMAT.md, kinds 7 to 12): the
// probes (kind 38), the kernel's events on which something is set, synthetic events, the settings
// of directories, triggers, the contents of histograms, and which events are on with which filters;
// and error_log (kind 16). UserEvents saves the events of programs, which come before all these.
//
// An event of the kernel is defined as it was, without a source. When its source offers it again,
// what is set on it goes on (EventOffers::restore()). The next server of the same mount gets all
// events of the kernel, so that their files stay while the source is away. The order of the objects
// is that in which they need one another: triggers come in the order in which they were set.
//
// Thread-safe: takes the lock of Tracing's State, once for all definitions, and once for each
// histogram, of which it shares the blocks. Lives for one call; the State outlives it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/branch/saved_object.h"
#include "core/tracing/branch/tracing_state.h"

namespace tallyfs::tracing {

class SavedTracing {
 public:
  // Which events of the kernel are saved.
  enum class Kernel { kSet, kAll };

  explicit SavedTracing(Tracing::State& state, Kernel kernel = Kernel::kSet)
      : state_(state), kernel_(kernel) {}

  // These are the functions of Branch with the same names.
  void save(ObjectSink& sink);
  // The records of all directories, which only the next server of the same mount gets. They are
  // encoded under the lock, for which no request waits then: a copy would take as much memory
  // again, and the time of a copy.
  void save_records(ObjectSink& sink);
  std::uint64_t stamp(Timestamp now);
  Result<void> load(const SavedObject& object, const Loading& loading);

 private:
  struct Object {
    SavedKind kind = SavedKind::kTrigger;
    std::uint16_t format = 1;
    std::string label, bytes;
    // These are for kHistogram, whose contents are appended when it is put. clears: how often they
    // were cleared.
    std::uint64_t clears = 0;
    SharedInstance instance = nullptr;
    EventNumber event = 0;
    std::uint64_t serial = 0;
  };
  using Objects = std::vector<Object>;
  // The path of an event in an instance, as objects begin.
  struct Place {
    std::string instance, system, event;
  };

  Objects list();
  void list_events(Objects& all) REQUIRES(state_.mutex);
  static void list_instance(const TracingInstance& instance, Objects& all);
  static void list_triggers(const SharedInstance& instance, Objects& all);
  static void list_settings(const TracingInstance& instance, Objects& all);
  bool append_contents(Object& object);
  void save_error_log(ObjectSink& sink) const;

  Result<void> load_kernel_event(ByteReader& in, Timestamp now);
  Result<void> load_synthetic_event(ByteReader& in, Timestamp now);
  Result<void> load_instance(ByteReader& in, const Loading& loading);
  Result<void> load_trigger(ByteReader& in, Timestamp now);
  Result<void> load_records(ByteReader& in, Timestamp now);
  Result<void> load_histogram(ByteReader& in, const Loading& loading);
  Result<void> load_settings(ByteReader& in, Timestamp now);
  Result<void> load_error_log(ByteReader& in, const Loading& loading);
  static Result<void> restore(TracingInstance& instance, const SavedTrigger& saved);

  Tracing::State& state_;
  const Kernel kernel_;
};

}  // namespace tallyfs::tracing
