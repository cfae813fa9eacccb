// The engine of latency.h: sends each latency at once, without a lock.
//
// The number of dropped latencies is reported with the next latency of the directory, or by
// report_dropped(). There are kTypes counters; directories with the same hash share one.
//
// Thread-safe. A thread that finds no connection tries to make one, one thread at a time and not
// oftener than each kConnectPause.
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
  // Reports all that was dropped since the last report. Waits for room in the daemon's queue,
  // kRoomMax at most; what finds none stays for the next report.
  void report_dropped(std::chrono::nanoseconds now);
  // The parent reports what was dropped before the fork.
  void after_fork_in_child();

 private:
  // Latencies dropped since the last report, and the directory of the last of them.
  struct Dropped {
    std::atomic<std::uint64_t> count{0};
    std::atomic<bool> is_taken{false};  // a thread uses the name: others leave it alone
    std::array<char, kNameBytesMax> name;
    std::size_t name_bytes = 0;
  };

  static void count_dropped(Dropped& dropped, std::string_view type, std::uint64_t count);
  static constexpr std::chrono::milliseconds kRoomMax{100};

  int report(Dropped& dropped, std::chrono::nanoseconds now);
  bool is_connected(std::chrono::nanoseconds now);
  int send_datagram(std::string_view type, std::span<const LatencySample> samples,
                    std::uint64_t dropped, std::chrono::nanoseconds now);

  Link link_;
  // The process whose thread is connecting; another one: that was so at the fork.
  std::atomic<pid_t> connecting_{0};
  std::atomic<std::int64_t> connect_at_ns_{0};
  std::array<Dropped, kTypes> dropped_;  // by directory
};

}  // namespace tallyfs
