// The totals since its start that the feeder shows in statistics/tally-feed-statsd.
// Plain values, confined to one thread.
#pragma once

#include <array>
#include <cstdint>

#include "feeders/statsd/grammar/refusal.h"

namespace tallyfs::statsd {

struct Counts {
  std::uint64_t packets = 0;  // datagrams, frames, and reads of newline-framed streams
  std::uint64_t bytes = 0;    // of packets
  std::uint64_t lines = 0;    // that say something; each is taken or refused
  std::uint64_t metrics = 0;  // values that were taken, of lines that were taken
  std::uint64_t events = 0;
  std::uint64_t checks = 0;
  std::uint64_t overflowed = 0;          // metrics that went to name{*}
  std::uint64_t rounded = 0;             // metrics whose value or delta lost decimals
  std::uint64_t lengths_guessed = 0;     // events
  std::uint64_t times_clipped = 0;       // lines older than the machine's start
  std::uint64_t truncated = 0;           // packets and lines that were too long
  std::uint64_t denied = 0;              // datagrams and connections that --allow does not let in
  std::uint64_t kernel_drops = 0;        // datagrams for which a socket had no room
  std::uint64_t connections_closed = 0;  // for which there was no room
  std::uint64_t series = 0;              // statistics that came into being
  std::uint64_t names_given_up = 0;      // which others took the place of
  std::array<std::uint64_t, kReasonNames.size()> refused{};  // lines, by Reason
};

}  // namespace tallyfs::statsd
