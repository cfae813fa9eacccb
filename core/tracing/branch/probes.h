// The probes of the mount: their names, places and serial numbers. Their events are among those
// that were offered (EventOffers).
// Confined to the lock of Tracing's State.
// Limits: kProbesMax probes; of all together kPlacesMax places, with kPlaceBytesMax bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/tracing/branch/probe_source.h"
#include "core/tracing/branch/tracing_instance.h"

namespace tallyfs {

class Probes {
 public:
  static constexpr std::size_t kProbesMax = 4'096;
  static constexpr std::size_t kPlacesMax = 65'536;
  static constexpr std::size_t kPlaceBytesMax = std::size_t{8} << 20;

  struct Probe {
    std::uint64_t serial = 0;
    ProbeKind kind = ProbeKind::kEntry;
    std::vector<std::string> places;         // as the kernel repeats them
    std::optional<std::uint32_t> source_id;  // nothing: the source has not made it
    bool is_pending = false;                 // a write waits for the source
  };

  bool has(const EventPath& path) const { return probes_.contains(path); }
  Probe* find(const EventPath& path);
  // A probe of that name with a serial of its own, without a place. kNoSpace.
  Result<Probe*> add(const EventPath& path, ProbeKind kind);
  // One that was there before a restart. kExists, kNoSpace.
  Result<void> restore(const EventPath& path, Probe probe);
  // kNoSpace.
  Result<void> may_add_place(std::string_view place) const;
  void add_place(Probe& probe, std::string place);
  void remove(const EventPath& path);
  // One that was there before a restart cannot be here; its event must not be, either: without the
  // probe its histograms would be readable as those of other events are.
  void refuse(const EventPath& path) { refused_.insert(path); }
  bool is_refused(const EventPath& path) const { return refused_.contains(path); }

  // Those that a removal means, in the order in which they were made.
  std::vector<EventPath> matching(const ProbeRemoval& removal) const;
  std::vector<EventPath> all() const { return matching({}); }
  // nullptr: there is none.
  const EventPath* find(std::uint64_t serial) const;
  // Each place, for a source that has to make all of them.
  std::vector<ProbePlace> places() const;
  std::vector<std::uint64_t> serials() const;
  // `p:GROUP/EVENT PLACE`, a line for each place, in the order in which the probes were made.
  std::string text() const;

  std::uint64_t next_serial() const { return next_serial_; }
  // Serials from this one on, or from a higher one.
  void begin_serials(std::uint64_t next) { next_serial_ = std::max(next_serial_, next); }
  std::uint64_t changes() const { return changes_; }

 private:
  std::map<EventPath, Probe> probes_;
  std::map<std::uint64_t, EventPath> by_serial_;
  std::set<EventPath> refused_;
  std::size_t places_ = 0, place_bytes_ = 0;
  std::uint64_t next_serial_ = 1;
  std::uint64_t changes_ = 0;
};

}  // namespace tallyfs
