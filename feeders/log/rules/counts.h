// Totals of the results of lines since the feeder's start. Plain values, confined to one thread.
#pragma once

#include <array>
#include <cstdint>

#include "feeders/log/rules/refusal.h"

namespace tallyfs::logs {

struct LineCounts {
  std::uint64_t lines = 0;    // each is matched or unmatched
  std::uint64_t matched = 0;  // by one rule or more
  std::uint64_t unmatched = 0;
  std::uint64_t samples = 0;
  std::uint64_t absent = 0;      // actions whose group took no part, or whose field is not there
  std::uint64_t undated = 0;     // lines whose time is no time, or too long ago
  std::uint64_t rounded = 0;     // samples whose number lost decimals
  std::uint64_t overflowed = 0;  // samples that went to NAME{*}
  std::uint64_t events = 0;          // written
  std::uint64_t names_given_up = 0;  // statistics that gave way to new ones
  std::array<std::uint64_t, kReasonNames.size()> refused{};  // actions, by Reason; kFormat: lines
  bool operator==(const LineCounts&) const = default;
};

}  // namespace tallyfs::logs
