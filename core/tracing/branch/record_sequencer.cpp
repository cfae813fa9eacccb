#include "core/tracing/branch/record_sequencer.h"

#include <algorithm>

namespace tallyfs::tracing {
namespace {

// Twice the longest delay of a program's keeper and its records.
constexpr std::uint64_t kGatheredNs = 50'000'000;
constexpr std::uint64_t kPendingNs = 200'000'000;
constexpr std::size_t kPendingMax = 262'144;
constexpr std::size_t kPendingBytesMax = 64u << 20;

std::uint64_t nanoseconds(Timestamp now) {
  return static_cast<std::uint64_t>(now.monotonic.count());
}

}  // namespace

bool RecordSequencer::feed(const EventRoute& route, const EventRecord& record) {
  if (route.targets.empty()) return false;
  const auto excluded = excluded_.side_of(route.tasks, record);
  if (!excluded) return false;
  for (const auto& [instance, number] : route.targets) {
    EventRecord own = record;
    own.event = number;
    instance->set.feed(own, *excluded);
  }
  return true;
}

std::uint64_t RecordSequencer::feed(EventSource& source, std::span<const EventRecord> records,
                                    std::uint32_t use, Timestamp now) {
  const EventRoutes::BySourceId* const by_id = routes_.of(source);
  if (!by_id) return 0;
  const bool is_late = source.is_late();
  const bool is_pending = is_late ? routes_.is_prompt_asked() : routes_.may_be_overtaken();
  if (is_late && !records.empty()) {
    late_fed_ns_ = std::max(late_fed_ns_, records.back().time_ns);
  }
  std::uint64_t taken = 0;
  bool is_fed = false;
  for (const EventRecord& record : records) {
    if (record.event >= by_id->size()) continue;
    const EventRoute& route = (*by_id)[record.event];
    if (route.use != use) continue;
    if (is_pending) {
      if (route.targets.empty() || !excluded_.side_of(route.tasks, record)) continue;
      pending_.put({.source = &source, .use = use, .record = record});
      taken += 1;
      continue;
    }
    if (!pending_.is_empty()) is_fed |= feed_until(record.time_ns);
    taken += feed(route, record) ? 1 : 0;
  }
  if (!pending_.is_empty()) is_fed |= feed_due(now);
  if (is_fed || taken != 0) touch_all(now);
  return taken;
}

void RecordSequencer::feed_marker(TracingInstance& instance, const EventRecord& record,
                                  Timestamp now) {
  if (routes_.may_be_overtaken()) {
    pending_.put({.marked = &instance, .record = record});
    if (feed_due(now)) touch_all(now);
    return;
  }
  instance.set.feed(record);
  instance.touch(now);
}

void RecordSequencer::feed_pending(const PendingRecords::Pending& pending) {
  const EventRecord& record = pending.record;
  if (pending.marked) {
    instances_.each([&](TracingInstance& instance) {
      if (&instance == pending.marked) instance.set.feed(record);
    });
    return;
  }
  const EventRoutes::BySourceId* const by_id = routes_.of(*pending.source);
  if (!by_id || record.event >= by_id->size()) return;
  const EventRoute& route = (*by_id)[record.event];
  if (route.use == pending.use) (void)feed(route, record);
}

bool RecordSequencer::feed_until(std::uint64_t until_ns) {
  bool is_fed = false;
  while (const PendingRecords::Pending* const first = pending_.front(until_ns)) {
    feed_pending(*first);
    pending_.pop();
    is_fed = true;
  }
  return is_fed;
}

void RecordSequencer::touch_all(Timestamp now) {
  instances_.each([&](TracingInstance& instance) { instance.touch(now); });
}

std::uint64_t RecordSequencer::ready_until_ns(Timestamp now) const {
  const std::uint64_t time = nanoseconds(now);
  const std::uint64_t gathered =
      routes_.is_prompt_asked() ? time - std::min(time, kGatheredNs) : time;
  if (!routes_.is_late_asked()) return gathered;
  const std::uint64_t overdue = time - std::min(time, kPendingNs);
  return std::max(std::min(late_fed_ns_, gathered), overdue);
}

bool RecordSequencer::feed_due(Timestamp now) {
  const bool is_fed = feed_until(ready_until_ns(now));
  if (pending_.size() <= kPendingMax && pending_.bytes() <= kPendingBytesMax) return is_fed;
  if (counters_) counters_->count("events_hurried", pending_.size(), now);
  return feed_until(kReleaseAll) || is_fed;
}

void RecordSequencer::note_drained(Timestamp now) {
  drained_ns_ = std::max(drained_ns_, nanoseconds(now));
  release_drained(now);
}

}  // namespace tallyfs::tracing
