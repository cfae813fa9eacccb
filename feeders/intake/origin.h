// The sender of a datagram, as the kernel vouches for it. A value.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

namespace tallyfs {

struct Origin {
  pid_t pid = 0;    // of an unseen process (core/branch/command.h), the number that it has here
  uid_t uid = 65534;  // the unprivileged user, until the kernel names the sender's
  sockaddr_un address{};
  socklen_t address_size = 0;  // of an unbound sender, which cannot be answered, no path

  bool bound() const { return address_size > sizeof(sa_family_t); }
};

}  // namespace tallyfs
