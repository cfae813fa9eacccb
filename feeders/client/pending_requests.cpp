#include "feeders/client/pending_requests.h"

#include <algorithm>
#include <utility>

#include "feeders/client/requester.h"

namespace tallyfs {

// Behind the newest number stand those from before the numbers began anew, which are older.
void PendingRequests::add(RequestDatagram::Numbered request, const Sent& sent) {
  const std::uint32_t newest = request.sequence;
  requests_.insert_or_assign(newest, Pending{std::move(request.handlers), sent});
  *sent.awaited += 1;
  if (requests_.size() <= kRequestsMax) return;
  const auto behind = requests_.upper_bound(newest);
  const auto oldest = requests_.extract(behind == requests_.end() ? requests_.begin() : behind);
  time_out(oldest.mapped());
}

// A handler may send further requests, or begin anew: the table is left in order before.
bool PendingRequests::respond(const Response& response) {
  const auto found = requests_.extract(response.sequence);
  if (found.empty()) return false;
  const Pending& pending = found.mapped();
  if (!pending.has_timed_out) *pending.sent.awaited -= 1;
  if (pending.handlers.responded) pending.handlers.responded(response);
  return true;
}

std::optional<PendingRequests::Time> PendingRequests::time_out(const Requester& requester,
                                                               Time sent_until) {
  std::optional<Time> oldest;
  for (auto& [sequence, pending] : requests_) {
    if (pending.sent.requester != &requester || pending.has_timed_out) continue;
    const Time at = pending.sent.at;
    if (at <= sent_until) {
      time_out(pending);
    } else {
      oldest = std::min(at, oldest.value_or(at));
    }
  }
  return oldest;
}

void PendingRequests::time_out(Pending& pending) {
  if (std::exchange(pending.has_timed_out, true)) return;
  *pending.sent.awaited -= 1;
  pending.sent.requester->note_change();
  if (pending.handlers.timed_out) pending.handlers.timed_out();
}

}  // namespace tallyfs
