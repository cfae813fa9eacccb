// Writes of lines of uprobe_events and kprobe_events: what the source of probes makes and removes,
// and the events that users see of it. The lock of Tracing's State is not held while the source is
// called.
//
// Lives for one call, on its thread; the State outlives it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tracing/branch/tracing_state.h"
#include "core/tracing/probe/named_lines.h"

namespace tallyfs::tracing {

class ProbeWrites {
 public:
  // The source is the State's, which has one. only: lines of this target alone, and all others are
  // refused; nothing: of both.
  ProbeWrites(Tracing::State& state, const CallContext& call, std::optional<ProbeTarget> only)
      : state_(state), call_(call), only_(only) {}

  // Each of the lines, up to the first that is refused. kNotPermitted: the caller is not root.
  Result<void> write(std::string_view lines);
  // All probes go. kBusy: something is set on one of them, and all stay.
  Result<void> clear();

 private:
  using Path = EventPath;

  Result<void> may_write() const;
  Result<void> write_line(std::string_view line);
  Result<void> check_target(std::string_view line, ProbeTarget target) const;
  Result<void> check_event(std::string_view line, const ProbeLine& parsed) const
      EXCLUDES(state_.mutex);
  Result<void> define(std::string_view line, const ProbeLine& parsed);
  // all: how many places the line has.
  Result<void> define_place(std::string_view line, const ProbeLine& parsed, const PlaceText& place,
                            std::size_t all);
  // The kernel's texts of a place by name.
  Result<std::vector<PlaceText>> find(std::string_view line, const ProbeLine& parsed);
  Result<void> remove(std::string_view line, const ProbeRemoval& removal);
  // A refusal of the source, with its caret moved to the line as it was written.
  static Error in_line(std::string_view line, const PlaceText& place, const Error& error);

  // --- Renewals (probe_renewals.cpp).
  // A probe as the source has it, or makes it beside the one that is there.
  struct Version {
    Probes::Probe probe = {};
    std::string format = {};  // of the event; empty: there is none
  };
  Result<void> renew(std::string_view line, const ProbeRenewal& renewal);
  Result<void> renew_one(std::string_view line, const Path& path);
  // A probe of the paths is left out if all of its places are known to be in the files that their
  // paths have now.
  std::vector<Path> stale(const std::vector<Path>& paths);
  Version version_of(const Path& path) REQUIRES(state_.mutex);
  // Returns the version that is there. The probe waits for the source from now on.
  Result<Version> begin_renewal(std::string_view line, const Path& path) REQUIRES(state_.mutex);
  Result<void> remake(const Path& path, const Version& before, Version& made);
  // places: of the line, as they are.
  Result<void> remake_line(const std::string& line, std::span<const Probes::Place> places,
                           const std::string& event, Version& made);
  Result<void> may_enter(std::string_view line, const Path& path, const Version& before,
                         const Version& made) REQUIRES(state_.mutex);
  // The version takes the place of the one that is there. other: the serial of that one, which the
  // source has, too.
  Result<void> enter(const Path& path, const Version& version, std::uint64_t other)
      REQUIRES(state_.mutex);
  // The new one has its place, and cannot be turned on.
  void bring_back(const Path& path, const Version& before, const Version& made)
      EXCLUDES(state_.mutex);
  void count_change(const Version& made) REQUIRES(state_.mutex);
  // What the source is to be asked anew.
  SourceRequests orders() REQUIRES(state_.mutex);
  // A probe that waits for the source from now on. is_new: it is none yet.
  Result<ProbePlace> begin(std::string_view line, const ProbeLine& parsed, const PlaceText& text,
                           bool& is_new) REQUIRES(state_.mutex);
  Result<void> enter(const Path& path, const ProbePlace& place, MadeProbe made)
      REQUIRES(state_.mutex);
  bool is_busy(const Path& path) REQUIRES(state_.mutex);
  // Returns the serials that the source has to remove.
  std::vector<std::uint64_t> forget(const std::vector<Path>& paths) REQUIRES(state_.mutex);

  Tracing::State& state_;
  const CallContext& call_;
  const std::optional<ProbeTarget> only_;
};

}  // namespace tallyfs::tracing
