#include "feeders/tracefs/recording.h"

#include <thread>

namespace tallyfs {

Error tracing_refusal(const Error& error) {
  const bool is_forbidden = error.code == ErrorCode::kNotPermitted;
  return {is_forbidden ? ErrorCode::kNoAccess : ErrorCode::kNoDevice, error.reason};
}

Result<Recording> Recording::create(const TracefsInstance::Options& options, const Clock& clock) {
  auto instance = TracefsInstance::create(options);
  if (!instance) return instance.error();
  std::vector<int> fds;
  for (const Fd& pipe : instance.value().pipes()) fds.push_back(pipe.get());
  return Recording(std::make_unique<TracefsInstance>(std::move(instance.value())), std::move(fds),
                   clock);
}

Recording::Recording(std::unique_ptr<TracefsInstance> instance, std::vector<int> fds,
                     const Clock& clock)
    : instance_(std::move(instance)),
      fds_(std::move(fds)),
      reader_(
          instance_->page_format(), fds_, clock,
          [from = instance_.get()](std::size_t pipe) { return from->losses(pipe); },
          instance_->is_inherited() ? MergedReader::Pipes::kInherited : MergedReader::Pipes::kNew),
      clock_(clock) {}

Recording::Remaining Recording::poll(EventSink& sink) {
  const Remaining left = reader_.poll(sink);
  sink.flush();
  return left;
}

Recording::Remaining Recording::drain(EventSink& sink) {
  const auto until = clock_.now().monotonic + kDrainMax;
  // Events that are younger than that are held back.
  std::this_thread::sleep_for(MergedReader::kHoldBack);
  Remaining left = poll(sink);
  while (left == Remaining::kMore && clock_.now().monotonic < until) left = poll(sink);
  return left;
}

void Recording::finish(EventSink& sink) {
  reader_.finish(sink);
  sink.flush();
}

void Recording::leave(EventSink& sink) {
  reader_.hand_on_held(sink);
  sink.flush();
}

}  // namespace tallyfs
