// Lines of StatsD in, samples out: each line is taken whole or refused whole. docs/statsd.md has
// the contract. Aggregates nothing but sets. Confined to one thread.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "feeders/statsd/grammar/event_line.h"
#include "feeders/statsd/grammar/metric_line.h"
#include "feeders/statsd/series/counts.h"
#include "feeders/statsd/series/known_lines.h"
#include "feeders/statsd/series/outlet.h"
#include "feeders/statsd/series/series_book.h"
#include "feeders/statsd/series/settings.h"

namespace tallyfs::statsd {

// How a packet came.
struct Arrival {
  Timestamp now{};
  // A gauge's sign belongs to its value: so do clients of Datadog's Agent send it, by unixgram and
  // in frames.
  bool keeps_signs = false;
  std::size_t sender = 0;  // a number of the caller's, for OnRefusal
};

class Translator {
 public:
  // Hears of each refusal; line: without blanks at its end.
  using OnRefusal =
      std::function<void(std::string_view line, const Refusal& refusal, const Arrival& arrival)>;

  Translator(Settings settings, Outlet& outlet, OnRefusal on_refusal);

  // Takes the lines between newlines; the last one needs none. Up to 64 lines of this packet and of
  // those before it are taken by a later call, so their bytes must stay until finish().
  void take_packet(std::string_view packet, const Arrival& arrival);
  // One line, without its newline; likewise.
  void take_line(std::string_view line, const Arrival& arrival);
  void finish();
  // Adds the numbers of members that sets have had since the last call, as of that time.
  void end_set_windows(std::chrono::nanoseconds end);

  Counts& counts() { return counts_; }
  const SeriesBounds& bounds() const { return book_.bounds(); }

 private:
  // A part of a line, ready to be added.
  struct Ready {
    Series* series = nullptr;
    SeriesKey key{};
  };
  struct ReadyValue {
    std::int64_t x = 0;
    std::optional<Int128> units{};  // of a counter's value with decimals
    bool is_delta = false;
    bool is_rounded = false;
  };

  // A line that is read, and not done yet.
  struct Ahead {
    std::string_view raw{};
    std::string_view line{};
    LinePieces pieces{};
    bool has_pieces = false;
    std::uint64_t hash = 0;  // of its KnownLine, if it has pieces
    const KnownLine* known = nullptr;
    Arrival arrival{};
  };
  // Lines are read so many at a time, so that they wait for memory together.
  static constexpr std::size_t kAhead = 64;
  // So many series of names that were given up are kept until known lines are forgotten.
  static constexpr std::size_t kGivenUpMax = 1'024;

  // False: the line is to be taken apart, since it has several values, or is to be refused.
  bool take_value(const KnownLine& known, std::string_view text, const Arrival& arrival);
  std::optional<Refusal> take(const Ahead& ahead);
  std::optional<Refusal> take_metric(const Ahead& ahead);
  std::optional<Refusal> take_event(std::string_view line, const Arrival& arrival);
  std::optional<Refusal> take_check(std::string_view line, const Arrival& arrival);

  std::optional<Refusal> prepare_values(const Ahead& ahead);
  std::optional<Refusal> prepare(const Number& number, Kind kind, unsigned scale,
                                 ReadyValue& ready) const;
  std::optional<Refusal> find_series();
  SeriesBook::Resolved resolve(const SeriesKey& key);
  // The series of a part, if a line has said the same as it alone before.
  Series* find_part(const Part& part);
  void remember(const Ahead& ahead);
  std::optional<Refusal> check_gauge() const;
  void add_all(std::chrono::nanoseconds time);
  void add(const Part& part, Series& series, const Value& value, const ReadyValue& ready,
           std::chrono::nanoseconds time);
  bool is_delta(const Number& number, bool is_from_datadog, const Arrival& arrival) const;
  // CLOCK_MONOTONIC of a time since the epoch.
  std::chrono::nanoseconds time_of(const std::optional<std::int64_t>& seconds,
                                   const Arrival& arrival);

  const Settings settings_;
  Outlet& outlet_;
  const OnRefusal on_refusal_;
  SeriesBook book_;
  KnownLines known_;
  Counts counts_;
  std::uint32_t now_s_ = 0;          // when the lines came that are being done
  std::array<Ahead, kAhead> ahead_;  // these are kept for their memory
  std::size_t ahead_count_ = 0;
  Metric metric_;
  std::vector<Ready> parts_;
  std::vector<ReadyValue> values_;
  std::string rest_;
};

}  // namespace tallyfs::statsd
