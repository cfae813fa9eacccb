#include "feeders/client/conversation.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace tallyfs {

Conversation::Conversation(Link& link, Events events) : link_(link), events_(std::move(events)) {}

void Conversation::begin() {
  for (Requester* const each : requesters_) each->forget_removals();
  restart();
}

void Conversation::restart() {
  epoch_ = 0;
  pending_.clear();
  ping_sequence_ = 0;
  taken_ = Taken::kAll;
  has_answered_ = false;
  reported_silence_ = false;
  for (Requester* const each : requesters_) each->reset();
}

bool Conversation::is_idle() const { return std::ranges::all_of(requesters_, &Requester::is_idle); }

// ---- requests

void Conversation::request(Time now) {
  for (Requester* const each : requesters_) each->request(now);
}

RequestDatagram& Conversation::new_datagram() {
  datagram_.clear(epoch_);
  return datagram_;
}

bool Conversation::send(const RequestDatagram& requests) {
  return link_.request(requests.bytes()) == Link::Sent::kDone;
}

void Conversation::ping(Time now, std::uint64_t sent) {
  if (ping_sequence_ != 0 && now - ping_at_ < kResponseTimeout && !link_.has_lost_channel()) return;
  if (ping_sequence_ != 0) link_.renew_channel();
  RequestDatagram& requests = new_datagram();
  requests.add("", {});
  if (!send(requests)) return;
  ping_sequence_ = requests.take_requests().front().sequence;
  ping_sent_ = sent;
  ping_at_ = now;
}

void Conversation::report_refusal(std::string text) {
  last_refusal_ = text;
  report(std::move(text));
}

// Once for a connection, if the daemon has not responded at all. Our address is an abstract one,
// which a daemon in another network namespace does not see.
void Conversation::report_silence() {
  link_.renew_channel();
  if (epoch_ != 0 || std::exchange(reported_silence_, true)) return;
  report("no answer from the daemon at " + link_.path() +
         ": is it stopped, or in another network namespace?");
}

// ---- responses

void Conversation::take_responses(Time now) {
  now_ = now;
  while (auto received = link_.receive()) {
    auto reader = wire::DatagramReader::open(received->datagram);
    if (!reader) continue;
    enter_epoch(reader.value().epoch());
    while (const auto message = reader.value().next()) {
      if (!*message) continue;
      if (const auto* response = std::get_if<wire::Response>(&message->value())) {
        take({*response, &received->attached});
      }
    }
  }
}

// On one connection only a daemon that took over from another has a new one. It has what that had.
void Conversation::enter_epoch(std::uint64_t epoch) {
  if (epoch == epoch_) return;
  if (epoch_ != 0) restart();
  epoch_ = epoch;
  events_.other_epoch(epoch);
}

void Conversation::take(const Response& response) {
  if (response.sequence == 0) return take_stale(response.number);
  if (response.sequence == ping_sequence_) return take_ping();
  has_answered_ |= pending_.respond(response);
}

void Conversation::take_stale(std::uint64_t number) {
  if (number == 0 && has_answered_) taken_ = Taken::kSomeStale;
  for (Requester* const each : requesters_) each->take_stale(number);
}

void Conversation::take_ping() {
  ping_sequence_ = 0;
  has_answered_ = true;
  events_.confirmed(ping_sent_, std::exchange(taken_, Taken::kAll));
}

}  // namespace tallyfs
