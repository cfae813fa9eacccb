// The lines and messages of tracing/latency_hist, as they come from the socket.
#include <algorithm>
#include <utility>

#include "core/latency_hist/branch/latency_branch.h"

namespace tallyfs::latency_hist {

Result<Done> LatencyBranch::execute(const wire::Line& line, Call& call) {
  const auto& latency = std::get<wire::LatencyLine>(line);
  const std::string_view name = latency.type.text;
  const bool is_sample = latency.verb == wire::LatencyVerb::kRecord;
  const auto done = [&]() -> Result<void> {
    switch (latency.verb) {
      case wire::LatencyVerb::kRecord: {
        LatencySample sample = latency.sample;
        sample.time_ns = call.now.monotonic.count();
        const auto added = add(name, {&sample, 1}, 0, call.sender.uid, call.now);
        if (!added) return added.error();
        return {};
      }
      case wire::LatencyVerb::kReset:
        return reset(name, call.sender.uid, call.now);
      case wire::LatencyVerb::kRemove:
        return remove(name, call.sender.uid, call.now);
    }
    return {};
  }();
  if (done) return Done{.counted = {"samples", is_sample ? 1u : 0u}};
  Error error = done.error();
  if (error.token_at != Error::kNoToken) error.token_at += latency.type.at;
  return error;
}

Result<Done> LatencyBranch::take(const wire::Message& message, Call& call) {
  const auto counted = [](std::size_t count) { return Done{.counted = {"samples", count}}; };
  if (const auto* const kernel = std::get_if<wire::KernelEvents>(&message)) {
    call.refused = std::max<std::size_t>(kernel->events.size(), 1);
    const auto taken = take(kernel->events, call.sender.uid, call.now);
    if (!taken) return taken.error();
    return counted(kernel->events.size());
  }
  const auto& [name, latencies] = std::get<wire::Latencies>(message);
  call.refused = std::max<std::size_t>(latencies.size(), 1);
  const auto elsewhere =
      add(name, latencies, std::exchange(call.dropped, 0), call.sender.uid, call.now);
  if (!elsewhere) return elsewhere.error();
  if (elsewhere.value() == 0) return counted(latencies.size());
  call.refused = elsewhere.value();
  return no_such_cpu();
}

}  // namespace tallyfs::latency_hist
