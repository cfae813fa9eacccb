// The probes of the mount: their names, places and serial numbers. Their events are among those
// that were offered (EventOffers).
// Confined to the lock of Tracing's State.
// Limits: kProbesMax probes; of all together kPlacesMax places, which have kPlaceBytesMax bytes
// with the lines that they come from.
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

namespace tallyfs::tracing {

class Probes {
 public:
  static constexpr std::size_t kProbesMax = 4'096;
  static constexpr std::size_t kPlacesMax = 65'536;
  static constexpr std::size_t kPlaceBytesMax = std::size_t{8} << 20;

  // A line as it was written. Its places follow those of the line before it.
  struct Line {
    std::string text;
    std::size_t places = 0;
    bool is_sought = false;  // by a name: not all of its places are found and made yet
    unsigned instances = 0;  // ProbeLine::instances
  };
  struct Place {
    std::string text;       // as the kernel repeats it
    std::string file = {};  // MadeProbe::file; empty: it is not known
    // It is that of a function by name which begins 4 bytes before, with endbr64. Nothing: of a
    // server that did not keep it.
    std::optional<bool> is_after_endbr64 = false;
  };
  struct Probe {
    std::uint64_t serial = 0;
    ProbeTarget target = ProbeTarget::kProgram;
    ProbeKind kind = ProbeKind::kEntry;
    std::vector<Line> lines = {};
    std::vector<Place> places = {};
    std::optional<std::uint32_t> source_id;  // nothing: the source has not made it
    bool is_pending = false;                 // a write waits for the source
    // While a renewal is under way: the serial of the other version that the source has. 0: none.
    std::uint64_t renewal = 0;
  };

  bool has(const EventPath& path) const { return probes_.contains(path); }
  Probe* find(const EventPath& path);
  // Nothing: the event is of no probe.
  std::optional<ProbeTarget> target_of(const EventPath& path) const;
  // A probe of that name with a serial of its own, without a place. kNoSpace.
  Result<Probe*> add(const EventPath& path, ProbeTarget target, ProbeKind kind);
  // One that was there before a restart. kExists; kNoSpace: there would be twice as many, or as
  // much, as the limits. What is saved may be beyond them: the kernel repeats places longer than
  // they were written, and some were on their way when others were added.
  Result<void> restore(const EventPath& path, Probe probe);
  // Whether so many places, with so much text, may be added. kNoSpace.
  Result<void> may_add(std::size_t places, std::size_t bytes) const;
  // Likewise, in the place of those that the probe has.
  Result<void> may_replace(const Probe& probe, std::size_t places, std::size_t bytes) const;
  // Adds a place to the line that `of` has. Each line is in its probe once, however often it was
  // written. A place that is sought may have been made before: it is not added twice.
  void add_place(Probe& probe, const ProbePlace& of, Place place);
  // Sets the file of places with this text, which were made again.
  void set_file(Probe& probe, const Place& place);
  // The number of a probe that add() does not make.
  std::uint64_t take_serial() { return next_serial_++; }
  // The other version takes the place of a probe that is there.
  void renew(const EventPath& path, Probe other);
  void remove(const EventPath& path);
  // How much of kPlaceBytesMax a probe has.
  static std::size_t place_bytes(const Probe& probe);
  // One that was there before a restart cannot be here; its event must not be, either: without the
  // probe its histograms would be readable as those of other events are.
  void refuse(const EventPath& path) { refused_.insert(path); }
  bool is_refused(const EventPath& path) const { return refused_.contains(path); }

  // The probes that a removal matches, in the order of their creation.
  std::vector<EventPath> matching(const ProbeRemoval& removal) const;
  std::vector<EventPath> all() const { return matching({}); }
  // nullptr: there is none.
  const EventPath* find(std::uint64_t serial) const;
  // For a source that makes all anew: each place, and lines that are sought, without their places.
  std::vector<ProbePlace> places() const;
  // Those that the source may have: of a probe that is renewed, both.
  std::vector<std::uint64_t> serials() const;
  // `p:GROUP/EVENT PLACE`, a line for each place, in the order in which the probes were made. Lines
  // that have none are as they were written. Nothing: of both targets.
  std::string text(std::optional<ProbeTarget> target) const;

  // All of them, in the order in which they were made.
  std::vector<std::pair<EventPath, Probe>> copy() const;

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

}  // namespace tallyfs::tracing
