#include "core/tracing/branch/tracing_state.h"

#include <cstring>

namespace tallyfs::tracing {
namespace {

// A record of ftrace/print or ftrace/raw_data, see their formats in instances.cpp. The raw one
// begins with its id, which is a field.
std::string marker_record(MarkerKind kind, std::string_view bytes, std::int32_t pid) {
  constexpr std::size_t kPidAt = 4;
  constexpr std::size_t kTextAt = 16;
  constexpr std::size_t kRawIdAt = 8;
  const bool is_text = kind == MarkerKind::kText;
  std::string record(is_text ? kTextAt : kRawIdAt, '\0');
  record[0] = is_text ? kMarkerId : kRawMarkerId;
  std::memcpy(record.data() + kPidAt, &pid, sizeof pid);
  return record.append(bytes);
}

Error undelivered_event() {
  return {ErrorCode::kNoDevice, "no source delivers this event at present"};
}

}  // namespace

Tracing::State::State(Tree& tree, Ledger& ledger, const Options& given)
    : options(given),
      readings(options.owner, options.reading_bytes_max),
      instances(ledger, options),
      offers(instances, routes, probes, options),
      order(instances, routes, options.counters),
      directories(tree, instances, probes, *this) {}

Result<void> Tracing::State::change(TracingInstance& instance, const CallContext& call,
                                    const Write& write, const Undo& undo) {
  auto done = change_only(instance, call, write, undo);
  sweep(call.now);
  return done;
}

void Tracing::State::sweep(Timestamp now) {
  std::vector<EventSource*> all;
  {
    const MutexLock lock(mutex);
    for (const EventPath& path : offers.remove_unused()) directories.update_all(path, now);
    all = routes.sources();
  }
  for (EventSource* const source : all) source->let_go(now);
}

Result<void> Tracing::State::change_only(TracingInstance& instance, const CallContext& call,
                                         const Write& write, const Undo& undo) {
  // Earlier records are fed to the triggers that were set before the write, in every instance.
  refresh(call);
  if (call.cancel.is_cancelled())
    return Error{ErrorCode::kInterrupted, "interrupted, nothing is set"};
  SourceRequests orders;
  Result<void> done;
  {
    const MutexLock lock(mutex);
    if (instance.removed) return removed_instance();
    order.release_drained(call.now);
    if (const auto written = write(instance.set); !written) done = written.error();
    instance.touch(call.now);
    if (auto fits = instance.hold_memory(); !fits) {
      if (undo) undo(instance.set);
      (void)instance.hold_memory();
      done = std::move(fits);
    }
    // A write that is refused may have taken effect in part.
    orders = enter_demands(instance, call.now);
  }
  auto given = give(orders, call.cancel);
  if (given) given = wait_for_expected(orders, call.cancel);
  const bool refused = !given && (orders.asks || orders.undelivered || !orders.expected.empty());
  if (!done || !refused || !undo) return done;
  revert(instance, undo, call.now);
  return given;
}

void Tracing::State::revert(TracingInstance& instance, const Undo& undo, Timestamp now) {
  SourceRequests orders;
  {
    const MutexLock lock(mutex);
    if (instance.removed) return;
    undo(instance.set);
    instance.touch(now);
    (void)instance.hold_memory();
    orders = enter_demands(instance, now);
  }
  (void)give(orders, no_wait());
}

SourceRequests Tracing::State::enter_demands(TracingInstance& instance, Timestamp now) {
  SourceRequests orders;
  orders.enter(instance, offers, routes);
  if (!routes.is_late_asked()) order.release(RecordSequencer::kReleaseAll, now);
  return orders;
}

Result<void> Tracing::State::give(const SourceRequests& orders, const CancellationToken& cancel) {
  Result<void> all;
  for (EventSource* const source : orders.sources) {
    auto done = source->want([this, source] { return wanted(*source); }, cancel);
    if (!done && all) all = std::move(done);
  }
  if (orders.undelivered && all) {
    return undelivered_event();
  }
  return all;
}

// The demand counts from the moment at which the event is offered, and want() waits until the
// source has heard of it. The source may be away for longer than a single order waits.
Result<void> Tracing::State::wait_for_expected(const SourceRequests& orders,
                                               const CancellationToken& cancel) {
  if (orders.expected.empty()) return {};
  EventSource* const from = orders.expected_from;
  for (;;) {
    const auto done = from->want([this, from] { return wanted(*from); }, cancel);
    const bool is_away = !done && done.error().code == ErrorCode::kNoDevice;
    const bool may_wait = is_away && !cancel.is_cancelled();
    const MutexLock lock(mutex);
    if (may_wait && offers.expected_from() && !has_ended_waits) continue;
    if (!done) return done;
    for (const EventPath& path : orders.expected) {
      if (!offers.is_delivered(path)) return undelivered_event();
    }
    return {};
  }
}

Result<void> Tracing::State::change_synthetic(const Write& write, std::string_view removed,
                                              Timestamp now) {
  const MutexLock lock(mutex);
  Result<void> done;
  instances.each([&](TracingInstance& instance) {
    if (removed.empty() || !instance.set.synthetic.is_used(removed)) return;
    // The top refuses with an error of its own, which repeats the command.
    if (!instance.name.empty()) done = Error{ErrorCode::kBusy, "in use in " + instance.name};
  });
  instances.each([&](TracingInstance& instance) {
    if (!done) return;
    if (const auto written = write(instance.set); !written) done = written.error();
    instance.touch(now);
  });
  directories.update_all(now);
  return done;
}

void Tracing::State::refresh(const CallContext& call, const TracingInstance* only) {
  std::vector<EventSource*> asked;
  bool is_late_left = false;
  {
    const MutexLock lock(mutex);
    const bool may_be_pending = order.has_pending() || routes.is_prompt_asked_by(only);
    for (EventSource* const source : routes.sources()) {
      const bool all = source->is_late() && may_be_pending;
      if (routes.is_asked(*source, all ? nullptr : only)) {
        asked.push_back(source);
      } else {
        is_late_left |= source->is_late() && routes.is_asked(*source);
      }
    }
  }
  for (EventSource* const source : asked) source->drain(call.cancel);
  if (is_late_left) return;
  const MutexLock lock(mutex);
  order.note_drained(call.now);
}

Result<void> Tracing::State::mark(TracingInstance& instance, MarkerKind kind,
                                  std::string_view bytes, pid_t writer, Timestamp now) {
  const auto pid = static_cast<std::int32_t>(writer);
  const std::string record = marker_record(kind, bytes, pid);
  const std::string name = options.processes ? options.processes->name_of(writer) : std::string();
  bool has_new_task = false;
  {
    const MutexLock lock(mutex);
    if (instance.removed) return removed_instance();
    if (!instance.markers) return Error{ErrorCode::kInvalid, "options/markers is off"};
    const EventRecord marked{
        .event = kind == MarkerKind::kText ? instance.marker : instance.raw_marker,
        .time_ns = static_cast<std::uint64_t>(now.monotonic.count()),
        .pid = pid,
        .bytes = record,
        .comm = name};
    order.feed_marker(instance, marked, now);
    has_new_task = note_groups({&marked, 1}, now);
  }
  if (has_new_task) look_up_groups(now);
  return {};
}

Result<void> Tracing::State::make_instance(std::string_view name, Timestamp now) {
  const MutexLock lock(mutex);
  const auto made = instances.create(name, now);
  if (!made) return made.error();
  if (const auto defined = offers.define_all(*made.value()); !defined) return defined.error();
  directories.enter(made.value(), now);
  instances.add(made.value());
  return {};
}

Result<void> Tracing::State::remove_instance(std::string_view name, Timestamp now) {
  SourceRequests orders;
  SharedInstance removed;  // freed after the lock is released, unless a file is open
  {
    const MutexLock lock(mutex);
    removed = instances.find(name);
    if (!removed) return Error{ErrorCode::kNotFound, "no such instance"};
    if (removed->open_mark.use_count() > 1) {
      return Error{ErrorCode::kBusy, "files of the instance are open"};
    }
    removed->removed = true;
    orders.sources = routes.asked_by(*removed);
    routes.remove(*removed);
    order.drop(*removed);
    directories.remove(*removed, now);
    instances.erase(removed);
    // Records that were pending because only this instance asked for a late source need not wait.
    routes.note_asked();
    if (!routes.is_late_asked()) order.release(RecordSequencer::kReleaseAll, now);
  }
  (void)give(orders, {});
  sweep(now);
  return {};
}

std::vector<WantedEvent> Tracing::State::wanted(EventSource& source) {
  const MutexLock lock(mutex);
  return routes.wanted(source);
}

SourceSymbols Tracing::State::symbols(const CancellationToken& cancel) {
  SourceSymbols::Sources all;
  for (const EventSource* const source : all_sources()) {
    if (auto known = source->symbols(cancel)) all.push_back(std::move(known));
  }
  return SourceSymbols(std::move(all));
}

std::vector<EventSource*> Tracing::State::all_sources() {
  const MutexLock lock(mutex);
  return routes.sources();
}

std::string Tracing::State::printk_formats(const CancellationToken& cancel) {
  std::string text;
  for (const EventSource* const source : all_sources()) text += source->printk_formats(cancel);
  return text;
}

bool Tracing::State::records_groups() {
  bool is_on = false;
  instances.each([&](const TracingInstance& each) { is_on |= each.records_groups; });
  if (!is_on) groups.clear();
  return is_on;
}

std::shared_ptr<const TaskGroups::Groups> Tracing::State::saved_groups() {
  (void)records_groups();
  return groups.all();
}

bool Tracing::State::note_groups(std::span<const EventRecord> records, Timestamp now) {
  if (!records_groups() || !options.processes) return false;
  for (const EventRecord& each : records) groups.note(each.pid, each.comm, now.monotonic);
  return groups.has_due();
}

void Tracing::State::look_up_groups(Timestamp now) {
  TaskGroups::Names due;
  {
    const MutexLock lock(mutex);
    due = groups.take_due();
  }
  TaskGroups::Groups found;
  for (const auto& [task, name] : due) found[task] = options.processes->group_of(task);
  const MutexLock lock(mutex);
  bool has_changed = false;
  for (const auto& [task, name] : due) {
    has_changed |= groups.enter(task, name, found[task], now.monotonic);
  }
  if (has_changed) instances.each([&](TracingInstance& each) { each.touch(now); });
}

bool Tracing::State::has_kernel_events() {
  const MutexLock lock(mutex);
  return offers.has_kernel_events();
}

void Tracing::State::count_lost(const std::set<TracingInstance*>& by, std::uint64_t records,
                                Timestamp now) {
  for (TracingInstance* const each : by) {
    each->count_lost(records);
    each->touch(now);
  }
  if (options.counters) options.counters->count("events_lost", records, now);
}

}  // namespace tallyfs::tracing
