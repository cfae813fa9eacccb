// What the calls of latency.h stand on: sends each latency at once, without a lock.
//
// What could not be sent is told with the next latency of its directory; directories whose names
// fall together in kTypes places are told apart no further.
//
// Thread-safe. Whoever finds no connection tries to make one, one thread at a time and not oftener
// than each kConnectPause.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "core/base/latency_sample.h"
#include "core/base/result.h"
#include "feeders/client/link.h"
#include "feeders/client/socket_path.h"

namespace tally {

class LatencySender {
 public:
  static constexpr std::size_t kTypes = 64;
  static constexpr std::chrono::nanoseconds kConnectPause = std::chrono::milliseconds(50);

  explicit LatencySender(const SocketPath& socket) : link_(socket.path, socket.fallback) {}

  // now: CLOCK_MONOTONIC. 0 or a negative errno, as latency_record() says.
  int send(std::string_view type, const LatencySample& sample, std::chrono::nanoseconds now);

 private:
  bool is_connected(std::chrono::nanoseconds now);
  int send_datagram(std::string_view type, const LatencySample& sample, std::uint64_t dropped,
                    std::chrono::nanoseconds now);

  Link link_;
  // Who is connecting; of another process: it was so when we were forked.
  std::atomic<pid_t> connecting_{0};
  std::atomic<std::int64_t> connect_at_ns_{0};
  // That the daemon has not been told of, by directory.
  std::array<std::atomic<std::uint64_t>, kTypes> dropped_{};
};

}  // namespace tally
