// Where samples and events go: to libtally, to --check's output, or to a test.
// Confined to one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "feeders/log/rules/rules.h"

namespace tallyfs::logs {

// A value of an event is the number or the text, as its definition says.
struct EventValue {
  std::int64_t number = 0;
  std::string_view text{};
};

class Outlet {
 public:
  using Id = std::uintptr_t;  // of the outlet's choice
  virtual ~Outlet() = default;

  // A rule that took the line is about to act.
  virtual void begin(const Rule& rule) = 0;
  // nullopt: there is no room for it.
  virtual std::optional<Id> open(const std::string& interface, const std::string& name,
                                 const tally::Definition& definition) = 0;
  // Removes the statistic with its counts. The id is invalid afterwards.
  virtual void remove(Id series) = 0;
  // time: CLOCK_MONOTONIC; 0: now.
  virtual void add(Id series, std::int64_t x, std::chrono::nanoseconds time) = 0;
  virtual bool wants(const EventDefinition& event) = 0;
  virtual void write(const EventDefinition& event, std::span<const EventValue> values) = 0;
};

}  // namespace tallyfs::logs
