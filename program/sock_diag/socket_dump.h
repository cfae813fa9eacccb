// Reads the kernel's list of sockets in a network namespace, that of this process or of a passed
// socket. The kernel answers a request with a message for each socket, with attributes after it
// (sock_diag(7), netlink(7)). Needs no privileges.
//
// Confined to its caller. The kernel answers within the system calls, so that nothing here waits;
// the time of a dump is proportional to the number of sockets.
#pragma once

#include <linux/netlink.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <functional>
#include <span>

#include "core/base/fd.h"
#include "core/base/result.h"

namespace tallyfs {

class SocketDump {
 public:
  using Visit = std::function<void(std::span<const char> message)>;
  static constexpr int kNone = -1;

  // passed: a netlink socket of another process's making, of the network namespace that is asked;
  // it outlives this.
  explicit SocketDump(int passed = kNone) : passed_(passed) {}

  // request: a unix_diag_req or an inet_diag_req_v2. Visits each socket. kInvalid with what the
  // system said; a dump that was interrupted by changes is taken as it is.
  template <typename Request>
  Result<void> ask(const Request& request, const Visit& visit) {
    return ask_with(std::as_bytes(std::span(&request, 1)), visit);
  }

  enum class State { kGoesOn, kDone };
  // The messages in one datagram of an answer. kInvalid: the kernel's error, or bytes that are no
  // messages.
  static Result<State> read(std::span<const char> datagram, const Visit& visit);

 private:
  Result<void> ask_with(std::span<const std::byte> request, const Visit& visit);
  Result<void> ask_on(int fd, std::span<const std::byte> request, const Visit& visit);

  const int passed_;

  // The kernel sends no more at once.
  alignas(8) std::array<char, 32 * 1024> buffer_;
};

// A T from its beginning; of an older kernel's shorter one, the fields that it lacks are 0.
template <typename T>
T load_from(std::span<const char> bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
  return value;
}

// The bytes after the first `size` and their padding.
inline std::span<const char> behind(std::span<const char> bytes, std::size_t size) {
  return bytes.subspan(std::min(bytes.size(), (size + 3) & ~std::size_t{3}));
}

// Calls visit(type, value) for each attribute behind a message's first bytes, until one claims more
// than there is.
template <typename Visit>
void each_attribute(std::span<const char> message, std::size_t first_bytes, Visit&& visit) {
  for (auto bytes = behind(message, first_bytes); bytes.size() >= sizeof(nlattr);) {
    const auto attribute = load_from<nlattr>(bytes);
    if (attribute.nla_len < sizeof attribute || attribute.nla_len > bytes.size()) return;
    visit(attribute.nla_type, bytes.first(attribute.nla_len).subspan(sizeof attribute));
    bytes = behind(bytes, attribute.nla_len);
  }
}

}  // namespace tallyfs
