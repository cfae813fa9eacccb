#include "feeders/client/pending_requests.h"

#include <utility>

#include "feeders/client/requester.h"

namespace tallyfs {

void PendingRequests::add(RequestDatagram::Numbered request, Requester& requester) {
  requests_.insert_or_assign(request.sequence, Pending{std::move(request.handlers), &requester});
  requester.awaited_ += 1;
  if (requests_.size() <= kRequestsMax) return;
  const auto oldest = requests_.extract(requests_.begin());
  time_out(oldest.mapped());
}

// A handler may send further requests, or begin anew: the table is left in order before.
void PendingRequests::respond(const Response& response) {
  const auto found = requests_.extract(response.sequence);
  if (found.empty()) return;
  const Pending& pending = found.mapped();
  if (!pending.has_timed_out) pending.requester->awaited_ -= 1;
  if (pending.handlers.responded) pending.handlers.responded(response);
}

void PendingRequests::time_out(Requester& requester) {
  for (auto& [sequence, pending] : requests_) {
    if (pending.requester == &requester) time_out(pending);
  }
}

void PendingRequests::time_out(Pending& pending) {
  if (std::exchange(pending.has_timed_out, true)) return;
  pending.requester->awaited_ -= 1;
  if (pending.handlers.timed_out) pending.handlers.timed_out();
}

}  // namespace tallyfs
