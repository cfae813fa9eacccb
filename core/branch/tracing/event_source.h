// Who delivers events to the tracing directory: the feeder of the kernel's events, the programs
// that have events of their own. Tracing asks it for events and never asks twice for the same.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "core/base/call_context.h"
#include "core/base/result.h"
#include "core/event/set/demand.h"
#include "core/model/symbols.h"

namespace tallyfs {

// An event that is asked for, by the number under which its source has offered it, and what all
// that ask need of it: its filter is what they have in common.
struct WantedEvent {
  std::uint32_t source_id = 0;
  Demand demand;

  bool operator==(const WantedEvent&) const = default;
};

// Called from any thread, with no lock of the caller's held but where it says so.
class EventSource {
 public:
  using Wanted = std::function<std::vector<WantedEvent>()>;

  virtual ~EventSource() = default;

  // Has those events fed that wanted() names, and no others. wanted() may be called several times,
  // also later; the last result counts, so that orders that overtake one another do no harm.
  // Returns when the real events are on, or says why they are not, after a few seconds at most:
  // kNoDevice, kNoAccess, kInvalid for a filter that the source cannot take, kInterrupted. The
  // caller then takes its trigger off again.
  virtual Result<void> want(const Wanted& wanted, const CancellationToken& cancel) = 0;
  // What was recorded before this call has been fed when it returns; gives up soon (100 ms), or
  // when the call is cancelled, and counts that.
  virtual void drain(const CancellationToken& cancel) = 0;
  // An event that it offered is from now on another source's, for which Tracing has a reason.
  virtual void taken_over(std::string_view /*system*/, std::string_view /*event*/, Moment) {}
  // Something was taken off: what is there only because something was set on it can go.
  virtual void let_go(Moment) {}
  // Its records come some time after they have happened; those of sources that are not late wait
  // for them.
  virtual bool is_late() const { return false; }
  // What is asked of it comes from several who send when it suits them: records of one may come
  // behind later ones of another. Called with Tracing's lock held.
  virtual bool is_from_several() const { return false; }
  // The names of its addresses and system calls, for one call, whose token ends the wait for a
  // name; nullptr: it knows none. The source outlives the symbols.
  virtual std::unique_ptr<const Symbols> symbols(CancellationToken /*cancel*/) const {
    return nullptr;
  }
};

}  // namespace tallyfs
