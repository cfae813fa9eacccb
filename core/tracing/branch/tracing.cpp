#include "core/tracing/branch/tracing.h"

#include "core/tracing/branch/tracing_state.h"

namespace tallyfs::tracing {
namespace {

// The orders for a source when an event that it already offers is asked for.
SourceRequests orders_of(const EventRoutes& routes, EventSource& source) {
  return routes.is_asked(source) ? SourceRequests{.sources = {&source}} : SourceRequests{};
}

// The orders are given, and taken_over are told, when the lock is released.
Result<SourceRequests> take(Tracing::State& state, EventSource& source, const EventOffer& offer,
                            Timestamp now, std::vector<TakenOver>& taken_over)
    REQUIRES(state.mutex) {
  const auto taken = state.offers.take(source, offer, now, taken_over);
  if (!taken) return taken.error();
  state.directories.update_all(taken.value(), now);
  return orders_of(state.routes, source);
}

void notify(const std::vector<TakenOver>& taken_over, Timestamp now) {
  for (const auto& [from, path] : taken_over) from->taken_over(path.first, path.second, now);
}

}  // namespace

Tracing::Tracing(Tree& tree, NodeId directory, Ledger& ledger, const Options& options,
                 Timestamp now)
    : state_(std::make_shared<State>(tree, ledger, options)) {
  const MutexLock lock(state_->mutex);
  state_->directories.enter_top(directory, now);
}

Tracing::~Tracing() = default;

Result<void> Tracing::offer(EventSource& source, const EventOffer& offer, Timestamp now) {
  SourceRequests orders;
  std::vector<TakenOver> taken_over;
  {
    const MutexLock lock(state_->mutex);
    auto taken = take(*state_, source, offer, now, taken_over);
    if (!taken) return taken.error();
    orders = std::move(taken).value();
  }
  notify(taken_over, now);
  return state_->give(orders, {});
}

// The probe is looked up and its event offered under one lock: of a probe that a write removes, no
// event must be left, which nothing could remove.
void Tracing::probe_made(const ProbePlace& place, const MadeProbe& made, Timestamp now) {
  if (!state_->options.probes) return;
  EventSource& source = state_->options.probes->events();
  Result<SourceRequests> taken = SourceRequests{};
  std::vector<TakenOver> taken_over;
  {
    const MutexLock lock(state_->mutex);
    const EventPath* const path = state_->probes.find(place.serial);
    if (!path) return;
    Probes::Probe& probe = *state_->probes.find(*path);
    probe.source_id = made.source_id;
    Probes::Place known{made.text, made.file, place.is_after_endbr64};
    if (place.line.empty()) {
      state_->probes.set_file(probe, known);
    } else {
      state_->probes.add_place(probe, place, std::move(known));
    }
    const EventOffer offer{
        .system = path->first, .text = made.format, .source_id = made.source_id};
    taken = take(*state_, source, offer, now, taken_over);
  }
  notify(taken_over, now);
  const auto done = taken ? state_->give(taken.value(), {}) : Result<void>(taken.error());
  if (!done) probe_refused(place.serial, done.error(), now);
}

std::size_t Tracing::offer(EventSource& source, std::span<const EventOffer> offers, Timestamp now) {
  std::size_t taken = 0;
  SourceRequests orders;
  std::vector<TakenOver> taken_over;
  {
    const MutexLock lock(state_->mutex);
    for (const EventOffer& each : offers) {
      taken += state_->offers.take(source, each, now, taken_over) ? 1 : 0;
    }
    state_->directories.update_all(now);
    orders = orders_of(state_->routes, source);
  }
  notify(taken_over, now);
  (void)state_->give(orders, {});
  return taken;
}

void Tracing::withdraw(EventSource& source, Timestamp now) {
  const MutexLock lock(state_->mutex);
  state_->offers.withdraw(source);
  state_->order.release(RecordSequencer::kReleaseAll, now);
  state_->routes.remove(source);
  state_->routes.note_asked();
  state_->directories.update_all(now);
}

Result<void> Tracing::withdraw(EventSource& source, std::uint32_t source_id, Timestamp now) {
  const MutexLock lock(state_->mutex);
  const auto withdrawn = state_->offers.withdraw(source, source_id);
  if (!withdrawn) return withdrawn.error();
  state_->directories.update_all(withdrawn.value(), now);
  return {};
}

void Tracing::expect(EventSource& from) {
  const MutexLock lock(state_->mutex);
  state_->offers.expect(from);
}

bool Tracing::misses_expected() const {
  const MutexLock lock(state_->mutex);
  return state_->offers.misses_expected();
}

void Tracing::end_expecting(Timestamp now) {
  const MutexLock lock(state_->mutex);
  if (!state_->offers.expected_from()) return;
  state_->offers.end_expecting();
  state_->routes.note_asked();
  if (!state_->offers.remove_unused().empty()) state_->directories.update_all(now);
}

void Tracing::end_waits() {
  const MutexLock lock(state_->mutex);
  state_->has_ended_waits = true;
}

Tracing::KnownEvent Tracing::known(std::string_view system, std::string_view name) const {
  const MutexLock lock(state_->mutex);
  const EventPath path(system, name);
  const TracingInstance& top = *state_->instances.top();
  const auto number = top.find(path);
  if (!number) return {};
  return {.id = top.set.events.format(*number).id, .is_in_use = state_->offers.in_use(path)};
}

EventIds::Id Tracing::hold_id(std::string_view system, std::string_view name, std::uint16_t id) {
  const MutexLock lock(state_->mutex);
  return state_->instances.ids().of(system, name, id);
}

void Tracing::feed_pending(Timestamp now) {
  const MutexLock lock(state_->mutex);
  state_->order.release(RecordSequencer::kReleaseAll, now);
}

std::vector<WantedEvent> Tracing::wanted(EventSource& source) const {
  return state_->wanted(source);
}

void Tracing::feed(EventSource& source, std::span<const EventRecord> records, Timestamp now,
                   std::uint32_t use) {
  State& state = *state_;
  bool has_new_task = false;
  {
    const MutexLock lock(state.mutex);
    const std::uint64_t taken = state.order.feed(source, records, use, now);
    if (taken != 0 && state.options.counters) state.options.counters->count("events", taken, now);
    has_new_task = state.note_groups(records, now);
  }
  if (has_new_task) state.look_up_groups(now);
}

void Tracing::lost(EventSource& source, std::uint64_t records, Timestamp now) {
  const MutexLock lock(state_->mutex);
  state_->count_lost(state_->routes.fed_by(source), records, now);
}

bool Tracing::broke_off(EventSource& source, Timestamp now) {
  const MutexLock lock(state_->mutex);
  state_->order.release(RecordSequencer::kReleaseAll, now);
  const auto asking = state_->routes.fed_by(source);
  if (asking.empty()) return false;
  const auto time_ns = static_cast<std::uint64_t>(now.monotonic.count());
  for (TracingInstance* const each : asking) {
    each->set.trace.add_gap(time_ns, state_->options.cpus);
  }
  state_->count_lost(asking, 1, now);
  return true;
}

void Tracing::leave_out(std::vector<pid_t> threads) {
  ExcludedThreads excluded(std::move(threads));
  const MutexLock lock(state_->mutex);
  state_->order.exclude(std::move(excluded));
}

}  // namespace tallyfs::tracing
