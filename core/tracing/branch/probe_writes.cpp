#include "core/tracing/branch/probe_writes.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "core/tracing/command/command_text.h"
#include "core/tracing/command/faults.h"

namespace tallyfs::tracing {

// A refusal of the source, with its caret moved to the line as it was written.
Error ProbeWrites::in_line(std::string_view line, const PlaceText& place, const Error& error) {
  const bool has_place = error.token_at != Error::kNoToken;
  return probe_fault(error.code, error.location.empty() ? kProbeLocation : error.location, line,
                     error.reason, has_place ? place.byte_of(error.token_at) : 0);
}

Result<void> ProbeWrites::may_write() const {
  if (call_.uid == 0) return {};
  return Error{ErrorCode::kNotPermitted, "only root may define and remove probes", 0,
               std::string(kProbeLocation)};
}

Result<void> ProbeWrites::write(std::string_view lines) {
  if (auto allowed = may_write(); !allowed) return allowed;
  while (!lines.empty()) {
    const std::string_view line = next_command(lines);
    if (line.empty()) continue;
    if (auto done = write_line(line); !done) return done;
  }
  return {};
}

Result<void> ProbeWrites::write_line(std::string_view line) {
  const auto command = parse_probe_line(line, only_);
  if (!command) return command.error();
  if (const auto* const removal = std::get_if<ProbeRemoval>(&command.value())) {
    return remove(line, *removal);
  }
  if (const auto* const renewal = std::get_if<ProbeRenewal>(&command.value())) {
    return renew(line, *renewal);
  }
  const auto& parsed = std::get<ProbeLine>(command.value());
  if (auto may = check_target(line, parsed.target); !may) return may;
  if (auto may = check_event(line, parsed); !may) return may;
  return define(line, parsed);
}

// The kernel has the events of this mount's probes by other names, and no others of this mount's.
Result<void> ProbeWrites::check_event(std::string_view line, const ProbeLine& parsed) const {
  if (parsed.target != ProbeTarget::kEvent) return {};
  const Token& word = parsed.words.front();
  const NamedEvent named = *parse_named_event(word.text);
  const EventPath path(named.system, named.event);
  const MutexLock lock(state_.mutex);
  const OfferedEvent* const offered = state_.offers.find(path);
  EventSource* const source = offered ? offered->source : nullptr;
  const bool is_of_kernel = !source || source == &state_.options.probes->events();
  const bool is_own = state_.probes.has(path) || path.first == kSyntheticSystem || !is_of_kernel;
  if (!is_own) return {};
  return probe_fault(ErrorCode::kInvalid, kProbeLocation, line,
                     "an e: line is of an event of the kernel, not of one that this mount has made",
                     word.at);
}

Result<void> ProbeWrites::check_target(std::string_view line, ProbeTarget target) const {
  if (state_.options.probe_targets.has(target)) return {};
  return probe_fault(ErrorCode::kInvalid, kProbeLocation, line,
                     target == ProbeTarget::kKernel
                         ? "this kernel has no kprobes (CONFIG_KPROBE_EVENTS)"
                         : "this kernel has no uprobes (CONFIG_UPROBE_EVENTS)");
}

bool ProbeWrites::is_busy(const EventPath& path) {
  return state_.probes.find(path)->is_pending || state_.offers.in_use(path);
}

// The real event of a probe that is on would not get the new place before it is off and on again.
Result<ProbePlace> ProbeWrites::begin(std::string_view line, const ProbeLine& parsed,
                                      const PlaceText& text, bool& is_new) {
  const auto refused = [line](ErrorCode code, std::string_view reason, std::size_t at = 0) {
    return probe_fault(code, kProbeLocation, line, std::string(reason), at);
  };
  const EventPath path(parsed.group, parsed.event);
  Probes::Probe* probe = state_.probes.find(path);
  is_new = !probe;
  if (probe && is_busy(path)) return refused(ErrorCode::kBusy, fault::kInUse);
  if (probe && probe->target != parsed.target) {
    return refused(ErrorCode::kExists, "a probe of this name is in other code");
  }
  if (is_new && (state_.instances.top()->find(path) || path.first == kSyntheticSystem ||
                 path.first == kMarkerSystem)) {
    return refused(ErrorCode::kExists, "an event of this name is there that is no probe");
  }
  if (auto may = state_.probes.may_add(1, text.text.size() + line.size()); !may) {
    return refused(may.error().code, may.error().reason);
  }
  if (is_new) {
    auto added = state_.probes.add(path, parsed.target, parsed.kind);
    if (!added) return refused(added.error().code, added.error().reason);
    probe = added.value();
  }
  probe->is_pending = true;
  return ProbePlace{.serial = probe->serial,
                    .target = parsed.target,
                    .kind = parsed.kind,
                    .event = parsed.event,
                    .text = text.text,
                    .line = std::string(line),
                    .instances = parsed.instances,
                    .is_after_endbr64 = text.is_after_endbr64};
}

// The source has no records of the event yet. A probe that was there before a restart, and was not
// found, has no event either.
Result<void> ProbeWrites::enter(const EventPath& path, const ProbePlace& place, MadeProbe made) {
  Probes::Probe& probe = *state_.probes.find(path);
  probe.is_pending = false;
  std::vector<TakenOver> taken_over;
  const EventOffer offer{.system = path.first, .text = made.format, .source_id = made.source_id};
  const auto taken =
      state_.offers.take(state_.options.probes->events(), offer, call_.now, taken_over);
  if (!taken) return taken.error();
  probe.source_id = made.source_id;
  state_.directories.update_all(path, call_.now);
  state_.probes.add_place(probe, place,
                          {std::move(made.text), std::move(made.file), place.is_after_endbr64});
  state_.instances.top()->touch(call_.now);
  return {};
}

Result<std::vector<PlaceText>> ProbeWrites::find(std::string_view line, const ProbeLine& parsed) {
  const PlaceName& name = *parsed.place;
  const Token& word = parsed.words.front();
  const auto refused = [line](const Error& error, std::size_t at) {
    return probe_fault(error.code, kProbeLocation, line, error.reason, at);
  };
  const auto text = state_.options.probes->find(parsed.kind, std::string(word.text), call_.cancel);
  if (!text) {
    const std::size_t at = text.error().token_at;
    return refused(text.error(), word.at + (at == Error::kNoToken ? name.name_at : at));
  }
  const auto found = parse_found_places(text.value());
  if (!found) return refused(invalid("the search of the file gave no answer"), word.at);
  auto texts = texts_of(parsed, name, *found);
  if (texts) return texts;
  const std::size_t at = texts.error().token_at;
  return refused(texts.error(), at == Error::kNoToken ? word.at : at);
}

// A new probe has all of its places, or is not there.
Result<void> ProbeWrites::define(std::string_view line, const ProbeLine& parsed) {
  if (!parsed.place) return define_place(line, parsed, text_of(parsed), 1);
  const auto texts = find(line, parsed);
  if (!texts) return texts.error();
  const bool was_there = [&] {
    const MutexLock lock(state_.mutex);
    return state_.probes.has({parsed.group, parsed.event});
  }();
  for (const PlaceText& text : texts.value()) {
    auto done = define_place(line, parsed, text, texts.value().size());
    if (done) continue;
    if (!was_there)
      (void)remove(line, {.group = parsed.group, .event = parsed.event, .target = only_});
    return done;
  }
  return {};
}

Result<void> ProbeWrites::define_place(std::string_view line, const ProbeLine& parsed,
                                       const PlaceText& text, std::size_t all) {
  const EventPath path(parsed.group, parsed.event);
  bool is_new = false;
  Result<ProbePlace> place = [&] {
    const MutexLock lock(state_.mutex);
    return begin(line, parsed, text, is_new);
  }();
  if (!place) return place.error();
  place.value().line_places = all;
  ProbeSource& source = *state_.options.probes;
  auto made = source.define(place.value(), call_.cancel);
  Result<void> done;
  {
    const MutexLock lock(state_.mutex);
    done = made ? enter(path, place.value(), std::move(made.value()))
                : Result<void>(in_line(line, text, made.error()));
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
    const auto paths = state_.probes.matching({.group = {}, .event = {}, .target = only_});
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

Result<void> Tracing::may_add_places(std::size_t places, std::size_t bytes) const {
  const MutexLock lock(state_->mutex);
  return state_->probes.may_add(places, bytes);
}

std::vector<std::uint64_t> Tracing::probe_serials() const {
  const MutexLock lock(state_->mutex);
  return state_->probes.serials();
}

void Tracing::probe_refused(std::uint64_t serial, Error error, Timestamp now) {
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

bool Tracing::place_made_late(const ProbePlace& place, const MadeProbe& made, Timestamp now) {
  {
    const MutexLock lock(state_->mutex);
    const EventPath* const path = state_->probes.find(place.serial);
    if (!path || state_->probes.find(*path)->places.empty()) return false;
  }
  probe_made(place, made, now);
  return true;
}

}  // namespace tallyfs::tracing
