#include "feeders/latency/tracing.h"

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

Result<void> Tracing::want(const WantedEvents& wanted, const std::vector<pid_t>& without) {
  if (wanted == wanted_ && without == without_) return {};
  const WantedEvents before = wanted_;
  const auto without_before = without_;
  end();
  if (!wanted.any()) return {};
  auto begun = begin(wanted, without);
  if (begun) return {};
  if (before.any()) (void)begin(before, without_before);
  return refusal(begun.error());
}

Result<void> Tracing::begin(const WantedEvents& wanted, const std::vector<pid_t>& without) {
  const auto events = trace_events(wanted, without);
  auto instance = TracefsInstance::create(
      {.name = "latency", .events = events, .buffer_kib_per_cpu = kBufferKib});
  if (!instance) return instance.error();
  auto decoder = decoder_for(instance.value(), events);
  if (!decoder) return decoder.error();
  if (auto started = instance.value().start(); !started) return started.error();
  for (const Fd& pipe : instance.value().pipes()) fds_.push_back(pipe.get());
  const PageFormat pages = instance.value().page_format();
  shipper_.begin(std::move(decoder.value()), instance.value().cpus());
  running_.reset(new Running{std::move(instance.value()), MergedReader(pages, fds_, clock_)});
  wanted_ = wanted;
  without_ = without;
  return {};
}

void Tracing::end() {
  if (running_) {
    (void)running_->instance.stop();
    running_->reader.finish(shipper_);
    shipper_.flush();
  }
  running_.reset();
  fds_.clear();
  wanted_ = {};
  without_.clear();
}

MergedReader::Left Tracing::poll() {
  if (!running_) return MergedReader::Left::kNothing;
  const auto left = running_->reader.poll(shipper_);
  shipper_.flush();
  return left;
}

void Tracing::drain() {
  if (!running_) return;
  // What is younger than that is held back.
  std::this_thread::sleep_for(MergedReader::kHoldBack);
  while (poll() == MergedReader::Left::kMore) {
  }
}

}  // namespace tally
