// The process at the other end of a channel (answer_channels.h), as the kernel vouches for it: the
// one that made the pair. Its pidfd is that process and no later one of the same number, and works
// for processes outside of our PID namespace, too. Functions; none of them waits.
#pragma once

#include <cstdint>

#include "core/base/fd.h"
#include "feeders/intake/origin.h"

namespace tallyfs {

// One end of a socketpair, AF_UNIX and SOCK_SEQPACKET, which this very process has made: an unseen
// one, which all share the number 0, under the uid of the datagram. Others may have two uids: the
// kernel says the effective one of a pair, and the real one of a datagram.
bool is_channel_of(int fd, const Origin& sender);
// SO_PEERPIDFD, since Linux 6.5. Not valid: an older kernel, or the process is gone.
Fd pidfd_of_peer(int channel);
// Whether the other end is closed.
bool has_hung_up(int channel);
// Whether a pidfd or an eventfd is readable.
bool is_readable(int fd);
// Returns a number that pidfds of one process have in common, and no others. 0: all look alike, as
// they do before Linux 6.9.
std::uint64_t identity_of(int pidfd);
// Whether two pidfds may be of one process.
bool may_be_one_process(int pidfd, int other);

}  // namespace tallyfs
