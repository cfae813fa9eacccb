// How many statistics a feeder makes of what strangers write: in all, and of one name. Beyond them
// samples go to the name's `NAME{*}`, which counts for no bound, so that totals remain whole.
// Confined to one thread.
#pragma once

#include <cstddef>
#include <string_view>

namespace tallyfs {

inline constexpr std::string_view kOverflowLabels = "{*}";
inline constexpr std::size_t kSeriesNamesMax = 5'000;

class SeriesBounds {
 public:
  SeriesBounds(std::size_t series_max, std::size_t per_name_max)
      : series_max_(series_max), per_name_max_(per_name_max) {}

  bool is_full() const { return series_ >= series_max_; }
  bool has_room(std::size_t of_name) const { return !is_full() && !is_full_of(of_name); }
  bool is_full_of(std::size_t of_name) const { return of_name >= per_name_max_; }
  void add() { series_ += 1; }
  void remove(std::size_t series) { series_ -= series; }

 private:
  const std::size_t series_max_;
  const std::size_t per_name_max_;
  std::size_t series_ = 0;
};

}  // namespace tallyfs
