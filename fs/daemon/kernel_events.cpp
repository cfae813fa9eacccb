#include "fs/daemon/kernel_events.h"

#include <utility>

#include "program/log.h"

namespace tallyfs {

OrderedFeeder::Listeners KernelEvents::listeners(std::function<void()> ready) {
  latency_hist::LatencyBranch& latencies = branches_.latencies();
  return {.changed = [&latencies, this] { latencies.feeder_changed(clock_.now()); },
          .wanted = [&latencies] { return latencies.wanted(); },
          .arrived = [this](const auto& without_events) { return arrived(without_events); },
          .refused = [this](auto what, const auto& error) { refused(what, error); },
          .gone = [this](const std::string& reason) { gone(reason); },
          .left_out =
              [this](auto threads) { branches_.tracing().tracing().leave_out(std::move(threads)); },
          .probe_places = [this] { return branches_.tracing().tracing().probe_places(); },
          .probe_serials = [this] { return branches_.tracing().tracing().probe_serials(); },
          .may_add_places =
              [this](std::size_t places, std::size_t bytes) {
                return branches_.tracing().tracing().may_add_places(places, bytes);
              },
          .probe_made =
              [this](const tracing::ProbePlace& place, const tracing::MadeProbe& made) {
                branches_.tracing().tracing().probe_made(place, made, clock_.now());
              },
          .probe_refused =
              [this](std::uint64_t serial, const Error& error) {
                branches_.tracing().tracing().probe_refused(serial, error, clock_.now());
              },
          .place_made_late =
              [this](const tracing::ProbePlace& place, const tracing::MadeProbe& made) {
                return branches_.tracing().tracing().place_made_late(place, made, clock_.now());
              },
          .ready = std::move(ready)};
}

bool KernelEvents::arrived(const std::string& without_events) {
  intake_.drain_feeders();
  const auto events = branches_.tracing().kernel()->take_offers(clock_.now());
  const bool is_whole = !branches_.tracing().tracing().misses_expected();
  if (events > 0) log_info("the kernel has " + std::to_string(events) + " events");
  if (events > 0 || !is_whole) return is_whole;
  std::string reason = "tracing/ has none of the kernel's events";
  if (!without_events.empty()) reason.append(": ").append(without_events);
  log_warning(reason);
  errors_.report(ErrorLog::kDaemon, "tracing/events", "",
                 {ErrorCode::kNoDevice, std::move(reason)}, clock_.now());
  return true;
}

// Records that the feeder has sent count, and stand before the gap.
void KernelEvents::gone(const std::string& reason) {
  intake_.drain_feeders();
  const bool is_missed = branches_.tracing().kernel()->withdraw(clock_.now());
  log_warning(reason + (is_missed ? ": some of the events that were wanted are lost" : ""));
}

// No write waits for the first orders to a new feeder. Their refusal is shown with refused writes.
void KernelEvents::refused(OrderedFeeder::Asked what, const Error& error) {
  const bool is_latencies = what == OrderedFeeder::Asked::kForLatencyHist;
  if (is_latencies) branches_.latencies().feeder_refused(clock_.now());
  errors_.report(ErrorLog::kDaemon,
                 is_latencies ? "tracing/latency_hist/enable" : "tracing/events", "", error,
                 clock_.now());
}

}  // namespace tallyfs
