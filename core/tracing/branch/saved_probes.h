// Saves the probes of tracing/ (core/state/FORMAT.md, kind 38): their lines as they were written,
// with the places that were found for them. Another start finds lines with a name again, since the
// files may be others by then; the next server of the same mount keeps all places.
//
// Lives for one call; the State outlives it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/branch/saved_object.h"
#include "core/tracing/branch/tracing_state.h"

namespace tallyfs::tracing {

class SavedProbes {
 public:
  struct Object {
    std::uint16_t format = 1;
    std::string label, bytes;
  };

  explicit SavedProbes(Tracing::State& state) : state_(state) {}

  // The first one has the serial number that comes next: the source may still have a probe with the
  // last one that was given, though it is listed no more. The caller has the lock of the State.
  static std::vector<Object> list(Probes& probes);
  // Takes the lock of the State. Of a probe that cannot be here, the event must not be, either:
  // without the probe its histograms would be readable as those of other events are.
  Result<void> load(const SavedObject& object, const Loading& loading);

 private:
  Result<void> load_probe(ByteReader& in, std::uint16_t format, const Loading& loading);
  void refuse(ByteReader& in);
  Result<void> restore(const EventPath& path, Probes::Probe probe);

  Tracing::State& state_;
};

}  // namespace tallyfs::tracing
