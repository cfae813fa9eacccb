// Which past `top` shows, where it is in it, and how fast it goes on. Of a store it seeks, too.
// Confined to one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "tools/ctl/top_reader.h"
#include "tools/display/look.h"
#include "tools/past/store_reader.h"

namespace tallyfs {

Result<TopSource> open_past(const std::string& store, const past::Span& span);

// Samples of each interface in a second of the span, 0 if it was not there then; without interfaces
// that the store does not know, as those of histories alone. Empty: nothing was observed in the
// span. Errors of the store.
Result<std::map<std::string, double>> rates_in(past::StoreReader& store, const past::Span& span);

class TopPast {
 public:
  // store: its path; empty: another source. is_mount: the source has no past. point: the time
  // between two points.
  TopPast(std::string store, const past::Span& extent, bool is_mount,
          std::chrono::microseconds point)
      : store_(std::move(store)), extent_(extent), is_mount_(is_mount), point_(point) {}

  OpenAt opener() const;
  int speed() const;
  const TopPlace& place() const { return place_; }

  // letter: t, T, < or >. now_us: the time that is shown. Returns a message, or an empty text. The
  // next snapshot follows after each `period`.
  std::string take(char32_t letter, std::uint64_t now_us, std::chrono::microseconds period);
  // True if a snapshot is of the place that was chosen last.
  bool is_here(const TopMoment& moment) const { return moment.place == place_.number; }
  // True once for each place, when its first snapshot has come.
  bool has_arrived() { return std::exchange(is_seeking_, false); }
  bool is_seeking() const { return is_seeking_; }

  // What the line has beside the position; `fault` is cut where there is no room.
  struct Notes {
    std::string versus{};  // the other span
    std::string fault{};   // why the past is missing, or what of it was damaged last
  };
  // "13:00:00 [====|        ] 15:00:00  at 13:20:10  x10  NOTES"; without notes it has the keys,
  // and where that is too wide only what is after the bar. Without a store, the notes alone.
  std::string position(std::uint64_t now_us, std::chrono::microseconds period, const Notes& notes,
                       const view::Look& look) const;

 private:
  void change_speed(bool is_faster);
  // "x10": how many times as fast as time it is played.
  std::string pace(std::chrono::microseconds period) const;
  void seek(bool is_later, std::uint64_t now_us);

  const std::string store_;
  const past::Span extent_;
  const bool is_mount_;
  const std::chrono::microseconds point_;
  TopPlace place_;
  bool is_seeking_ = false;
  std::size_t speed_ = 0;
};

}  // namespace tallyfs
