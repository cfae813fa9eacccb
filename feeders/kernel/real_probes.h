// The probes of this mount in the kernel: makes them as ordered, under names that no other tool
// has, and removes them. Users know an event by the name that they gave it; the kernel's is
// `tallyfs_PID_NUMBER/EVENT_SERIAL`.
//
// To remove a probe the kernel empties the buffers of all instances in which it was ever on, the
// records of other events, too. So a probe that was on in our instance is *leaving*: it is off, and
// its definition goes with the instance, or with kLeavingMax others, or after kLeavingTime, all of
// them at once, behind a drain. Records that come in between are lost, and one is counted for them.
//
// Confined to one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/result.h"
#include "core/wire/probe_order.h"
#include "feeders/kernel/catalogue.h"
#include "feeders/kernel/event_tracing.h"
#include "feeders/tracefs/probe_group.h"

namespace tallyfs {

class RealProbes {
 public:
  static constexpr std::size_t kLeavingMax = 64;
  static constexpr std::chrono::minutes kLeavingTime{10};
  // Until another try, when another tool uses one of them.
  static constexpr std::chrono::seconds kTryAgain{10};

  // Whose they are. Without a group, or tracefs, nothing is made.
  struct Owner {
    const Fd* tracefs = nullptr;  // nullptr: there is none
    std::optional<ProbeGroup> group;
  };

  // All outlive it. Finds what a predecessor has left of the group: what was recorded of it may be
  // wanted before the daemon names the probes.
  RealProbes(const Owner& owner, Catalogue& catalogue, EventTracing& events, const Clock& clock);

  // Errors: the kernel's, with its reason and location; token_at counts in the order's text.
  // kNoDevice: there are no probes here.
  Result<wire::Probed> define(const wire::ProbeOrder& order);
  // Unknown ones are left out.
  void remove(const std::vector<std::uint64_t>& serials);
  // All others go.
  void keep(const std::vector<std::uint64_t>& serials);
  // Removes what is leaving, if it is time; called after each order, and when due() is over.
  void tidy();
  // Nothing: nothing is leaving.
  std::optional<std::chrono::milliseconds> due() const;

 private:
  struct Made {
    std::string event;  // the real one
    std::uint32_t id = 0;
  };

  std::string line_of(const wire::ProbeOrder& order, const std::string& event) const;
  Error refusal(const wire::ProbeOrder& order, const std::string& line, const Error& error) const;
  // The line that the kernel has of this event, the last one; with a text: that one alone.
  std::optional<std::string> find_text(const std::string& event, const std::string& text) const;
  // Has its event in the catalogue; returns its format.
  Result<std::string> enter(Made& made);
  Result<wire::Probed> describe(const wire::ProbeOrder& order, Made& made, std::string text);
  void remove_now(const std::vector<std::string>& events);

  const Fd* const tracefs_;
  const std::string group_;  // empty: nothing is made
  Catalogue& catalogue_;
  EventTracing& events_;
  const Clock& clock_;
  std::map<std::uint64_t, Made> made_;  // by serial
  std::vector<std::string> leaving_;
  std::chrono::nanoseconds tidy_at_{};  // if any are leaving
};

}  // namespace tallyfs
