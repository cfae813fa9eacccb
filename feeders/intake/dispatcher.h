// From bytes to statistics: takes a datagram apart, text or binary, hands its samples on in
// batches, carries out its commands, answers its requests, and counts and reports what is wrong
// with it. No allocation and no look-up by string for a binary sample; neither for a text sample
// but the one look-up of its name.
//
// Confined to whoever holds the intake's turn.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/clock.h"
#include "core/tree/error_log.h"
#include "core/tree/named_samples.h"
#include "core/tree/statistics.h"
#include "core/wire/binary.h"
#include "feeders/intake/receiver.h"

namespace tally {

class Dispatcher {
 public:
  // A datagram full of garbage is counted line by line but shown by its first ones only.
  static constexpr unsigned kReportsPerDatagram = ErrorLog::kSocketEntries;

  // fd: where answers are sent from. All outlive the dispatcher.
  Dispatcher(int fd, Statistics& statistics, ErrorLog& errors);

  void take(const Datagram& datagram, Moment now);
  // Enters what was counted since the last time into the daemon's own numbers.
  void publish_counts(Moment now);

  // Drawn at random by each daemon; see FORMAT.md.
  std::uint64_t epoch() const { return epoch_; }

 private:
  struct Counts {
    std::uint64_t datagrams = 0;
    std::uint64_t samples = 0;
    std::uint64_t commands = 0;
    std::uint64_t rejects = 0;
    std::uint64_t truncated = 0;
    std::uint64_t fds_refused = 0;
    std::uint64_t answers_dropped = 0;
    std::uint64_t saturations = 0;
  };

  void take_text(std::string_view text);
  void take_line(std::string_view line);
  void flush_named();
  void take_binary(std::span<char> bytes);
  void take_message(const wire::Message& message, bool epoch_is_ours);
  void take_samples(const wire::PackedSamples& samples, bool epoch_is_ours);
  void take_request(const wire::Request& request);
  Result<std::uint64_t> execute(std::string_view line);
  void count(const Taken& taken);
  void reject(std::string_view text, const Error& error);
  void send_answers();

  const int fd_;
  Statistics& statistics_;
  ErrorLog& errors_;
  const std::uint64_t epoch_;
  Counts counts_;

  // Of the datagram at hand.
  const Sender* sender_ = nullptr;
  Moment now_;
  NamedSamples named_;
  std::string_view named_text_;  // where the lines of named_ stand
  unsigned reports_ = 0;
  bool told_stale_ = false;
  wire::DatagramWriter answers_;
};

}  // namespace tally
