// What the files of the tracing directory call, with their own lock-keeping: looks, writes that
// wait for the sources, markers.
#include <algorithm>
#include <cstring>
#include <fstream>

#include "core/branch/tracing/tracing_state.h"

namespace tallyfs {
namespace {

// Who writes waits for the answer, and is there. Empty: it is not to be seen from here.
std::string name_of_process(pid_t pid) {
  std::string name;
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::getline(file, name);
  return name;
}

}  // namespace

// Into the ledger: histograms, as large as they may become, and the buffers of trace and snapshot
// beyond what they have at first.
Result<void> Tracing::State::hold_memory(TracingInstance& instance) {
  const std::size_t trace_bytes = std::max(instance.set.trace_bytes(), options.set.trace_bytes_max);
  const std::size_t bytes =
      instance.set.hist_bytes() + 2 * (trace_bytes - options.set.trace_bytes_max);
  const std::size_t before = instance.held_bytes;
  if (bytes > before) {
    if (auto grown = instance.share.grow({.bytes = bytes - before}); !grown) return grown;
  } else {
    instance.share.shrink({.bytes = before - bytes});
  }
  instance.held_bytes = bytes;
  return {};
}

Result<void> Tracing::State::change(TracingInstance& instance, const CallContext& call,
                                    const Write& write, const Undo& undo) {
  auto done = change_only(instance, call, write, undo);
  sweep(call.now);
  return done;
}

void Tracing::State::sweep(Moment now) {
  std::vector<EventSource*> all;
  {
    const MutexLock lock(mutex);
    forget_unused(now);
    all = sources;
  }
  for (EventSource* const source : all) source->let_go(now);
}

Result<void> Tracing::State::change_only(TracingInstance& instance, const CallContext& call,
                                         const Write& write, const Undo& undo) {
  // What was recorded before it met what was set until then, in whichever instance.
  refresh(call);
  if (call.cancel.is_cancelled())
    return Error{ErrorCode::kInterrupted, "interrupted, nothing is set"};
  Orders orders;
  Result<void> done;
  {
    const MutexLock lock(mutex);
    if (instance.removed) return removed_instance();
    release_drained(call.now);
    if (const auto written = write(instance.set); !written) done = written.error();
    touch(instance, call.now);
    if (auto fits = hold_memory(instance); !fits) {
      if (undo) undo(instance.set);
      (void)hold_memory(instance);
      done = std::move(fits);
    }
    // What is refused may have taken effect in part.
    update_routes(instance, orders);
  }
  const auto given = give(orders, call.cancel);
  const bool refused = !given && (orders.asks || orders.undelivered);
  if (!done || !refused || !undo) return done;
  Orders taken_back;
  {
    const MutexLock lock(mutex);
    if (instance.removed) return given;
    undo(instance.set);
    touch(instance, call.now);
    (void)hold_memory(instance);
    update_routes(instance, taken_back);
  }
  (void)give(taken_back, call.cancel);
  return given;
}

Result<void> Tracing::State::change_synthetic(const Write& write, std::string_view removed,
                                              Moment now) {
  const MutexLock lock(mutex);
  Result<void> done;
  each_instance([&](TracingInstance& instance) {
    if (removed.empty() || !is_synthetic_used(instance, removed)) return;
    // In the top it has words of its own, with the command that was written.
    if (&instance != top.get()) done = Error{ErrorCode::kBusy, "in use in " + instance.name};
  });
  each_instance([&](TracingInstance& instance) {
    if (!done) return;
    if (const auto written = write(instance.set); !written) done = written.error();
    touch(instance, now);
  });
  update_all_directories(now);
  return done;
}

bool Tracing::State::is_synthetic_used(const TracingInstance& instance, std::string_view name) {
  for (const auto& event : instance.set.events()) {
    if (event.system != kSyntheticSystem || (name != "*" && name != event.name)) continue;
    if (instance.set.in_use(event.number)) return true;
  }
  return false;
}

void Tracing::State::refresh(const CallContext& call, const TracingInstance* only) {
  std::vector<EventSource*> asked;
  {
    const MutexLock lock(mutex);
    for (EventSource* const source : sources) {
      const bool all = !only || (source->is_late() && !held.is_empty());
      const auto is_meant = [&](const Target& target) { return all || target.instance == only; };
      const auto fed = [&](const Route& route) {
        return std::ranges::any_of(route.targets, is_meant);
      };
      if (std::ranges::any_of(routes[source], fed)) asked.push_back(source);
    }
  }
  for (EventSource* const source : asked) source->drain(call.cancel);
  const MutexLock lock(mutex);
  drained_ns = std::max(drained_ns, static_cast<std::uint64_t>(call.now.monotonic.count()));
  release_drained(call.now);
}

Result<void> Tracing::State::mark(TracingInstance& instance, std::string_view text, pid_t writer,
                                  Moment now) {
  std::string bytes(16, '\0');
  bytes[0] = 5;
  const auto pid = static_cast<std::int32_t>(writer);
  std::memcpy(bytes.data() + 4, &pid, sizeof pid);
  bytes.append(text);
  const std::string name = name_of_process(writer);
  const MutexLock lock(mutex);
  if (instance.removed) return removed_instance();
  if (!instance.markers) return Error{ErrorCode::kInvalid, "options/markers is off"};
  feed_marker(instance, {.event = instance.marker,
                         .time_ns = static_cast<std::uint64_t>(now.monotonic.count()),
                         .pid = pid,
                         .bytes = bytes,
                         .comm = name});
  touch(instance, now);
  return {};
}

SourceSymbols Tracing::State::symbols(const CancellationToken& cancel) {
  const MutexLock lock(mutex);
  SourceSymbols::Sources all;
  for (const EventSource* const source : sources) {
    if (auto known = source->symbols(cancel)) all.push_back(std::move(known));
  }
  return SourceSymbols(std::move(all));
}

Result<Reservation> Tracing::State::reserve_reading(std::uint64_t bytes) {
  auto share = Reservation::create(reading, options.owner, {.bytes = bytes});
  if (share) return share;
  return Error{ErrorCode::kNoSpace,
               "those who read histograms and traces already keep all of the " +
                   std::to_string(options.reading_bytes_max) + " bytes that there are for that"};
}

// Who reads what somebody else is just reading shares that.
Result<Tracing::State::Reading> Tracing::State::read_hist(TracingInstance& instance,
                                                          EventNumber event) {
  TracingInstance::LastHist& last = instance.last_hist;
  const std::uint64_t hits = instance.set.hits(event);
  if (last.event == event && last.changes == instance.changes && last.hits == hits) {
    if (auto same = last.reading.lock()) return same;
  }
  HistCopy copy = instance.set.copy_hist(event);
  auto share = reserve_reading(copy.kept_bytes());
  if (!share) return share.error();
  auto made = std::make_shared<const HistReading>(
      HistReading{.copy = std::move(copy), .share = std::move(share.value())});
  last = {.event = event, .changes = instance.changes, .hits = hits, .reading = made};
  return Reading(std::move(made));
}

std::string Tracing::State::lost_line(const TracingInstance& instance) {
  const MutexLock lock(mutex);
  if (instance.lost == 0) return {};
  return "# records lost on their way: " + std::to_string(instance.lost) + "\n#\n";
}

bool Tracing::State::has_kernel_events() {
  const MutexLock lock(mutex);
  return std::ranges::any_of(offered, [](const auto& entry) {
    return entry.second.form == EventOffer::Form::kKernelFormat && entry.second.source;
  });
}

}  // namespace tallyfs
