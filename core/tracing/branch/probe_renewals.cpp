// Renewals of probes: their places are found and made again under a new serial, beside those that
// are there, and then what is set on the event is given to the new ones.
#include <algorithm>
#include <utility>

#include "core/tracing/branch/probe_profile.h"
#include "core/tracing/branch/probe_writes.h"
#include "core/tracing/command/faults.h"

namespace tallyfs::tracing {
namespace {

constexpr std::string_view kOtherFile =
    "the offset is of the file that was there: write the line with the new one";
constexpr std::string_view kOtherFields =
    "its fields are others now: take off what is set on it, remove it, write its line again";

// Behind `=:`.
Error refused(ErrorCode code, std::string_view reason, std::string_view line) {
  return probe_fault(code, kProbeLocation, line, std::string(reason), 2);
}

// What a format has behind the id of its event.
std::string_view fields_in(std::string_view format) {
  return format.substr(std::min(format.find("\nformat:"), format.size()));
}

// An offset of a file whose number is not known is not known to be one of this file, either.
bool is_of_file(std::span<const Probes::Place> places, const std::string& file) {
  const auto has_it = [&file](const Probes::Place& each) { return is_same_file(each.file, file); };
  return !file.empty() && std::ranges::any_of(places, has_it);
}

bool is_known_as_whole(const Probes::Probe& probe, const ProbeHits& hits) {
  PlaceStates states(hits, probe.serial);
  const auto is_in_its_file = [&states](const Probes::Place& place) {
    return is_stale(states.next(place), place.file) == false;
  };
  return std::ranges::all_of(probe.lines, [](const auto& line) { return line.places > 0; }) &&
         std::ranges::all_of(probe.places, is_in_its_file);
}

}  // namespace

Result<void> ProbeWrites::remake_line(const std::string& line,
                                      std::span<const Probes::Place> places,
                                      const std::string& event, Version& made) {
  const auto command = parse_probe_line(line);
  if (!command) return command.error();
  const auto& parsed = std::get<ProbeLine>(command.value());
  const auto found =
      parsed.place ? find(line, parsed) : Result<std::vector<PlaceText>>({text_of(parsed)});
  if (!found) return found.error();
  const bool is_offset = !parsed.place && parsed.target == ProbeTarget::kProgram;
  made.probe.lines.push_back({.text = line, .instances = parsed.instances});
  for (const PlaceText& text : found.value()) {
    const ProbePlace place{.serial = made.probe.serial,
                           .target = parsed.target,
                           .kind = parsed.kind,
                           .event = event,
                           .text = text.text,
                           .line = line,
                           .line_places = found.value().size(),
                           .instances = parsed.instances,
                           .is_after_endbr64 = text.is_after_endbr64};
    auto done = state_.options.probes->define(place, call_.cancel);
    if (!done) return in_line(line, text, done.error());
    MadeProbe& probe = done.value();
    if (is_offset && !is_of_file(places, probe.file)) {
      return probe_fault(ErrorCode::kInvalid, kProbeLocation, line, std::string(kOtherFile),
                         parsed.words.front().at);
    }
    made.probe.source_id = probe.source_id;
    made.format = std::move(probe.format);
    made.probe.places.push_back(
        {std::move(probe.text), std::move(probe.file), place.is_after_endbr64});
    made.probe.lines.back().places += 1;
  }
  return {};
}

Result<void> ProbeWrites::remake(const Path& path, const Version& before, Version& made) {
  std::span<const Probes::Place> places(before.probe.places);
  for (const Probes::Line& each : before.probe.lines) {
    auto done = remake_line(each.text, places.first(each.places), path.second, made);
    if (!done) return done;
    places = places.subspan(each.places);
  }
  return {};
}

ProbeWrites::Version ProbeWrites::version_of(const Path& path) {
  Version version{.probe = *state_.probes.find(path)};
  const TracingInstance& top = *state_.instances.top();
  if (const auto number = top.find(path)) version.format = *top.set.events.format_text(*number);
  return version;
}

Result<ProbeWrites::Version> ProbeWrites::begin_renewal(std::string_view line, const Path& path) {
  Probes::Probe* const probe = state_.probes.find(path);
  if (!probe) return refused(ErrorCode::kNotFound, "this mount has no such probe", line);
  if (probe->is_pending) return refused(ErrorCode::kBusy, fault::kInUse, line);
  probe->is_pending = true;
  probe->renewal = state_.probes.take_serial();
  return version_of(path);
}

Result<void> ProbeWrites::may_enter(std::string_view line, const Path& path, const Version& before,
                                    const Version& made) {
  const auto may = state_.probes.may_replace(*state_.probes.find(path), made.probe.places.size(),
                                             Probes::place_bytes(made.probe));
  if (!may) return refused(may.error().code, may.error().reason, line);
  const bool is_same = fields_in(before.format) == fields_in(made.format);
  if (is_same || !state_.offers.in_use(path)) return {};
  return refused(ErrorCode::kExists, kOtherFields, line);
}

// The event is another one to the source. What is set on it stays, and counts on.
Result<void> ProbeWrites::enter(const Path& path, const Version& version, std::uint64_t other) {
  Probes::Probe probe = version.probe;
  probe.is_pending = true;
  probe.renewal = other;
  const auto source_id = probe.source_id;
  state_.probes.renew(path, std::move(probe));
  state_.offers.detach(path);
  Result<void> done;
  if (source_id) {
    std::vector<TakenOver> taken_over;
    const EventOffer offer{.system = path.first, .text = version.format, .source_id = *source_id};
    const auto taken =
        state_.offers.take(state_.options.probes->events(), offer, call_.now, taken_over);
    if (!taken) done = taken.error();
  }
  state_.directories.update_all(path, call_.now);
  state_.instances.top()->touch(call_.now);
  return done;
}

// How many hits there were until the new one is on is not known.
void ProbeWrites::count_change(const Version& made) {
  if (!made.probe.source_id) return;
  const auto fed = state_.routes.fed_by(state_.options.probes->events(), *made.probe.source_id);
  if (!fed.empty()) state_.count_lost(fed, 1, call_.now);
}

SourceRequests ProbeWrites::orders() {
  EventSource& source = state_.options.probes->events();
  SourceRequests orders;
  if (state_.routes.is_asked(source)) orders.sources = {&source};
  return orders;
}

void ProbeWrites::bring_back(const Path& path, const Version& before, const Version& made) {
  SourceRequests asked;
  {
    const MutexLock lock(state_.mutex);
    (void)enter(path, before, made.probe.serial);
    asked = orders();
  }
  (void)state_.give(asked, no_wait());
}

// The probe that is there counts until the new one takes its place, and again if that one cannot be
// turned on. Until the end both have serials of this mount: a feeder that comes meanwhile leaves
// them.
Result<void> ProbeWrites::renew_one(std::string_view line, const Path& path) {
  Version made;
  auto begun = [&] {
    const MutexLock lock(state_.mutex);
    auto version = begin_renewal(line, path);
    if (version) {
      const Probes::Probe& probe = *state_.probes.find(path);
      made.probe.serial = probe.renewal;
      made.probe.target = probe.target;
      made.probe.kind = probe.kind;
    }
    return version;
  }();
  if (!begun) return begun.error();
  Version& before = begun.value();
  auto done = remake(path, before, made);
  // Hits until now are fed before the old event has no route any more.
  if (done) state_.refresh(call_);
  SourceRequests asked;
  bool is_entered = false;
  {
    const MutexLock lock(state_.mutex);
    state_.order.release_drained(call_.now);
    before = version_of(path);  // a feeder that came meanwhile may have found places of it
    if (done) done = may_enter(line, path, before, made);
    is_entered = bool(done);
    if (done) done = enter(path, made, before.probe.serial);
    if (done) count_change(made);
    if (done) asked = orders();
  }
  if (done) done = state_.give(asked, call_.cancel);
  if (!done && is_entered) bring_back(path, before, made);
  {
    const MutexLock lock(state_.mutex);
    Probes::Probe& probe = *state_.probes.find(path);
    probe.is_pending = false;
    probe.renewal = 0;
  }
  // The source that comes next removes what this one does not.
  (void)state_.options.probes->remove({done ? before.probe.serial : made.probe.serial},
                                      call_.cancel);
  if (done || !done.error().location.empty()) return done;
  return refused(done.error().code, done.error().reason, line);
}

std::vector<EventPath> ProbeWrites::stale(const std::vector<Path>& paths) {
  const auto hits = state_.options.probes->hits(call_.cancel);
  if (!hits) return paths;
  std::vector<Path> found;
  const MutexLock lock(state_.mutex);
  for (const Path& path : paths) {
    const Probes::Probe* const probe = state_.probes.find(path);
    if (!probe || !is_known_as_whole(*probe, hits.value())) found.push_back(path);
  }
  return found;
}

// One that is refused stops none of the others. The caller reports the first refusal.
Result<void> ProbeWrites::renew(std::string_view line, const ProbeRenewal& renewal) {
  auto paths = [&] {
    const MutexLock lock(state_.mutex);
    return state_.probes.matching(renewal.meant);
  }();
  if (paths.empty()) return refused(ErrorCode::kNotFound, "this mount has no such probe", line);
  if (renewal.meant.event.empty()) paths = stale(paths);
  Result<void> all;
  for (const Path& path : paths) {
    auto done = renew_one(line, path);
    if (done) continue;
    const Error& error = done.error();
    if (all) {
      all = error;
    } else if (state_.options.error_log) {
      state_.options.error_log->report(ErrorLog::kDaemon, error.location, error.text, error,
                                       call_.now);
    }
  }
  return all;
}

}  // namespace tallyfs::tracing
