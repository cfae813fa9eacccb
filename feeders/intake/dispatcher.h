// From bytes to statistics: takes a datagram apart, text or binary, hands its samples on in
// batches, carries out its commands, answers its requests, and counts and reports what is wrong
// with it. No allocation and no look-up by string for a binary sample; neither for a text sample
// but the one look-up of its name.
//
// Confined to whoever holds the intake's turn.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/branch/latency_hist/latency_hist.h"
#include "core/branch/statistics/named_samples.h"
#include "core/branch/statistics/statistics.h"
#include "core/branch/stats/subsystems.h"
#include "core/branch/tracing/kernel_feed.h"
#include "core/branch/tracing/user_events.h"
#include "core/tree/error_log.h"
#include "core/wire/binary.h"
#include "feeders/intake/answers.h"
#include "feeders/intake/receiver.h"

namespace tallyfs {

class Dispatcher {
 public:
  // A datagram full of garbage is counted line by line but shown by its first ones only.
  static constexpr unsigned kReportsPerDatagram = ErrorLog::kSocketEntries;

  // Names of interfaces kept for the log between two take_saturated().
  static constexpr std::size_t kSaturatedMax = 8;

  // What feeders get that ask for `switches`.
  struct SharedPage {
    int fd = -1;  // -1: there is none
    std::uint64_t bytes = 0;
  };

  // fd: where answers are sent from. All outlive the dispatcher; latencies, events and kernel may
  // be wanting.
  Dispatcher(int fd, Statistics& statistics, Subsystems& subsystems, ErrorLog& errors,
             const Clock& clock, SharedPage switches, LatencyHist* latencies = nullptr,
             UserEvents* events = nullptr, KernelFeed* kernel = nullptr);

  // Begins with a datagram that arrived at `now`; it must stay where it is until it is done, or put
  // off. A rest is what put_off() returned.
  enum class Piece { kWhole, kRest };
  void begin(const Datagram& datagram, Moment now, Piece piece = Piece::kWhole);
  // Works on it, line by line or message by message. False if the deadline came first: then it is
  // to be called again. Does at least one line or message.
  bool go_on(std::chrono::nanoseconds deadline);
  // Between begin() and the go_on() that returned true.
  bool is_busy() const { return origin_ != nullptr; }
  // What is left of the datagram at hand, which is over herewith. is_busy().
  std::vector<char> put_off();
  // Takes nothing of a datagram, or nothing more. Not while busy.
  void refuse(const Datagram& datagram, Piece piece, const Error& error, Moment now);
  // How long commands have taken, since the last call, that took at least Backlog::kCostly each.
  std::chrono::nanoseconds take_costs() { return std::exchange(costs_, {}); }
  void count_put_off() { counts_.put_off += 1; }

  // Interfaces in which a counter reached its end since the last call, for the log.
  std::vector<std::string> take_saturated() { return std::exchange(saturated_, {}); }
  // Enters what was counted since the last time into the daemon's own numbers.
  void publish_counts(Moment now);

  // Drawn at random by each daemon; see FORMAT.md.
  std::uint64_t epoch() const { return epoch_; }

 private:
  // What stands in the error log for what has no text.
  static constexpr std::string_view kMessage = "(a binary message)";

  struct Counts {
    std::uint64_t datagrams = 0;
    std::uint64_t samples = 0;
    std::uint64_t blobs = 0;
    std::uint64_t commands = 0;
    std::uint64_t rejects = 0;
    std::uint64_t truncated = 0;
    std::uint64_t fds_refused = 0;
    std::uint64_t saturations = 0;
    std::uint64_t put_off = 0;
  };

  bool take_text(std::chrono::nanoseconds deadline);
  bool take_binary(std::chrono::nanoseconds deadline);
  bool is_past(std::chrono::nanoseconds deadline) const {
    return clock_.now().monotonic >= deadline;
  }
  void take_line(std::string_view line);
  void take_named(const wire::SampleLine& sample);
  void flush_named();
  void take_message(const wire::Message& message);
  // Of the datagram at hand: its numbers are of this daemon's giving.
  bool has_our_epoch() const { return messages_->epoch() == epoch_; }
  void take_samples(const wire::PackedSamples& samples);
  void take_request(const wire::Request& request);
  // text: what the error log shows of what was asked.
  void answer(std::uint32_t sequence, std::string_view text, const Result<Done>& done);
  void answer_with_switches(const wire::Request& request);
  Result<Done> execute(const wire::Line& line, std::string_view text);
  Result<Done> execute_event(const wire::EventLine& line);
  template <typename Branch, typename Command>
  Result<Done> carry_out(Branch& branch, const Command& command);
  void count_dropped(const wire::Dropped& dropped);
  void take_blob(const wire::PackedBlob& blob);
  void take_template(const wire::Template& given);
  // number: of the object that a blob was for; 0: samples were refused.
  void take_numbered_badly(const Error& error, std::uint64_t number);
  void take_kernel_events(const wire::KernelEvents& message);
  void take_latencies(const wire::Latencies& message);
  void take_offer(const wire::OfferedEvent& offered);
  void take_events(const wire::PackedEvents& records);
  void take_lost(const wire::LostEvents& lost);
  Result<void> feed_user_event(wire::PackedEvents records);
  Result<Done> take_latency(const wire::LatencyLine& line);
  void count(const Taken& taken);
  void reject(std::string_view text, const Error& error);

  Statistics& statistics_;
  Subsystems& subsystems_;
  ErrorLog& errors_;
  const Clock& clock_;
  const SharedPage switches_;
  LatencyHist* const latencies_;
  UserEvents* const events_;
  KernelFeed* const kernel_;
  const std::uint64_t epoch_;
  Answers answers_;
  Counts counts_;
  std::chrono::nanoseconds costs_{0};
  std::vector<std::string> saturated_;

  // Of the datagram at hand. What is still to be done of it: text, or messages.
  const Origin* origin_ = nullptr;
  Moment now_;
  std::uint64_t dropped_ = 0;  // that it has told of so far
  std::span<const char> bytes_;
  std::string_view text_;
  std::string_view text_left_;
  std::optional<wire::DatagramReader> messages_;
  NamedSamples named_;  // from text_
  unsigned reports_ = 0;
  bool told_stale_ = false;
};

}  // namespace tallyfs
