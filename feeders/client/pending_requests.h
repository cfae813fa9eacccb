// The requests that were sent and have no response yet, by their sequence numbers.
//
// A request that has timed out stays, since a slow daemon still responds to it. At most
// kRequestsMax: of more, the oldest time out and are forgotten, and their responses are ignored.
// Confined to the Client's lock.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "feeders/client/request.h"
#include "feeders/client/request_datagram.h"

namespace tallyfs {

class Requester;

class PendingRequests {
 public:
  using Time = std::chrono::nanoseconds;
  static constexpr std::size_t kRequestsMax = 4'096;

  struct Sent {
    Requester* requester;
    std::uint32_t* awaited;  // the requester's count of responses to such requests
    Time at;
  };

  // Counts it as awaited. Sequence numbers follow one another, around the end of their range.
  void add(RequestDatagram::Numbered request, const Sent& sent);
  // Calls the handler of the request that the response is for. False: it is not known.
  bool respond(const Response& response);
  // Gives up this requester's requests that were sent until `sent_until`. Returns when the oldest
  // of the others was sent.
  std::optional<Time> time_out(const Requester& requester, Time sent_until);
  // Call on a new connection.
  void clear() { requests_.clear(); }

 private:
  struct Pending {
    RequestHandlers handlers;
    Sent sent;
    bool has_timed_out = false;
  };

  static void time_out(Pending& pending);

  std::map<std::uint32_t, Pending> requests_;
};

}  // namespace tallyfs
