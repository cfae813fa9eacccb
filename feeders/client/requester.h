// One user of the Conversation: registration, publishing or events. It says which requests are due
// and what a response means; when to send, to repeat and to back off is decided here.
//
// Each requester has one datagram of requests on its way at a time, and those of send_now(). A
// request with a number or memory in its response is due again if that does not come within
// Conversation::kResponseTimeout. Changes, removals, withdrawals and refusals of rates are not:
// what was sent reaches the daemon if it lives, only the response can be lost, and a second reset
// would discard samples. What the daemon refused is due again Conversation::kRefusedBackOff after
// the first of these refusals: all of it at once, so that further refusals do not put off those
// before them.
//
// A kind of request is one call of RequestDatagram::add() in add_requests(), with its handlers.
//
// Confined to the Client's lock. It lives as long as its Conversation.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "feeders/client/request.h"
#include "feeders/client/request_datagram.h"

namespace tallyfs {

class Conversation;

class Requester {
 public:
  Requester(const Requester&) = delete;
  Requester& operator=(const Requester&) = delete;

  // Requests may have become due.
  void note_change() { changed_ = true; }
  // No response is awaited, and no request is due but those that were refused.
  bool is_idle() const { return !awaits_response() && !changed_; }

 protected:
  // Joins the conversation.
  explicit Requester(Conversation& conversation);
  ~Requester() = default;

  // A datagram with this request alone, beside the one that may be on its way. False: not sent.
  // kBounded: only while fewer than kAloneMax of them await responses.
  static constexpr std::uint32_t kAloneMax = 4;
  enum class Alone { kBounded, kAlways };
  bool send_now(std::string_view text, RequestHandlers handlers, std::chrono::nanoseconds now,
                Alone alone);
  // The daemon refused `subject`: that is reported, and what was refused is due after the back-off.
  void report_refusal(const std::string& subject, const Response& response);
  void back_off();

  Conversation& conversation_;

 private:
  friend class Conversation;
  friend class PendingRequests;

  // A new connection, before begin(): what waits to be removed was in an earlier daemon.
  virtual void forget_removals() {}
  // A new connection, or another daemon: what is known of the daemon is void.
  virtual void begin() = 0;
  // Adds what is due, as far as there is room; what finds none waits for the next datagram.
  virtual void add_requests(RequestDatagram& requests) = 0;
  // The daemon had no room for what add_requests() has just added: it is due still.
  virtual void note_unsent() {}
  // After the sending: something is due besides what found no room.
  virtual bool has_more() { return false; }
  // Makes refused requests due again.
  virtual void retry_refused() = 0;
  // The daemon got data for an unknown number; 0: the number of a statistic.
  virtual void take_stale(std::uint64_t number) = 0;

  bool awaits_response() const { return awaited_ + awaited_alone_ != 0; }
  void reset();
  void request(std::chrono::nanoseconds now);
  // awaited: counts the responses.
  bool send(RequestDatagram& requests, std::uint32_t& awaited, std::chrono::nanoseconds now);

  bool changed_ = false;
  std::uint32_t awaited_ = 0;              // responses to the datagram
  std::uint32_t awaited_alone_ = 0;        // responses to requests of send_now()
  std::chrono::nanoseconds oldest_at_{0};  // no request that awaits a response was sent before
  bool some_refused_ = false;
  std::chrono::nanoseconds retry_at_{0};
};

}  // namespace tallyfs
