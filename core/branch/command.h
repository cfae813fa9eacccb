// Who asks for something on the socket, and what it came to. Values.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "core/wire/binary.h"

namespace tallyfs {

// Who asks for something: the sender of a datagram, as the kernel vouches for it.
struct Sender {
  Sender(uid_t its_uid, pid_t its_pid = 0) : uid(its_uid), pid(its_pid) {}

  uid_t uid;
  pid_t pid;  // 0: not known here
};

// What a command came to.
struct Done {
  std::uint64_t number = 0;  // of the statistic, subsystem or object that is named
  wire::Made made = wire::Made::kNew;
  std::optional<std::string> text = std::nullopt;  // what was asked for, if that is a text
};

}  // namespace tallyfs
