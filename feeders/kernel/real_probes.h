// The probes of this mount in the kernel: makes them as ordered, under names that no other tool
// has, and removes them. Users know an event by the name that they gave it; the kernel's is
// `tallyfs_PID_NUMBER/EVENT_SERIAL`. A name that another probe of ours still has becomes
// `EVENT_SERIALx2`, and so on.
//
// To remove a probe the kernel empties the buffers of all instances in which it was ever on, the
// records of other events, too. So a probe that was on in our instance is *leaving*: it is off, and
// its definition goes with the instance, or later (leaving_probes.h), after a drain. A removal
// takes the kernel some 25 ms. Records that come meanwhile are lost; how many the kernel does not
// say, and one is counted for each removal.
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
#include "feeders/kernel/leaving_probes.h"
#include "feeders/tracefs/probe_group.h"

namespace tallyfs {

class RealProbes {
 public:
  // Of a line in the kernel's file, with our group and event.
  static constexpr std::size_t kRealLineBytesMax = 4'093;

  // Removals keep the orders waiting for this long, and for one removal more.
  static constexpr std::chrono::milliseconds kTidyMax{20};

  // Whose they are. Without a group, or tracefs, nothing is made.
  struct Owner {
    const Fd* tracefs = nullptr;  // nullptr: there is none
    std::optional<ProbeGroup> group;
  };

  // All outlive it. Finds what a predecessor has left of the group: what was recorded of it may be
  // wanted before the daemon names the probes.
  RealProbes(const Owner& owner, Catalogue& catalogue, EventTracing& events, const Clock& clock);

  // The hits of our places, by serials.
  using Profile = std::map<std::uint64_t, std::vector<wire::PlaceHits>>;

  // kNoDevice: there are no probes here.
  Result<void> may_define() const;
  // Errors: the kernel's, with its reason and location; token_at counts in the order's text.
  // kNoDevice: there are no probes here.
  Result<wire::Probed> define(const wire::ProbeOrder& order);
  // Unknown ones are left out.
  void remove(const std::vector<std::uint64_t>& serials);
  // All others go.
  void keep(const std::vector<std::uint64_t>& serials);
  // kBusy: probes come and go all the time. kNoDevice: there are no probes here, or the kernel does
  // not say how often they were met.
  Result<wire::Profiled> profile(const wire::ProfileOrder& order);
  // Removes what is leaving, if it is time, while something is recorded one of them; called after
  // the orders, and when due() is over. After kTidyMax the others stay, which are due at once.
  void tidy();
  // Nothing: nothing is leaving.
  std::optional<std::chrono::milliseconds> due() const;

 private:
  struct Made {
    std::string event;  // the real one
    bool is_of_program = true;
    std::uint32_t id = 0;
  };

  LeavingProbes::Activity activity() const;
  std::string free_name(const wire::ProbeOrder& order) const;
  std::string line_of(const wire::ProbeOrder& order, const std::string& event) const;
  // Of a line of a kind that is not made here.
  // kInvalid: this kernel has none of this kind.
  Result<void> may_make(char kind);
  Result<void> check_event(const wire::ProbeOrder& order) const;
  Error refusal(const wire::ProbeOrder& order, const std::string& line, const Error& error) const;
  // The last line that the kernel has of this event.
  std::optional<std::string> find_text(const std::string& event) const;
  void read_found();
  Result<Profile> read_profile() const;
  // Has its event in the catalogue; returns its format.
  Result<std::string> enter(Made& made);
  Result<wire::Probed> describe(const wire::ProbeOrder& order, Made& made, std::string text,
                                std::string file);
  // False: it is used elsewhere, and is leaving again.
  bool remove_now(std::string event);
  // Of one that was on: with a drain before.
  void remove_leaving(std::string event);

  const Fd* const tracefs_;
  const std::string group_;  // empty: nothing is made
  Catalogue& catalogue_;
  EventTracing& events_;
  const Clock& clock_;
  std::map<std::uint64_t, Made> made_;  // by serial
  // What a predecessor had made, until the daemon has named all its probes: places by events.
  std::multimap<std::string, std::string> found_;
  LeavingProbes leaving_;
  std::map<char, Result<void>> other_kinds_;  // those that were tried
  Profile profile_;  // as it was read last; empty: a reader has had the last of it
};

}  // namespace tallyfs
