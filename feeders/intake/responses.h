// The responses to what a datagram asks: gathered, and sent to where it came from in datagrams of
// their own, over the channel of the sender if it has one. A response that cannot be sent at once
// is dropped, and counted unless the feeder has closed its socket; sending never waits.
//
// Confined to the thread that has the intake's turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "core/base/clock.h"
#include "core/wire/binary.h"
#include "feeders/intake/answer_channels.h"
#include "feeders/intake/receiver.h"
#include "feeders/intake/unix_sockets.h"
#include "feeders/intake/unread_responses.h"

namespace tallyfs {

class Responses {
 public:
  // They are sent when they have grown to this.
  static constexpr std::size_t kBytes = 8 * 1024;
  static constexpr int kNothing = -1;

  // In datagrams.
  struct Counts {
    std::uint64_t dropped = 0;     // the queue is full, or there is no permitted address
    std::uint64_t over_share = 0;  // the uid does not read its responses (unread_responses.h)
  };

  // fd: where they are sent from. channels: nullptr, there are none. epoch: of the numbers in
  // them. clock and channels outlive this. sock_diag: as SocketDump's.
  struct Ways {
    int fd = -1;
    const AnswerChannels* channels = nullptr;
    int sock_diag = -1;
  };
  Responses(const Ways& ways, uid_t owner, const Clock& clock, std::uint64_t epoch);

  // The addressee of responses that are added from now on; must outlive their sending.
  void begin(const Origin& to) { to_ = &to; }
  // False: there are so many that they are to be sent.
  [[nodiscard]] bool add(const wire::Response& response);
  // Sends those that were added, and then this one in a datagram of its own: a long text, which
  // with others may not fit into what the sender has room for, or one that a descriptor goes with.
  void add_alone(const wire::Response& response, int attached = kNothing);
  void send() { send_with(kNothing); }

  // Saves the responses that are under way, for the next server. load() fails the reader.
  void save(ByteWriter& out) const { unread_.save(out); }
  void load(ByteReader& in) { unread_.load(in); }

  // Since the last call.
  Counts take_counts() { return std::exchange(counts_, {}); }

 private:
  void send_with(int attached);
  void send_or_drop(const AnswerChannels::Shared& channel, int attached);
  bool send_to_address(msghdr& header) const;  // false: errno says why
  void look_at_unread(const UnixSockets::Visit& visit);

  const int fd_;
  const AnswerChannels* const channels_;
  const std::uint64_t epoch_;
  UnixSockets sockets_;
  UnreadResponses unread_;
  Counts counts_;
  const Origin* to_ = nullptr;
  wire::DatagramWriter gathered_;
};

}  // namespace tallyfs
