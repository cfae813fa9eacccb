#include "core/tracing/branch/probe_writes.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "core/tracing/command/faults.h"

namespace tallyfs {
namespace {

// The next line, up to a '#'.
std::string_view next_line(std::string_view& lines) {
  const std::size_t end = std::min(lines.find('\n'), lines.size());
  const std::string_view line = lines.substr(0, end);
  lines.remove_prefix(std::min(end + 1, lines.size()));
  return trimmed(line.substr(0, line.find('#')));
}

// A refusal of the source, with its caret moved to the line as it was written.
Error in_line(std::string_view line, const ProbeLine& parsed, const Error& error) {
  const bool has_place = error.token_at != Error::kNoToken;
  return probe_fault(error.code, error.location.empty() ? kProbeLocation : error.location, line,
                     error.reason, has_place ? parsed.byte_of(error.token_at) : 0);
}

}  // namespace

Result<void> ProbeWrites::may_write() const {
  if (call_.uid == 0) return {};
  return Error{ErrorCode::kNotPermitted, "only root may define and remove probes", 0,
               std::string(kProbeLocation)};
}

Result<void> ProbeWrites::write(std::string_view lines) {
  if (auto allowed = may_write(); !allowed) return allowed;
  while (!lines.empty()) {
    const std::string_view line = next_line(lines);
    if (line.empty()) continue;
    if (auto done = write_line(line); !done) return done;
  }
  return {};
}

Result<void> ProbeWrites::write_line(std::string_view line) {
  const auto command = parse_probe_line(line);
  if (!command) return command.error();
  if (const auto* const removal = std::get_if<ProbeRemoval>(&command.value())) {
    return remove(line, *removal);
  }
  return define(line, std::get<ProbeLine>(command.value()));
}

bool ProbeWrites::is_busy(const EventPath& path) {
  return state_.probes.find(path)->is_pending || state_.offers.in_use(path);
}

// The real event of a probe that is on would not get the new place before it is off and on again.
Result<ProbePlace> ProbeWrites::begin(std::string_view line, const ProbeLine& parsed,
                                      bool& is_new) {
  const auto refused = [line](ErrorCode code, std::string_view reason, std::size_t at = 0) {
    return probe_fault(code, kProbeLocation, line, std::string(reason), at);
  };
  const EventPath path(parsed.group, parsed.event);
  Probes::Probe* probe = state_.probes.find(path);
  is_new = !probe;
  if (probe && is_busy(path)) return refused(ErrorCode::kBusy, fault::kInUse);
  if (is_new && (state_.instances.top()->find(path) || path.first == kSyntheticSystem ||
                 path.first == kMarkerSystem)) {
    return refused(ErrorCode::kExists, "an event of this name is there that is no probe");
  }
  if (auto may = state_.probes.may_add_place(parsed.text()); !may) {
    return refused(may.error().code, may.error().reason);
  }
  if (is_new) {
    auto added = state_.probes.add(path, parsed.kind);
    if (!added) return refused(added.error().code, added.error().reason);
    probe = added.value();
  }
  probe->is_pending = true;
  return ProbePlace{.serial = probe->serial,
                    .kind = parsed.kind,
                    .event = parsed.event,
                    .text = parsed.text()};
}

// The event of a new probe; the source has no records of it yet.
Result<void> ProbeWrites::enter(const EventPath& path, MadeProbe made, bool is_new) {
  Probes::Probe& probe = *state_.probes.find(path);
  probe.is_pending = false;
  if (is_new) {
    std::vector<TakenOver> taken_over;
    const EventOffer offer{
        .system = path.first, .text = made.format, .source_id = made.source_id};
    const auto taken =
        state_.offers.take(state_.options.probes->events(), offer, call_.now, taken_over);
    if (!taken) return taken.error();
    probe.source_id = made.source_id;
    state_.directories.update_all(path, call_.now);
  }
  state_.probes.add_place(probe, std::move(made.text));
  state_.instances.top()->touch(call_.now);
  return {};
}

Result<void> ProbeWrites::define(std::string_view line, const ProbeLine& parsed) {
  const EventPath path(parsed.group, parsed.event);
  bool is_new = false;
  Result<ProbePlace> place = [&] {
    const MutexLock lock(state_.mutex);
    return begin(line, parsed, is_new);
  }();
  if (!place) return place.error();
  ProbeSource& source = *state_.options.probes;
  auto made = source.define(place.value(), call_.cancel);
  Result<void> done;
  {
    const MutexLock lock(state_.mutex);
    done = made ? enter(path, std::move(made.value()), is_new)
                : Result<void>(in_line(line, parsed, made.error()));
    if (!done && is_new) state_.probes.remove(path);
    if (!done && !is_new) state_.probes.find(path)->is_pending = false;
  }
  // It may have been made nevertheless.
  if (!done && is_new) (void)source.remove({place.value().serial}, call_.cancel);
  return done;
}

std::vector<std::uint64_t> ProbeWrites::forget(const std::vector<EventPath>& paths) {
  std::vector<std::uint64_t> serials;
  for (const EventPath& path : paths) {
    const Probes::Probe& probe = *state_.probes.find(path);
    serials.push_back(probe.serial);
    if (probe.source_id) {
      (void)state_.offers.withdraw(state_.options.probes->events(), *probe.source_id);
    }
    state_.probes.remove(path);
    state_.directories.update_all(path, call_.now);
  }
  state_.instances.top()->touch(call_.now);
  return serials;
}

Result<void> ProbeWrites::remove(std::string_view line, const ProbeRemoval& removal) {
  const auto refused = [line](ErrorCode code, std::string_view reason) {
    return probe_fault(code, kProbeLocation, line, std::string(reason), 2);
  };
  std::vector<std::uint64_t> serials;
  {
    const MutexLock lock(state_.mutex);
    const auto paths = state_.probes.matching(removal);
    if (paths.empty()) return refused(ErrorCode::kNotFound, "this mount has no such probe");
    for (const EventPath& path : paths) {
      if (is_busy(path)) return refused(ErrorCode::kBusy, fault::kInUse);
    }
    serials = forget(paths);
  }
  // The source that comes next removes what this one does not.
  (void)state_.options.probes->remove(serials, call_.cancel);
  return {};
}

Result<void> ProbeWrites::clear() {
  if (auto allowed = may_write(); !allowed) return allowed;
  std::vector<std::uint64_t> serials;
  {
    const MutexLock lock(state_.mutex);
    const auto paths = state_.probes.all();
    for (const EventPath& path : paths) {
      if (!is_busy(path)) continue;
      return Error{ErrorCode::kBusy, std::string(fault::kInUse), 0, std::string(kProbeLocation),
                   path.first + "/" + path.second};
    }
    if (paths.empty()) return {};
    serials = forget(paths);
  }
  (void)state_.options.probes->remove(serials, call_.cancel);
  return {};
}

// ---- For the source that makes them anew.

std::vector<ProbePlace> Tracing::probe_places() const {
  const MutexLock lock(state_->mutex);
  return state_->probes.places();
}

std::vector<std::uint64_t> Tracing::probe_serials() const {
  const MutexLock lock(state_->mutex);
  return state_->probes.serials();
}

void Tracing::probe_made(std::uint64_t serial, const MadeProbe& made, Moment now) {
  if (!state_->options.probes) return;
  EventSource& source = state_->options.probes->events();
  EventPath path;
  {
    const MutexLock lock(state_->mutex);
    const EventPath* const found = state_->probes.find(serial);
    if (!found) return;
    path = *found;
    state_->probes.find(path)->source_id = made.source_id;
  }
  const auto taken = offer(
      source, {.system = path.first, .text = made.format, .source_id = made.source_id}, now);
  if (!taken) probe_refused(serial, taken.error(), now);
}

void Tracing::probe_refused(std::uint64_t serial, Error error, Moment now) {
  std::string line;
  {
    const MutexLock lock(state_->mutex);
    const EventPath* const path = state_->probes.find(serial);
    if (path) line = path->first + "/" + path->second;
  }
  if (line.empty() || !state_->options.error_log) return;
  if (error.location.empty()) error.location = kProbeLocation;
  error.token_at = 0;
  state_->options.error_log->report(ErrorLog::kDaemon, error.location, line, error, now);
}

bool Tracing::place_made_late(std::uint64_t serial, const MadeProbe& made, Moment now) {
  const MutexLock lock(state_->mutex);
  const EventPath* const path = state_->probes.find(serial);
  Probes::Probe* const probe = path ? state_->probes.find(*path) : nullptr;
  if (!probe || probe->places.empty()) return false;
  state_->probes.add_place(*probe, made.text);
  state_->instances.top()->touch(now);
  return true;
}

}  // namespace tallyfs
