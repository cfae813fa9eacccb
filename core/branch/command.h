// A line or message of a feeder on its way to a branch: the sender, the circumstances, the outcome.
// Values.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/base/daemon_counter.h"
#include "core/base/line_progress.h"
#include "core/model/input_position.h"
#include "core/wire/binary.h"

namespace tallyfs {

// Unseen processes are those outside of the daemon's PID namespace, which the kernel shows as 0.
// The intake gives them numbers from here on, which no process of the kernel's has.
constexpr pid_t kFirstUnseenProcess = pid_t{1} << 30;
// For people: 0 for an unseen process.
constexpr pid_t shown_pid(pid_t process) { return process < kFirstUnseenProcess ? process : 0; }

// The sender of a datagram, as the kernel vouches for it.
struct Sender {
  Sender(uid_t its_uid, pid_t its_pid = 0) : uid(its_uid), pid(its_pid), rights(its_uid) {}

  uid_t uid;
  pid_t pid;  // 0: not known here
  // Whose rights it has: its own, or the daemon's uid's as a member of --write-group.
  uid_t rights;
};

// The circumstances of a line or message; one for all of a datagram.
struct Call {
  enum class Response { kNone, kSent };

  Sender sender;
  Timestamp now;
  // Whether the sender gets what a command came to.
  Response response = Response::kNone;
  // Samples that this datagram reports as dropped by its sender. The branch that they were for
  // counts them and sets this to 0.
  std::uint64_t dropped = 0;
  // Work on much is cut then. Nullptr: never.
  const IsLate* is_late = nullptr;
  // The progress of the line at hand, where the branch keeps one while it is cut.
  LineProgress progress{};
  // The place of the line in the socket's stream, with what was before it in its datagram and has
  // no place; of none without a journal.
  InputSpan at{};
  // How many samples are refused with the message at hand if it is: a branch that knows says so.
  std::uint64_t refused = 1;
};

// How much of what the daemon's own numbers show was done.
struct Counted {
  DaemonCounter what = "commands";
  std::uint64_t count = 1;
};

// The result of a line or message.
struct Done {
  std::uint64_t number = 0;  // of the statistic, subsystem, object or event that is named
  wire::Made made = wire::Made::kNew;
  std::optional<std::string> text = std::nullopt;  // the response, if it is a text
  Counted counted = {};
  // Why the line may not have done what was meant; "": it has. At most kReasonBytesMax are sent.
  std::string warning{};
  // It was cut, as it was late: the same line is to be carried out again for the rest, with the
  // progress that the call has now.
  bool is_cut = false;
  std::uint8_t decimals = 0;  // of the statistic that is named
};

}  // namespace tallyfs
