// Where probes are made: the feeder of the kernel's events. An event of a probe is one of the
// source of events, which records it; ProbeSource makes and removes it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/call_context.h"
#include "core/base/result.h"
#include "core/tracing/branch/event_source.h"
#include "core/tracing/probe/probe_line.h"

namespace tallyfs {

// A place of a probe, as the source is to make it. The serial tells probes of one mount apart, also
// from earlier ones of the same name.
struct ProbePlace {
  std::uint64_t serial = 0;
  ProbeKind kind = ProbeKind::kEntry;
  std::string event;
  std::string text;  // `PATH:OFFSET ARGUMENTS`
};

struct MadeProbe {
  std::uint32_t source_id = 0;
  std::string text;    // of the place, as the kernel repeats it
  std::string format;  // of the event, with the name that users see
};

// Virtual functions are called from any thread, without a lock of the caller's.
class ProbeSource {
 public:
  virtual ~ProbeSource() = default;

  // Has offered, and records, the events of the probes.
  virtual EventSource& events() = 0;
  // Makes the first place of a serial, or adds one. Records that an earlier event of the same id
  // has left were fed when it returns. Errors: the kernel's, with its reason and location;
  // token_at counts in the text of the place, and is kNoToken for the kind or the name. kNoDevice,
  // kTimedOut, kInterrupted: as of EventSource::want(); it may be made nevertheless.
  virtual Result<MadeProbe> define(const ProbePlace& place, const CancellationToken& cancel) = 0;
  // Removes probes that nothing is asked of any more, whatever is known of them. The same errors.
  virtual Result<void> remove(const std::vector<std::uint64_t>& serials,
                              const CancellationToken& cancel) = 0;
};

}  // namespace tallyfs
