// The Unix sockets of this machine, as the kernel's sock_diag tells of them: what they are called,
// and whether something waits in them to be read. Needs no privileges; sees the sockets of its own
// network namespace.
//
// Confined to who looks.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string_view>

#include "core/base/fd.h"
#include "core/base/result.h"

namespace tally {

class UnixSockets {
 public:
  enum class Inbox { kEmpty, kHasUnread };
  // name: as bind(2) was given it, from sun_path on; without the zero behind a path.
  using Visit = std::function<void(std::string_view name, Inbox inbox)>;

  // Visits each socket that has a name. kInvalid with what the system said.
  Result<void> each(const Visit& visit);

 private:
  Result<void> ask();

  Fd fd_;
  alignas(8) std::array<char, 32 * 1024> buffer_;
};

// The sockets in one datagram of the kernel's. True: it was the last.
Result<bool> read_unix_sockets(std::span<const char> bytes, const UnixSockets::Visit& visit);

}  // namespace tally
