// A list of processes, as bytes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "core/base/bytes.h"

namespace tallyfs::stats3 {

template <typename Processes>
void put_processes(ByteWriter& out, const Processes& processes) {
  out.put(static_cast<std::uint32_t>(processes.size()));
  for (const pid_t each : processes) out.put(std::int32_t{each});
}

inline std::vector<pid_t> get_processes(ByteReader& in) {
  std::vector<pid_t> processes;
  for (auto left = in.get<std::uint32_t>(); in.ok() && left != 0; --left) {
    processes.push_back(in.get<std::int32_t>());
  }
  return processes;
}

}  // namespace tallyfs::stats3
