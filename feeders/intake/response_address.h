// Where the responses to a datagram go: to the address that its sender was bound to.
//
// An abstract address is the sender's as it stands. A path is looked up by us, with our rights and
// from where we stand, so that a sender could name what it may not reach itself, and have the
// daemon speak to that. So a path is answered only if it is absolute and leads, the last step not
// by a link, to a socket that belongs to the sender; and the response goes to that very socket,
// whatever has taken its place in the meantime.
// The look-up asks no file system, and so waits for none.
// Confined to the thread that sends the responses.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <optional>
#include <utility>

#include "core/base/fd.h"
#include "feeders/intake/receiver.h"

namespace tallyfs {

class ResponseAddress {
 public:
  // Returns nullopt if the sender cannot be answered, or may not be.
  static std::optional<ResponseAddress> find(const Origin& origin);

  const sockaddr_un& address() const { return address_; }
  socklen_t size() const { return size_; }

 private:
  ResponseAddress(const sockaddr_un& address, socklen_t size, Fd held)
      : address_(address), size_(size), held_(std::move(held)) {}

  sockaddr_un address_;
  socklen_t size_;
  Fd held_;  // of a path, the socket's file: address_ names it in /proc/self/fd
};

}  // namespace tallyfs
