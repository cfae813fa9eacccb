// What the Dispatcher hands on to tracing/: events, whoever tells of them, and latencies.
#include <algorithm>
#include <array>

#include "core/wire/line.h"
#include "feeders/intake/dispatcher.h"

namespace tallyfs {
namespace {

constexpr std::size_t kRecordsAtOnce = 64;

Error no_events() { return {ErrorCode::kNotFound, "nobody here gathers events"}; }

Error no_latencies() { return {ErrorCode::kNotFound, "nobody here gathers latencies"}; }

}  // namespace

Result<Done> Dispatcher::execute_event(const wire::EventLine& line) {
  if (!events_) return Error{ErrorCode::kNotFound, no_events().reason, 0};
  const auto [system, name, has_name] = wire::split_path(line.target.text);
  const Sender sender{origin_->uid, origin_->pid};
  Result<Done> done = Done{};
  Result<void> plain;
  switch (line.verb) {
    case wire::EventVerb::kWrite:
      plain = events_->write(system, name, line.rest.text, sender, now_);
      break;
    case wire::EventVerb::kRemove:
      plain = events_->remove(system, name, sender, now_);
      break;
    case wire::EventVerb::kDefine:
      done = events_->define(system, name, line.rest.text, sender, now_);
      break;
  }
  if (!plain) done = plain.error();
  if (done) {
    counts_.commands += line.verb == wire::EventVerb::kWrite ? 0 : 1;
    return done;
  }
  Error error = done.error();
  const bool in_rest = error.token_at != Error::kNoToken;
  error.token_at = in_rest ? line.rest.at + error.token_at : line.target.at;
  return error;
}

void Dispatcher::take_offer(const wire::OfferedEvent& offered) {
  if (!kernel_) return reject(kMessage, no_events());
  const auto taken = kernel_->offer(offered, origin_->uid);
  if (!taken) reject(kMessage, taken.error());
}

void Dispatcher::take_lost(const wire::LostEvents& lost) {
  if (!kernel_) return reject(kMessage, no_events());
  const auto taken = kernel_->lost(lost, origin_->uid, now_);
  if (!taken) reject(kMessage, taken.error());
}

void Dispatcher::take_events(const wire::PackedEvents& records) {
  if (!records.number()) {
    const auto fed = kernel_ ? kernel_->feed(records, origin_->uid, now_) : no_events();
    if (!fed) reject(kMessage, fed.error());
    return;
  }
  const auto fed = !events_ ? Result<void>(no_events())
                   : has_our_epoch()
                       ? feed_user_event(records)
                       : Error{ErrorCode::kStale, "an event numbered by another daemon"};
  if (!fed) take_numbered_badly(fed.error(), *records.number());
}

Result<void> Dispatcher::feed_user_event(wire::PackedEvents records) {
  std::array<EventRecord, kRecordsAtOnce> scratch;
  std::array<UserEvents::Record, kRecordsAtOnce> run;
  for (auto some = records.unpack(scratch, now_.monotonic); !some.empty();
       some = records.unpack(scratch, now_.monotonic)) {
    std::ranges::transform(some, run.begin(), [](const EventRecord& each) {
      return UserEvents::Record{.time_ns = each.time_ns,
                                .cpu = each.cpu,
                                .pid = each.pid,
                                .comm = until_nul(each.comm),
                                .fields = each.bytes};
    });
    auto fed = events_->feed(*records.number(), std::span(run).first(some.size()),
                             {origin_->uid, origin_->pid}, now_);
    if (!fed) return fed;
  }
  if (!records.broken()) return {};
  return Error{ErrorCode::kInvalid, "a record beyond the end of its message"};
}

void Dispatcher::take_kernel_events(const wire::KernelEvents& message) {
  if (!latencies_) return reject(kMessage, no_latencies());
  const auto taken = latencies_->take(message.events, origin_->uid, now_);
  if (!taken) return reject(kMessage, taken.error());
  counts_.samples += message.events.size();
}

void Dispatcher::take_latencies(const wire::Latencies& message) {
  if (!latencies_) return reject(kMessage, no_latencies());
  const auto taken = latencies_->add(message.name, message.latencies, std::exchange(dropped_, 0),
                                     origin_->uid, now_);
  if (!taken) return reject(kMessage, taken.error());
  counts_.samples += message.latencies.size();
}

Result<Done> Dispatcher::take_latency(const wire::LatencyLine& line) {
  if (!latencies_) return no_latencies();
  LatencySample sample = line.sample;
  sample.time_ns = now_.monotonic.count();
  const auto done = [&]() -> Result<void> {
    switch (line.verb) {
      case wire::LatencyVerb::kRecord:
        return latencies_->add(line.type.text, {&sample, 1}, 0, origin_->uid, now_);
      case wire::LatencyVerb::kReset:
        return latencies_->reset(line.type.text, origin_->uid, now_);
      case wire::LatencyVerb::kRemove:
        return latencies_->remove(line.type.text, origin_->uid, now_);
    }
    return {};
  }();
  if (!done) {
    Error error = done.error();
    if (error.token_at != Error::kNoToken) error.token_at += line.type.at;
    return error;
  }
  if (line.verb == wire::LatencyVerb::kRecord) counts_.samples += 1;
  return Done{};
}

}  // namespace tallyfs
