// The way of records into the sets that ask for them. Sources are as late as they are: a program's
// record is here at once, the kernel's a few milliseconds after it happened. What comes at once
// waits, as long as a source that is late is asked for anything, until that one's records have
// passed its time, or somebody reads, who has had that one drained; so a trigger that joins the two
// sees them in their order.
#include <algorithm>
#include <chrono>

#include "core/tree/tracing_state.h"

namespace tally {
namespace {

// What waits longer than that waits for nobody: a source that is late and has nothing to tell says
// nothing.
constexpr std::uint64_t kHeldNs = 200'000'000;
constexpr std::size_t kHeldMax = 65'536;

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

void Tracing::State::hold(EventSource& source, const EventRecord& record) {
  HeldRecord made{.source = &source,
                  .record = record,
                  .bytes = std::make_unique<std::string>(record.bytes),
                  .comm = std::string(record.comm),
                  .stack = {record.stack.begin(), record.stack.end()}};
  const auto place = std::ranges::upper_bound(held, record.time_ns, {}, &HeldRecord::time_ns);
  held.insert(place, std::move(made));
}

void Tracing::State::release(std::uint64_t until_ns) {
  while (!held.empty() && held.front().time_ns() <= until_ns) {
    const HeldRecord first = std::move(held.front());
    held.pop_front();
    const auto found = routes.find(first.source);
    if (found == routes.end() || first.record.event >= found->second.size()) continue;
    EventRecord record = first.record;
    record.bytes = *first.bytes;
    record.comm = first.comm;
    record.stack = first.stack;
    (void)feed(found->second[record.event], record);
  }
}

void Tracing::State::release_drained(Moment now) {
  if (held.empty() || held.front().time_ns() > drained_ns) return;
  release(drained_ns);
  each_instance([&](TracingInstance& instance) { touch(instance, now); });
}

void Tracing::State::release_old(Moment now) {
  const std::uint64_t time = nanoseconds(now);
  if (time > kHeldNs) release(time - kHeldNs);
}

bool Tracing::State::waits_for_late() const {
  return std::ranges::any_of(routes, [](const auto& each) {
    return each.first->is_late() && std::ranges::any_of(each.second, [](const Route& route) {
             return !route.targets.empty();
           });
  });
}

void Tracing::feed(EventSource& source, std::span<const EventRecord> records, Moment now) {
  State& state = *state_;
  const MutexLock lock(state.mutex);
  const auto found = state.routes.find(&source);
  if (found == state.routes.end()) return;
  const State::Routes& by_id = found->second;
  const bool holds = !source.is_late() && state.late_is_asked;
  std::uint64_t taken = 0;
  for (const EventRecord& record : records) {
    if (record.event >= by_id.size()) continue;
    const State::Route& route = by_id[record.event];
    if (holds) {
      if (route.targets.empty()) continue;
      state.hold(source, record);
      taken += 1;
      continue;
    }
    if (!state.held.empty()) state.release(record.time_ns);
    taken += state.feed(route, record) ? 1 : 0;
  }
  if (!state.held.empty()) state.release_old(now);
  if (state.held.size() > kHeldMax) {
    if (state.options.own) state.options.own->count(Own::kEventsHurried, state.held.size(), now);
    state.release(UINT64_MAX);
  }
  if (taken == 0) return;
  state.each_instance([&](TracingInstance& instance) { state.touch(instance, now); });
  if (state.options.own) state.options.own->count(Own::kEvents, taken, now);
}

void Tracing::lost(std::uint64_t records, Moment now) {
  const MutexLock lock(state_->mutex);
  state_->lost += records;
  state_->each_instance([&](TracingInstance& instance) { state_->touch(instance, now); });
  if (state_->options.own) state_->options.own->count(Own::kEventsLost, records, now);
}

void Tracing::leave_out(std::vector<pid_t> threads) {
  std::ranges::sort(threads);
  const MutexLock lock(state_->mutex);
  state_->left_out_mask = 0;
  for (const pid_t thread : threads) state_->left_out_mask |= mask_of(thread);
  state_->left_out = std::move(threads);
}

}  // namespace tally
