// What the calls of latency.h stand on: sends each latency at once, without a lock.
//
// What could not be sent is told with the next latency of its directory, or by tell_dropped();
// directories whose names fall together in kTypes places are told apart no further.
//
// Thread-safe. Whoever finds no connection tries to make one, one thread at a time and not oftener
// than each kConnectPause.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/base/result.h"
#include "core/base/text.h"
#include "core/model/latency_sample.h"
#include "feeders/client/link.h"
#include "feeders/client/socket_path.h"

namespace tallyfs {

class LatencySender {
 public:
  static constexpr std::size_t kTypes = 64;
  static constexpr std::chrono::nanoseconds kConnectPause = std::chrono::milliseconds(50);

  explicit LatencySender(const SocketPath& socket) : link_(socket.path, socket.fallback) {}

  // now: CLOCK_MONOTONIC. 0 or a negative errno, as latency_record() says.
  int send(std::string_view type, const LatencySample& sample, std::chrono::nanoseconds now);
  // Tells the daemon of all that has been dropped since it was told last; waits for room in its
  // queue, kRoomMax at most, and what it does not take stays to be told.
  void tell_dropped(std::chrono::nanoseconds now);
  // What was dropped before is the parent's to tell.
  void after_fork_in_child();

 private:
  // That the daemon has not been told of, and the directory that had some of it last.
  struct Dropped {
    std::atomic<std::uint64_t> count{0};
    std::atomic<bool> is_taken{false};  // somebody has to do with the name: others let it be
    std::array<char, kNameBytesMax> name;
    std::size_t name_bytes = 0;
  };

  static void note(Dropped& dropped, std::string_view type, std::uint64_t count);
  static constexpr std::chrono::milliseconds kRoomMax{100};

  int tell(Dropped& dropped, std::chrono::nanoseconds now);
  bool is_connected(std::chrono::nanoseconds now);
  int send_datagram(std::string_view type, std::span<const LatencySample> samples,
                    std::uint64_t dropped, std::chrono::nanoseconds now);

  Link link_;
  // Who is connecting; of another process: it was so when we were forked.
  std::atomic<pid_t> connecting_{0};
  std::atomic<std::int64_t> connect_at_ns_{0};
  std::array<Dropped, kTypes> dropped_;  // by directory
};

}  // namespace tallyfs
