// The way of records into the sets that ask for them. Sources are as late as they are: a marker and
// a line on the socket are here at once, what a program writes with libtally within kGatheredNs,
// the kernel's when its feeder has polled. A trigger that joins them shall see them in their order.
// So what does not come from a late source waits, as long as such a one is asked for anything,
// until that one's records have passed its time; and records of late sources wait for kGatheredNs,
// as long as programs are asked for any, as do those of programs for one another's. Nobody waits
// any more when somebody reads or writes, who has had the late ones drained: what programs have
// gathered and not sent by then comes too late to be in its place.
#include <algorithm>
#include <chrono>
#include <set>

#include "core/branch/tracing/tracing_state.h"

namespace tallyfs {
namespace {

// Twice what a program's keeper and its delay take.
constexpr std::uint64_t kGatheredNs = 50'000'000;
// What waits longer than that waits for nobody: a source that is late and has nothing to tell says
// nothing.
constexpr std::uint64_t kHeldNs = 200'000'000;
// With more than that nothing waits.
constexpr std::size_t kHeldMax = 262'144;
constexpr std::size_t kHeldBytesMax = 64u << 20;

std::uint64_t mask_of(pid_t pid) { return std::uint64_t{1} << (static_cast<unsigned>(pid) % 64); }

std::uint64_t nanoseconds(Moment now) { return static_cast<std::uint64_t>(now.monotonic.count()); }

}  // namespace

bool Tracing::State::is_left_out(const Route& route, const EventRecord& record) const {
  if (left_out_mask == 0 || route.subject_at == kNoSubject ||
      record.bytes.size() < route.subject_at + sizeof(pid_t)) {
    return false;
  }
  const auto subject = read_raw<pid_t>(record.bytes.data() + route.subject_at);
  return (left_out_mask & mask_of(subject)) != 0 && std::ranges::binary_search(left_out, subject);
}

bool Tracing::State::feed(const Route& route, const EventRecord& record) {
  if (route.targets.empty() || is_left_out(route, record)) return false;
  for (const auto& [instance, number] : route.targets) {
    EventRecord own = record;
    own.event = number;
    instance->set.feed(own);
  }
  return true;
}

void Tracing::State::feed_marker(TracingInstance& instance, const EventRecord& record) {
  if (may_be_overtaken()) return held.put({.marked = &instance, .record = record});
  instance.set.feed(record);
}

void Tracing::State::feed_held(const HeldRecords::Waiting& waiting) {
  const EventRecord& record = waiting.record;
  if (waiting.marked) {
    each_instance([&](TracingInstance& instance) {
      if (&instance == waiting.marked) instance.set.feed(record);
    });
    return;
  }
  const auto found = routes.find(waiting.source);
  if (found == routes.end() || record.event >= found->second.size()) return;
  const Route& route = found->second[record.event];
  if (route.use == waiting.use) (void)feed(route, record);
}

void Tracing::State::release(std::uint64_t until_ns) {
  while (const HeldRecords::Waiting* const first = held.front(until_ns)) {
    feed_held(*first);
    held.pop();
  }
}

// What waits for a late source waits until that has told of what is younger, and what waits for
// programs for as long as they gather.
std::uint64_t Tracing::State::ready_until_ns(Moment now) const {
  const std::uint64_t time = nanoseconds(now);
  const std::uint64_t gathered = programs_are_asked ? time - std::min(time, kGatheredNs) : time;
  const std::uint64_t patient = time - std::min(time, kHeldNs);
  return late_is_asked ? std::max(std::min(late_told_ns, gathered), patient) : gathered;
}

void Tracing::State::release_due(Moment now) {
  release(ready_until_ns(now));
  if (held.size() <= kHeldMax && held.bytes() <= kHeldBytesMax) return;
  if (options.own) options.own->count(Own::kEventsHurried, held.size(), now);
  release(UINT64_MAX);
}

// Texts that were kept are not what files say any more.
void Tracing::State::release_and_touch(std::uint64_t until_ns, Moment now) {
  if (held.first_ns() > until_ns) return;
  release(until_ns);
  each_instance([&](TracingInstance& instance) { touch(instance, now); });
}

void Tracing::State::release_drained(Moment now) { release_and_touch(drained_ns, now); }

void Tracing::State::release_old(Moment now) { release_and_touch(ready_until_ns(now), now); }

void Tracing::State::note_what_is_asked() {
  late_is_asked = waits_for_late();
  programs_are_asked = waits_for_programs();
}

bool Tracing::State::waits_for_late() const {
  return std::ranges::any_of(routes, [](const auto& each) {
    return each.first->is_late() && std::ranges::any_of(each.second, [](const Route& route) {
             return !route.targets.empty();
           });
  });
}

bool Tracing::State::waits_for_programs() const {
  return std::ranges::any_of(routes, [](const auto& each) {
    return !each.first->is_late() && std::ranges::any_of(each.second, [](const Route& route) {
      return !route.targets.empty();
    });
  });
}

bool Tracing::State::may_be_overtaken() const {
  return late_is_asked || std::ranges::any_of(sources, &EventSource::is_from_several);
}

void Tracing::feed(EventSource& source, std::span<const EventRecord> records, Moment now,
                   std::uint32_t use) {
  State& state = *state_;
  const MutexLock lock(state.mutex);
  const auto found = state.routes.find(&source);
  if (found == state.routes.end()) return;
  const State::Routes& by_id = found->second;
  const bool holds = source.is_late() ? state.programs_are_asked : state.may_be_overtaken();
  if (source.is_late() && !records.empty()) {
    state.late_told_ns = std::max(state.late_told_ns, records.back().time_ns);
  }
  std::uint64_t taken = 0;
  for (const EventRecord& record : records) {
    if (record.event >= by_id.size()) continue;
    const State::Route& route = by_id[record.event];
    if (route.use != use) continue;
    if (holds) {
      if (route.targets.empty() || state.is_left_out(route, record)) continue;
      state.held.put({.source = &source, .use = use, .record = record});
      taken += 1;
      continue;
    }
    if (!state.held.is_empty()) state.release(record.time_ns);
    taken += state.feed(route, record) ? 1 : 0;
  }
  if (!state.held.is_empty()) state.release_due(now);
  if (taken == 0) return;
  state.each_instance([&](TracingInstance& instance) { state.touch(instance, now); });
  if (state.options.own) state.options.own->count(Own::kEvents, taken, now);
}

std::set<TracingInstance*> Tracing::State::fed_by(EventSource& source) {
  std::set<TracingInstance*> fed;
  const auto found = routes.find(&source);
  if (found == routes.end()) return fed;
  for (const Route& route : found->second) {
    for (const Target& target : route.targets) fed.insert(target.instance);
  }
  return fed;
}

void Tracing::State::count_lost(const std::set<TracingInstance*>& by, std::uint64_t records,
                                Moment now) {
  for (TracingInstance* const each : by) {
    each->count_lost(records);
    touch(*each, now);
  }
  if (options.own) options.own->count(Own::kEventsLost, records, now);
}

void Tracing::lost(EventSource& source, std::uint64_t records, Moment now) {
  const MutexLock lock(state_->mutex);
  state_->count_lost(state_->fed_by(source), records, now);
}

bool Tracing::broke_off(EventSource& source, Moment now) {
  const MutexLock lock(state_->mutex);
  state_->release(UINT64_MAX);
  const auto asking = state_->fed_by(source);
  if (asking.empty()) return false;
  for (TracingInstance* const each : asking) {
    each->set.trace_gap(nanoseconds(now), state_->options.cpus);
  }
  state_->count_lost(asking, 1, now);
  return true;
}

void Tracing::leave_out(std::vector<pid_t> threads) {
  std::ranges::sort(threads);
  const MutexLock lock(state_->mutex);
  state_->left_out_mask = 0;
  for (const pid_t thread : threads) state_->left_out_mask |= mask_of(thread);
  state_->left_out = std::move(threads);
}

}  // namespace tallyfs
