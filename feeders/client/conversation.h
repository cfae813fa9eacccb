// The conversation of this process with the daemon, apart from samples, blobs and records: requests
// with sequence numbers, responses, time-outs, back-off after refusals, and epochs.
//
// Its users are Requesters: Registrar, Publisher and EventFeed. Each says which requests are due;
// a new kind of request touches the requester's file alone. RequestDatagram numbers requests,
// PendingRequests keeps them until their response, and a ping asks how far the daemon has come.
//
// A round is take_responses(), then request(). Each requester awaits the responses to its one
// datagram before it sends the next. So that responses fit into a queue of ten datagrams, which is
// what some systems grant, at most Requester::kAloneMax requests of send_now() await one besides;
// but for the definitions that a response to a registration lets go, while responses are taken.
//
// Confined to the Client's lock, under which the Events are called too. Bounds: a datagram has
// RequestDatagram::kBytesMax, or a single longer request. Of more than
// PendingRequests::kRequestsMax requests without a response, the oldest time out at once
// (requester.h says which are due again), and a response that comes later is ignored.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/wire/binary.h"
#include "feeders/client/link.h"
#include "feeders/client/pending_requests.h"
#include "feeders/client/request_datagram.h"
#include "feeders/client/requester.h"

namespace tallyfs {

class Conversation {
 public:
  using Time = std::chrono::nanoseconds;
  // Responses take microseconds, unless the daemon hangs or found no room for them.
  static constexpr Time kResponseTimeout = std::chrono::seconds(1);
  static constexpr Time kRefusedBackOff = std::chrono::seconds(10);

  // kSomeStale: some samples were for a statistic that is gone.
  enum class Taken { kAll, kSomeStale };

  struct Events {
    // The first response since begin(), or the first one of a daemon that replaced the last one.
    // The requesters have forgotten all numbers of the last epoch. No datagram with one of them may
    // follow.
    std::function<void(std::uint64_t epoch)> other_epoch;
    // The daemon has processed all samples that were sent before the ping. kSomeStale: some of them
    // were of a statistic that is gone, and did not count.
    std::function<void(std::uint64_t sent_before, Taken taken)> confirmed;
    std::function<void(std::string)> report;
  };

  Conversation(Link& link, Events events);

  // On a new connection: nothing is known of the daemon. All requesters start again.
  void begin();
  // Takes the responses that have arrived.
  void take_responses(Time now);
  // Sends the requests that are due, requester by requester in the order in which they joined.
  void request(Time now);
  // Asks how far the daemon has come. sent: how many samples have been sent so far. Does nothing
  // while an earlier ping awaits its response, for kResponseTimeout at most. After that, only the
  // response to the new ping counts.
  void ping(Time now, std::uint64_t sent);

  // Whether all requesters are settled: no response is awaited, and at most what was refused is
  // due. A ping does not count.
  bool is_idle() const;
  // The epoch of the daemon on this connection; 0 from begin() to its first response.
  std::uint64_t epoch() const { return epoch_; }
  // The time of the responses that are being taken.
  Time now() const { return now_; }
  Link& link() { return link_; }
  void report(std::string text) { events_.report(std::move(text)); }
  // Reports a refusal by the daemon and stores it for last_refusal().
  void report_refusal(std::string text);
  // "the daemon refused ..."; empty: it refused nothing.
  const std::string& last_refusal() const { return last_refusal_; }

 private:
  friend class Requester;

  void join(Requester& requester) { requesters_.push_back(&requester); }
  RequestDatagram& new_datagram();
  bool send(const RequestDatagram& requests);
  void report_silence();
  void enter_epoch(std::uint64_t epoch);
  void restart();
  void take(const Response& response);
  void take_stale(std::uint64_t number);
  void take_ping();

  Link& link_;
  const Events events_;
  std::vector<Requester*> requesters_;
  RequestDatagram datagram_;
  PendingRequests pending_;
  std::uint64_t epoch_ = 0;
  Time now_{0};
  bool reported_silence_ = false;

  std::string last_refusal_;

  std::uint32_t ping_sequence_ = 0;  // 0: none is on its way
  std::uint64_t ping_sent_ = 0;
  Time ping_at_{0};
  Taken taken_ = Taken::kAll;  // since the last ping was answered
  // A request of this connection and epoch was answered. Before, only samples that were sent to an
  // earlier daemon are answered, which waited in the socket.
  bool has_answered_ = false;
};

}  // namespace tallyfs
