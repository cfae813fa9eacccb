// A request to the daemon and what follows from it. A Requester makes requests, the Conversation
// numbers them, sends them and calls the handlers; core/wire/FORMAT.md specifies the bytes.
//
// Handlers run under the Client's lock. An object may be gone when its response arrives: handlers
// keep names and ids and look the object up.
#pragma once

#include <cstring>
#include <functional>
#include <string>

#include "core/base/fd.h"
#include "core/wire/binary.h"

namespace tallyfs {

struct Response : wire::Response {
  // The descriptor that the daemon attached; invalid if it attached none.
  const Fd* attached = nullptr;

  int refusal() const { return static_cast<int>(error); }  // an errno; 0: done
};

// Any of them may be empty.
struct RequestHandlers {
  std::function<void()> sent;  // the datagram with the request has been sent
  // The response, which may come after the time-out, and then more than once for one subject.
  std::function<void(const Response&)> responded;
  std::function<void()> timed_out;  // no response in time, though one may still come
};

// "REASON (ERRNO'S NAME)"
inline std::string refusal_text(const Response& response) {
  const std::string name = std::strerror(response.refusal());
  return response.reason.empty() ? name : std::string(response.reason) + " (" + name + ")";
}

}  // namespace tallyfs
