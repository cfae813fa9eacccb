// Asks the kernel for all established TCP connections of this network namespace, over netlink (see
// sock_diag(7)), as `ss -ti` does. Needs no privileges.
//
// Confined to one thread. A dump takes as long as the kernel has connections to tell of; at most
// kConnectionsMax are kept of it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "feeders/tcp/connection.h"

namespace tally {

class SockDiag {
 public:
  static constexpr std::size_t kConnectionsMax = 65'536;

  // kInvalid: a kernel without sock_diag.
  static Result<SockDiag> open();

  struct Dump {
    std::vector<Connection> connections;
    std::uint64_t left_out = 0;  // beyond kConnectionsMax
  };
  // Takes the place of what is in `dump`. kInvalid with what the kernel said; a dump that was
  // interrupted by changes is taken as it is: the next one is not far.
  Result<void> dump(Dump& dump);

 private:
  explicit SockDiag(Fd fd) : fd_(std::move(fd)) {}
  Result<void> dump_family(std::uint8_t family, Dump& dump);
  Result<void> ask(std::uint8_t family);

  Fd fd_;
  std::uint32_t sequence_ = 0;
  std::vector<char> buffer_ = std::vector<char>(256 * 1024);
};

// What one datagram of an answer holds; pure, for SockDiag and its tests.
enum class DumpState { kGoesOn, kDone };
// Messages of other sequence numbers are passed over. kInvalid: the kernel's error, or bytes that
// are no messages.
Result<DumpState> read_dump(std::span<const char> bytes, std::uint32_t sequence,
                            SockDiag::Dump& dump);

}  // namespace tally
