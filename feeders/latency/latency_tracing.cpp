#include "feeders/latency/latency_tracing.h"

#include <algorithm>
#include <thread>

#include "feeders/latency/wanted_trace.h"

namespace tally {
namespace {

// A CPU's 100 ms of a hundred thousand events a second.
constexpr unsigned kBufferKib = 2'048;

// What stands in the way of tracing, as whoever wrote into enable/ is to hear it.
Error refusal(const Error& error) {
  const bool is_forbidden = error.code == ErrorCode::kNotPermitted;
  return {is_forbidden ? ErrorCode::kNoAccess : ErrorCode::kNoDevice, error.reason};
}

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
    if (auto begun = begin(); !begun) return refusal(begun.error());
  }
  const auto before = events_;
  if (const auto changed = change(trace_events(wanted, without)); !changed) {
    if (before.empty()) {
      end();
    } else {
      (void)change(before);
    }
    return refusal(changed.error());
  }
  wanted_ = wanted;
  without_ = without;
  return {};
}

Result<void> LatencyTracing::begin() {
  auto instance =
      TracefsInstance::create({.name = "latency", .events = {}, .buffer_kib_per_cpu = kBufferKib});
  if (!instance) return instance.error();
  for (const Fd& pipe : instance.value().pipes()) fds_.push_back(pipe.get());
  const PageFormat pages = instance.value().page_format();
  shipper_.begin(instance.value().cpus());
  running_.reset(new Running{std::move(instance.value()), MergedReader(pages, fds_, clock_)});
  return {};
}

// What was recorded of events that go is not looked at any more: who wanted it has gone before.
Result<void> LatencyTracing::change(const std::vector<TracefsInstance::Event>& events) {
  auto decoder = decoder_for(running_->instance, events);
  if (!decoder) return decoder.error();
  std::erase_if(events_, [&](const TracefsInstance::Event& old) {
    const bool goes = std::ranges::none_of(
        events, [&](const auto& event) { return event.directory() == old.directory(); });
    if (goes) (void)running_->instance.stop(old);
    return goes;
  });
  shipper_.decode_by(std::move(decoder.value()));
  for (const auto& event : events) {
    if (auto done = record(event); !done) return done;
  }
  return {};
}

// The kernel puts a filter in the place of another without a gap. After one that it refuses there
// is none.
Result<void> LatencyTracing::record(const TracefsInstance::Event& event) {
  const auto old =
      std::ranges::find(events_, event.directory(), &TracefsInstance::Event::directory);
  if (old != events_.end() && old->filter == event.filter) return {};
  if (auto done = running_->instance.filter(event); !done) {
    if (old != events_.end()) old->filter.clear();
    return done;
  }
  if (old != events_.end()) {
    old->filter = event.filter;
    return {};
  }
  if (auto done = running_->instance.start(event); !done) return done;
  events_.push_back(event);
  return {};
}

void LatencyTracing::end() {
  if (running_) {
    for (const auto& event : events_) (void)running_->instance.stop(event);
    running_->reader.finish(shipper_);
    shipper_.flush();
  }
  running_.reset();
  fds_.clear();
  events_.clear();
  wanted_ = {};
  without_.clear();
}

MergedReader::Left LatencyTracing::poll() {
  if (!running_) return MergedReader::Left::kNothing;
  const auto left = running_->reader.poll(shipper_);
  shipper_.flush();
  return left;
}

MergedReader::Left LatencyTracing::drain() {
  if (!running_) return MergedReader::Left::kNothing;
  const auto until = clock_.now().monotonic + kDrainMax;
  // What is younger than that is held back.
  std::this_thread::sleep_for(MergedReader::kHoldBack);
  auto left = poll();
  while (left == MergedReader::Left::kMore && clock_.now().monotonic < until) left = poll();
  return left;
}

}  // namespace tally
