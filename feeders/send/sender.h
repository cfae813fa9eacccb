// Sends lines of the text form to the daemon as binary requests (FORMAT.md, kind 2), many to a
// datagram, and learns from the responses what came of each. Confined to its thread.
//
// What waits for responses is bounded, in what it may fill of our receive queue too: by default the
// kernel holds ten datagrams, and a response that finds no room is lost. Of kUnansweredMax
// datagrams of kRequestsMax requests the responses come in eight, even if all are refused for
// reasons of the usual length. Should a response be lost all the same, a request for nothing, sent
// when nothing has come for a while, brings it to light; it also notices a daemon that is gone.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/line_splitter.h"
#include "core/base/result.h"
#include "core/wire/binary.h"
#include "feeders/client/first_sequence.h"
#include "feeders/client/link.h"
#include "feeders/client/socket_path.h"
#include "feeders/send/line_queue.h"
#include "feeders/send/refused_line.h"

namespace tallyfs {

// The most bytes of a line, without its newline.
inline constexpr std::size_t kLineBytesMax = 4096;

class Sender {
 public:
  static constexpr std::size_t kDatagramBytes = 8 * 1024;
  static constexpr std::size_t kRequestsMax = 128;  // in a datagram
  static constexpr std::size_t kUnansweredMax = 4;  // datagrams

  struct Options {
    SocketPath socket;
    std::chrono::milliseconds timeout{2000};  // without progress
    // Called with the number of each line that was refused, and why.
    std::function<void(std::uint64_t line, const Error& error)> refused;
    // Called for each line whose answer was lost: whether it took effect is unknown.
    std::function<void(std::uint64_t line, const Error& error)> unknown;
    // Called for each line that took effect, but perhaps not as it was meant.
    std::function<void(std::uint64_t line, const Error& warning)> warned;
  };

  explicit Sender(Options options);

  // Everything that fails says in words what to do about it. After kNotFound and kBusy see leave()
  // and finish().
  // kNotFound: no daemon, or no more. kNoAccess: the socket's mode forbids it. kBusy: the daemon
  // does not answer. kInvalid: no socket can have this path.
  Result<void> connect();
  // No daemon served the first socket, and this is the second one.
  bool fell_back() const { return link_.path() != options_.socket.path; }
  // Which daemon it is, and why that one. Connected.
  std::string where() const;
  // Sends it, sooner or later; waits while too much is unanswered. The line is not too long.
  Result<void> send(const NumberedLine& line);
  // Returns when there is something to read from `input`. Whatever send() has taken is sent
  // before it waits for that, and answers are heard meanwhile.
  Result<void> wait_for_input(int input);
  // Sends the rest, and waits for all answers. After kBusy it may be called again.
  Result<void> finish();

  struct Left {
    std::vector<KeptLine> unsent;  // in their order
    std::uint64_t unanswered = 0;  // lines that were sent: whether they took effect is not known
    std::uint64_t first_unanswered = 0;  // the number of the first of them
  };
  // After kNotFound: forgets the daemon that has ended. connect() may follow.
  Left leave();

 private:
  using Clock = std::chrono::steady_clock;

  struct Pending {
    std::uint32_t sequence = 0;
    std::uint64_t line = 0;  // 0: asks for nothing
    std::string text;
    bool ends_datagram = false;
  };

  std::uint32_t next_sequence();
  Result<void> flush();
  Result<Link::Sent> transmit();
  Result<void> wait(pollfd* polled, nfds_t count);
  Result<void> wait_for_link(short events);
  Result<void> stalled(Clock::duration stall);
  void note_progress();
  Result<void> probe();
  std::chrono::milliseconds wait_max() const;

  void take_responses();
  void take(const wire::Response& response);
  void pop_answered(const wire::Response* response);

  Error gone() const;
  Error silent() const;
  std::string unanswered() const;

  const Options options_;
  Link link_;
  wire::DatagramWriter writer_{0};
  std::size_t requests_ = 0;     // in writer_
  std::deque<Pending> pending_;  // unanswered, those in writer_ last
  std::size_t unanswered_ = 0;   // datagrams
  std::uint32_t sequence_ = draw_sequence();
  Clock::time_point progress_;
  // When the daemon is asked whether it answers at all; nothing: it was, since the last progress.
  std::optional<Clock::time_point> probe_at_;
};

}  // namespace tallyfs
