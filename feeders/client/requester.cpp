#include "feeders/client/requester.h"

#include <utility>

#include "feeders/client/conversation.h"

namespace tallyfs {

Requester::Requester(Conversation& conversation) : conversation_(conversation) {
  conversation.join(*this);
}

void Requester::reset() {
  awaited_ = awaited_alone_ = 0;
  some_refused_ = false;
  changed_ = true;
  begin();
}

void Requester::request(std::chrono::nanoseconds now) {
  constexpr auto kTimeout = Conversation::kResponseTimeout;
  if (awaits_response() && now - oldest_at_ >= kTimeout) {
    conversation_.report_silence();
    oldest_at_ = conversation_.pending_.time_out(*this, now - kTimeout).value_or(now);
  }
  if (awaited_ != 0) return;
  if (some_refused_ && now >= retry_at_) {
    some_refused_ = false;
    changed_ = true;
    retry_refused();
  }
  if (!std::exchange(changed_, false)) return;
  RequestDatagram& requests = conversation_.new_datagram();
  add_requests(requests);
  if (requests.is_full()) changed_ = true;
  if (!requests.empty() && !send(requests, awaited_, now)) {
    changed_ = true;
    note_unsent();
  }
  if (has_more()) changed_ = true;
}

bool Requester::send_now(std::string_view text, RequestHandlers handlers,
                         std::chrono::nanoseconds now, Alone alone) {
  if (alone == Alone::kBounded && awaited_alone_ >= kAloneMax) return false;
  RequestDatagram& requests = conversation_.new_datagram();
  requests.add(text, std::move(handlers));
  return send(requests, awaited_alone_, now);
}

bool Requester::send(RequestDatagram& requests, std::uint32_t& awaited,
                     std::chrono::nanoseconds now) {
  if (!conversation_.send(requests)) return false;
  if (!awaits_response()) oldest_at_ = now;
  for (RequestDatagram::Numbered& each : requests.take_requests()) {
    if (each.handlers.sent) each.handlers.sent();
    conversation_.pending_.add(std::move(each),
                               {.requester = this, .awaited = &awaited, .at = now});
  }
  return true;
}

void Requester::report_refusal(const std::string& subject, const Response& response) {
  conversation_.report_refusal("the daemon refused " + subject + ": " + refusal_text(response));
  back_off();
}

void Requester::back_off() {
  changed_ = true;
  if (std::exchange(some_refused_, true)) return;
  retry_at_ = conversation_.now() + Conversation::kRefusedBackOff;
}

}  // namespace tallyfs
