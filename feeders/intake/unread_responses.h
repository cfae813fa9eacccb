// The responses under way, by the uid that has not read them. They all share what the kernel
// lets the daemon's one socket hold, and feeders that ask and never read could fill that, so that
// no feeder is answered any more. So all strangers together may not have all of it under way, and a
// uid a share of what the others of them leave. Root and the daemon's owner may have all.
//
// The kernel does not notify of reads. It is asked (UnixSockets) when a uid seems
// to have half of its share, for no more than a twentieth of the time.
//
// Limits: that of all strangers is three quarters of the room, of which a uid may have a third of
// what others leave, and a few answers though they leave little. Channels
// (answer_channels.h) share these bounds. Of a feeder without one in another network namespace
// nothing is known, and its responses are counted as read at the next look.
// Confined to the thread that sends the responses.
#pragma once

#include <sys/types.h>

#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/branch/ownership.h"
#include "feeders/intake/unix_sockets.h"

namespace tallyfs {

class UnreadResponses {
 public:
  using Look = std::function<void(const UnixSockets::Visit&)>;

  static constexpr std::size_t kShares = 4;
  static constexpr std::size_t kLeftToOthers = 3;
  static constexpr std::size_t kFew = 16 * 1024;
  // Pauses between looks: kLookShare times as long as the last one took, for the twentieth above.
  // The least pause is that of looks at rings (Intake::kRingPause).
  static constexpr std::chrono::milliseconds kLookPause{10};
  static constexpr int kLookShare = 20;

  // room: what the kernel lets be under way, as SO_SNDBUF tells. clock outlives this.
  UnreadResponses(uid_t owner, std::size_t room, const Clock& clock, Look look)
      : ownership_(owner), room_(room), clock_(clock), look_(std::move(look)) {}

  // Whether a datagram of so many bytes may be sent to a feeder of this uid.
  bool may_send(uid_t uid, std::size_t bytes);
  // name: of the socket or the channel, by which look() visits it.
  void sent(uid_t uid, std::string_view name, std::size_t bytes);

  // For the next server of the mount, in whose socket they still wait. load() fails the reader.
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  struct Unread {
    uid_t uid = 0;
    std::size_t bytes = 0;
    bool stays = false;
  };

  bool has_room(uid_t uid, std::size_t bytes) const;
  void look();
  void forget(const Unread& unread);

  const Ownership ownership_;
  const std::size_t room_;
  const Clock& clock_;
  const Look look_;
  std::chrono::nanoseconds next_look_{0};
  std::size_t total_ = 0;
  boost::unordered_flat_map<uid_t, std::size_t> by_uid_;
  // Unread responses are found by the name; there are at most as many as fit into the room.
  boost::unordered_flat_map<std::string, Unread> by_name_;
};

}  // namespace tallyfs
