// What all who ask the daemon for something share: how long a request is, and how a refusal is
// told.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>

#include "core/wire/binary.h"

namespace tallyfs {

// What one datagram has of requests, so that one refused by a full queue is soon made again.
inline constexpr std::size_t kRequestsBytes = 8 * 1024;
// A request besides its text: header, sequence, length and padding.
inline constexpr std::size_t kRequestBytes = wire::kMessageHeaderBytes + 8 + 7;

// "REASON (ERRNO'S NAME)"
inline std::string words_for(const wire::Answer& answer) {
  const std::string name = std::strerror(static_cast<int>(answer.error));
  return answer.reason.empty() ? name : std::string(answer.reason) + " (" + name + ")";
}

}  // namespace tallyfs
