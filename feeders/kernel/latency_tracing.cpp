#include "feeders/kernel/latency_tracing.h"

#include <algorithm>
#include <utility>

#include "feeders/kernel/wanted_trace.h"

namespace tallyfs {
namespace {

// A CPU's 100 ms of a hundred thousand events a second.
constexpr unsigned kBufferKib = 2'048;

Error no_sections(const Error& error) {
  return {ErrorCode::kNotFound,
          "this kernel has no events of interrupts and preemption going off: " + error.reason};
}

Result<EventDecoder> decoder_for(const TracefsInstance& instance,
                                 const std::vector<TracefsInstance::Event>& events) {
  EventDecoder decoder;
  for (const auto& event : events) {
    const auto format = instance.format(event);
    if (!format) return event.system == "preemptirq" ? no_sections(format.error()) : format.error();
    if (auto added = decoder.add(format.value()); !added) return added.error();
  }
  return decoder;
}

}  // namespace

Result<void> LatencyTracing::want(const WantedEvents& wanted, const std::vector<pid_t>& without) {
  if (wanted == wanted_ && without == without_) return {};
  if (!wanted.any()) {
    end();
    return {};
  }
  if (!running_) {
    if (auto begun = begin(); !begun) return tracing_refusal(begun.error());
  }
  const auto before = events_;
  if (const auto changed = change(trace_events(wanted, without, exits_of_)); !changed) {
    if (before.empty()) {
      end();
    } else {
      (void)change(before);
    }
    return tracing_refusal(changed.error());
  }
  wanted_ = wanted;
  without_ = without;
  return {};
}

Result<void> LatencyTracing::begin() {
  auto recording = Recording::create(
      {.name = "latency",
       .events = {},
       .buffer_kib_per_cpu = kBufferKib,
       .owner = owner_.instance,
       .predecessor = std::exchange(owner_.predecessor, TracefsInstance::Predecessor::kNone),
       .tracefs = owner_.tracefs},
      clock_);
  if (!recording) return recording.error();
  shipper_.begin(recording.value().instance().cpus());
  running_.emplace(std::move(recording.value()));
  return {};
}

// Without them what such tasks do later stands in.
void LatencyTracing::adapt() {
  const auto& unseen = shipper_.unseen_tasks();
  if (!running_ || !has_exits_ || unseen == exits_of_) return;
  exits_of_ = unseen;
  if (change(trace_events(wanted_, without_, exits_of_))) return;
  has_exits_ = false;
  exits_of_.clear();
  (void)change(trace_events(wanted_, without_, exits_of_));
}

// Records of events that are switched off are discarded: their readers have gone before.
Result<void> LatencyTracing::change(const std::vector<TracefsInstance::Event>& events) {
  auto decoder = decoder_for(running_->instance(), events);
  if (!decoder) return decoder.error();
  std::erase_if(events_, [&](const TracefsInstance::Event& old) {
    const bool goes = std::ranges::none_of(
        events, [&](const auto& event) { return event.directory() == old.directory(); });
    if (goes) (void)running_->instance().stop(old);
    return goes;
  });
  shipper_.decode_by(std::move(decoder.value()));
  for (const auto& event : events) {
    if (auto done = record(event); !done) return done;
  }
  if (running_->instance().is_inherited()) running_->instance().stop_others(events);
  return {};
}

void LatencyTracing::drop_leftovers() {
  const bool is_left = owner_.predecessor == TracefsInstance::Predecessor::kMayHaveLeftOne;
  if (!running_ && is_left && begin()) end();
}

// The kernel puts a filter in the place of another without a gap. After one that it refuses there
// is none.
Result<void> LatencyTracing::record(const TracefsInstance::Event& event) {
  const auto old =
      std::ranges::find(events_, event.directory(), &TracefsInstance::Event::directory);
  if (old != events_.end() && old->filter == event.filter) return {};
  if (auto done = running_->instance().filter(event); !done) {
    if (old != events_.end()) old->filter.clear();
    return done;
  }
  if (old != events_.end()) {
    old->filter = event.filter;
    return {};
  }
  if (auto done = running_->instance().start(event); !done) return done;
  events_.push_back(event);
  return {};
}

void LatencyTracing::end() {
  if (running_) {
    for (const auto& event : events_) (void)running_->instance().stop(event);
    running_->finish(shipper_);
  }
  running_.reset();
  events_.clear();
  wanted_ = {};
  without_.clear();
  exits_of_.clear();
}

}  // namespace tallyfs
