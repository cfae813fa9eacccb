// The settings of statistic_configure(), which has their units and limits. A value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "feeders/client/socket_path.h"

namespace tallyfs {

struct ClientSettings {
  SocketPath socket;
  std::chrono::microseconds delay{10'000};
  std::chrono::milliseconds wait_max{0};
  std::size_t held_max = 65'536;  // unsent samples of a thread; a power of two
  void (*report)(const char* text, void* context) = nullptr;
  void* context = nullptr;
  bool has_lane = true;  // false: all samples go by the socket
  std::uint32_t statistics_max = 0;  // 0: not known

  bool sends_each() const { return delay.count() == 0; }
};

}  // namespace tallyfs
