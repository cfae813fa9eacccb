// A source of events for the tracing directory: the feeder of the kernel's events, or the programs
// that have events of their own. Tracing asks a source for events, and never twice for the same.
// EventSource says on which threads it is called.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/call_context.h"
#include "core/base/result.h"
#include "core/model/demand.h"
#include "core/model/symbols.h"

namespace tallyfs::tracing {

// An event that is asked for, by the number under which its source has offered it, and the needs of
// all that ask for it. Its filter is the part that their filters have in common.
struct WantedEvent {
  std::uint32_t source_id = 0;
  Demand demand;

  bool operator==(const WantedEvent&) const = default;
};

// Virtual functions are called from any thread, without a lock of the caller's. The others only
// read a member, and are called with Tracing's lock held.
class EventSource {
 public:
  using Wanted = std::function<std::vector<WantedEvent>()>;
  // Whether its records arrive some time after they have happened. Records of sources that are
  // prompt are pending until then.
  enum class Delay { kPrompt, kLate };

  explicit EventSource(Delay delay = Delay::kPrompt) : delay_(delay) {}
  virtual ~EventSource() = default;

  bool is_late() const { return delay_ == Delay::kLate; }
  // Whether its events come from several senders with delays of their own: records of one sender
  // may come after later records of another.
  bool is_from_several() const { return is_from_several_; }

  // Makes the source feed the events that wanted() names, and no others. wanted() may be called
  // several times, also later. Its last result counts, so that orders which overtake one another do
  // no harm. Returns when the real events are on, or with the reason why they are not. Errors:
  // kNoDevice, kNoAccess, kTimedOut, kInvalid for a filter that the source cannot take,
  // kInterrupted. After an error the caller removes its trigger again.
  virtual Result<void> want(const Wanted& wanted, const CancellationToken& cancel) = 0;
  // When it returns, the records made before this call have been fed. It gives up soon (100 ms), or
  // when the call is cancelled, and counts that.
  virtual void drain(const CancellationToken& cancel) = 0;
  // An event that this source offered is delivered by another source from now on.
  virtual void taken_over(std::string_view /*system*/, std::string_view /*event*/, Timestamp) {}
  // Something was removed from an event: events that existed only for it can be removed.
  virtual void let_go(Timestamp) {}
  // The names of its addresses and system calls, for one call; the call's token ends the wait for a
  // name. nullptr: the source knows no names. The source outlives the symbols.
  virtual std::unique_ptr<const Symbols> symbols(CancellationToken /*cancel*/) const {
    return nullptr;
  }
  // The texts in the memory of its kernel, as the tracing directory's printk_formats has them; the
  // call's token ends the wait. Empty: it knows none.
  virtual std::string printk_formats(const CancellationToken& /*cancel*/) const { return {}; }

 protected:
  void note_from_several(bool is_from_several) { is_from_several_ = is_from_several; }

 private:
  const Delay delay_;
  std::atomic<bool> is_from_several_{false};
};

}  // namespace tallyfs::tracing
