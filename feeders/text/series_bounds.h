// Bounds what a feeder makes of names that strangers write: interfaces, names, and statistics, in
// all and of one name. Beyond the bounds of statistics samples go to the name's `NAME{*}`, which
// counts for no bound, so that totals remain complete. The feeder decides which names or statistics
// are removed for new ones; this class counts them, for the feeder's own numbers and its log.
//
// Confined to one thread.
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/keyed_hash.h"

namespace tallyfs {

inline constexpr std::string_view kOverflowLabels = "{*}";

// Statistics, in all and of one name.
struct SeriesLimits {
  std::uint64_t series_max = 16'000;
  std::uint64_t per_name_max = 1'000;
};

class SeriesBounds {
 public:
  static constexpr std::size_t kInterfacesMax = 1'024;
  static constexpr std::size_t kNamesMax = 5'000;

  explicit SeriesBounds(SeriesLimits limits) : limits_(limits) {}

  // False: there are kInterfacesMax others. Interfaces stay.
  bool admit_interface(std::string_view interface);

  bool has_room_for_name() const { return names_ < kNamesMax; }
  void add_name() { names_ += 1; }
  void remove_name() { names_ -= 1; }

  bool is_full() const { return series_ >= limits_.series_max; }
  bool has_room(std::size_t of_name) const { return !is_full() && !is_full_of(of_name); }
  bool is_full_of(std::size_t of_name) const { return of_name >= limits_.per_name_max; }
  void add() { series_ += 1; }
  void remove(std::size_t series) { series_ -= series; }

  // A name, or a statistic, gave way.
  void note_given_up(std::string_view name);
  std::uint64_t given_up() const { return given_up_; }
  const std::string& last_given_up() const { return last_given_up_; }
  // Why samples go to NAME{*}: a bound is reached, or labels make a name of over 255 bytes.
  enum class Overflow { kNoRoom, kLongName };
  void note_overflow(std::string_view name, Overflow why) {
    last_overflowed_ = name;
    last_overflow_ = why;
  }
  const std::string& last_overflowed() const { return last_overflowed_; }
  Overflow last_overflow() const { return last_overflow_; }

 private:
  const SeriesLimits limits_;
  boost::unordered_flat_set<std::string, KeyedHash, std::equal_to<>> interfaces_;
  std::size_t names_ = 0;
  std::size_t series_ = 0;
  std::uint64_t given_up_ = 0;
  std::string last_given_up_;
  std::string last_overflowed_;
  Overflow last_overflow_ = Overflow::kNoRoom;
};

}  // namespace tallyfs
