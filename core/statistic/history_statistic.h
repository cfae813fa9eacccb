// type=history: a value or a range for each of successive periods; periods.h has the rules.
// Confined to its Interface's lock; add() never allocates but when a period ended before it, in
// advance(), and only until entries_max are there.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "core/base/bytes.h"
#include "core/definition/definition.h"
#include "core/statistic/periods.h"
#include "core/statistic/sums.h"

namespace tally {

class HistoryStatistic {
 public:
  // Periods count from origin. Off.
  HistoryStatistic(const HistorySettings& settings, std::chrono::nanoseconds origin);

  // Heap that the data may come to hold.
  static std::uint64_t worst_case_bytes(const HistorySettings& settings);

  // Its time goes on; it must before advance() and add() are called.
  void start(std::chrono::nanoseconds now);
  bool can_add() const;
  // Completes the periods that ended by now; true when there was one. Until stopped, to be called
  // before anything else is, and once more by who stops it.
  bool advance(std::chrono::nanoseconds now);

  // True when a counter reached the end of its type. Samples are not later than the last advance().
  bool add(std::span<const Sample> samples);
  // Periods count from origin; start() again if it is on.
  void clear(std::chrono::nanoseconds origin);
  // `name [t] total` or `name [t] number min avg max` for each completed period, which ended at t
  void render(std::string_view name, std::string& out) const;

  void save(ByteWriter& out) const;
  // Into one made with the settings of the saved one. Fails the reader on what save() never wrote.
  void load(ByteReader& in);

 private:
  using AnyPeriods = std::variant<Periods<Increments>, Periods<Products>, Periods<Summary>>;

  static AnyPeriods make_periods(const HistorySettings& settings, std::chrono::nanoseconds origin);

  AnyPeriods periods_;
};

}  // namespace tally
