// The process at the other end of a channel (answer_channels.h), as the kernel vouches for it: the
// one that made the pair. Its pidfd is that process and no later one of the same number, and works
// for processes outside of our PID namespace, too. Functions; none of them waits.
#pragma once

#include "core/base/fd.h"
#include "feeders/intake/origin.h"

namespace tallyfs {

// One end of a socketpair, AF_UNIX and SOCK_SEQPACKET, which this very process has made.
bool is_channel_of(int fd, const Origin& sender);
// SO_PEERPIDFD, since Linux 6.5. Not valid: an older kernel, or the process is gone.
Fd pidfd_of_peer(int channel);
// Whether the other end is closed.
bool has_hung_up(int channel);
// Of a pidfd or an eventfd.
bool is_readable(int fd);
// Whether two pidfds may be of one process. Before Linux 6.9 they all look alike.
bool may_be_one_process(int pidfd, int other);

}  // namespace tallyfs
