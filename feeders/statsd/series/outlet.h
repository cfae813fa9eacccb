// Where samples, events and checks go: to libtally, to --check's output, or to a test.
// Confined to one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "feeders/statsd/grammar/event_line.h"
#include "feeders/statsd/grammar/metric_line.h"
#include "tally/statistic.hpp"

namespace tallyfs::statsd {

// A statistic that comes into being.
struct NewSeries {
  const std::string& interface;
  const std::string& name;
  Kind kind;
  tally::Definition definition;
};

struct Sample {
  std::int64_t x = 0;
  std::uint64_t y = 1;
  std::chrono::nanoseconds time{0};  // CLOCK_MONOTONIC
};

class Outlet {
 public:
  using Id = std::uintptr_t;  // of the outlet's choice
  virtual ~Outlet() = default;
  // Ids may be addresses of what add() reads.
  static void prefetch(Id series) { __builtin_prefetch(reinterpret_cast<const void*>(series)); }

  // nullopt: there is no room for it.
  virtual std::optional<Id> open(const NewSeries& series) = 0;
  virtual void add(Id series, const Sample& sample) = 0;
  // Removes the statistic with its counts. The id is invalid afterwards.
  virtual void remove(Id series) = 0;
  virtual void write(const Event& event) = 0;
  virtual void write(const Check& check) = 0;
};

}  // namespace tallyfs::statsd
