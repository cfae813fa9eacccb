// Where probes are made: the feeder of the kernel's events. An event of a probe is one of the
// source of events, which records it; ProbeSource makes and removes it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/call_context.h"
#include "core/base/result.h"
#include "core/tracing/branch/event_source.h"
#include "core/tracing/probe/probe_line.h"

namespace tallyfs::tracing {

// A place of a probe, as the source is to make it. The serial tells probes of one mount apart, also
// from earlier ones of the same name.
struct ProbePlace {
  std::uint64_t serial = 0;
  ProbeTarget target = ProbeTarget::kProgram;
  ProbeKind kind = ProbeKind::kEntry;
  std::string event;
  // `PATH:OFFSET ARGUMENTS`, or with the kernel's function; empty: it has to be found
  std::string text;
  std::string line = {};  // as it was written; empty: the place is listed with its line already
  std::string name = {};  // `PATH:FUNCTION`, of a place that has to be found
  std::size_t line_places = 0;  // how many the line has, of a place that was found
  unsigned instances = 0;       // ProbeLine::instances
  bool is_after_endbr64 = false;
};

// The places that a search has found for the line of one, with their texts. Errors: as of a write
// of the line.
Result<std::vector<ProbePlace>> found_places_of(const ProbePlace& named, std::string_view found);

// Files of places are MAJOR:MINOR:INODE:TIME, when they were written last in ns since 1970. Whether
// the file that a place was made in is the one that its path has now. A place of an earlier state
// file has no time: the others decide.
bool is_same_file(std::string_view made, std::string_view now);

struct MadeProbe {
  std::uint32_t source_id = 0;
  std::string text;    // of the place, as the kernel repeats it
  std::string file;    // which one it is in, as is_same_file() takes it; empty: it was made before
  std::string format;  // of the event, with the name that users see
};

// How often a place was met, and which file its path is now; empty: none; nothing: it is not known.
struct PlaceState {
  std::uint64_t hits = 0;
  std::optional<std::string> file = {};
  std::uint64_t missed = 0;  // of a place in the kernel
};
// Whether the path of a place that was made in this file has another one now, none, or one that was
// written since. Nothing: it is not known. state: may be nullptr.
std::optional<bool> is_stale(const PlaceState* state, std::string_view made);

// The kinds that the kernel has. Of the others its source says it, when one is to be made.
struct ProbeTargets {
  bool programs = true;
  bool kernel = false;

  bool has(ProbeTarget target) const {
    if (target == ProbeTarget::kProgram) return programs;
    return target != ProbeTarget::kKernel || kernel;
  }
};

// A place of a probe that was removed, and that the source still has.
struct LeavingPlace {
  std::uint64_t serial = 0;
  std::string event, text;  // without the group, which the source does not know
  std::uint64_t hits = 0;
};

struct ProbeHits {
  // Keys are serials and the first words of places; those of the same text are in the order of
  // their making.
  std::map<std::pair<std::uint64_t, std::string>, std::vector<PlaceState>> places = {};
  std::vector<LeavingPlace> leaving = {};  // by serials
};

// Virtual functions are called from any thread, without a lock of the caller's.
class ProbeSource {
 public:
  virtual ~ProbeSource() = default;

  // The source that has offered, and records, the events of the probes.
  virtual EventSource& events() = 0;
  // Makes the first place of a serial, or adds one. Records that an earlier event of the same id
  // has left were fed when it returns. Errors: the kernel's, with its reason and location;
  // token_at counts in the text of the place, and is kNoToken for the kind or the name. kNoDevice,
  // kTimedOut, kInterrupted: as of EventSource::want(); it may be made nevertheless.
  virtual Result<MadeProbe> define(const ProbePlace& place, const CancellationToken& cancel) = 0;
  // Where a place by name is, as print(FoundPlaces) has it. Errors: kInvalid, kNotFound and so on,
  // with their reason; token_at counts in the place. kNoDevice, kTimedOut, kInterrupted: as above.
  virtual Result<std::string> find(ProbeKind kind, const std::string& place,
                                   const CancellationToken& cancel) = 0;
  // Removes probes that nothing is asked of any more, whatever is known of them. The same errors.
  virtual Result<void> remove(const std::vector<std::uint64_t>& serials,
                              const CancellationToken& cancel) = 0;
  // Gives the states of all places that the source has. kBusy: it does not know. The same errors.
  virtual Result<ProbeHits> hits(const CancellationToken& cancel) = 0;
};

}  // namespace tallyfs::tracing
