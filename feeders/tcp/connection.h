// A TCP connection as the kernel describes it, as far as it is sampled. Values.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace tallyfs {

struct Connection {
  std::uint64_t cookie = 0;  // the kernel's name for the socket, never used twice
  bool is_v6 = false;
  std::array<std::uint8_t, 16> local{}, remote{};  // the first 4 of them, or all
  std::uint16_t local_port = 0, remote_port = 0;

  std::uint32_t rtt_us = 0;                // smoothed; 0: not known yet
  std::uint32_t cwnd_segments = 0;         // the congestion window
  std::uint32_t retransmits = 0;           // segments, since it began
  std::uint64_t delivery_bytes_per_s = 0;  // 0: not known yet
};

// 127.0.0.1:5201-127.0.0.1:40000, [::1]:80-[::1]:40001: its own end first. A name in the tree.
std::string name_of(const Connection& connection);

}  // namespace tallyfs
