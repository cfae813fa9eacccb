// The requests that were sent and have no response yet, by their sequence numbers.
//
// A request that has timed out stays, since a slow daemon still responds to it. At most
// kRequestsMax: of more, the oldest time out and are forgotten, and their responses are ignored.
// Confined to the Client's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "feeders/client/request.h"
#include "feeders/client/request_datagram.h"

namespace tallyfs {

class Requester;

class PendingRequests {
 public:
  static constexpr std::size_t kRequestsMax = 4'096;

  void add(RequestDatagram::Numbered request, Requester& requester);
  // Calls the handler of the request that the response is for, if it is known.
  void respond(const Response& response);
  // Of what this requester has sent, nothing is awaited any longer.
  void time_out(Requester& requester);
  // On a new connection.
  void clear() { requests_.clear(); }

 private:
  struct Pending {
    RequestHandlers handlers;
    Requester* requester;
    bool has_timed_out = false;
  };

  static void time_out(Pending& pending);

  std::map<std::uint32_t, Pending> requests_;
};

}  // namespace tallyfs
