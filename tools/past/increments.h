// Turns snapshots of the mount into points of the store: what each statistic counted between two
// snapshots, or a note that says why that is unknown. The recorder calls it, once for each step.
// Confined to one thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "tools/display/statistic.h"
#include "tools/past/store_writer.h"
#include "tools/tree/json.h"

namespace tallyfs::past {

class Increments {
 public:
  explicit Increments(StoreWriter& writer) : writer_(writer) {}

  // Begins a snapshot. Returns the interfaces that are new or have counted since the last snapshot:
  // the caller reads each of them and passes it to take().
  std::vector<std::string> begin(const view::Tree& tree);
  // The JSON of an interface. It is ignored if the daemon has started again since begin(): the next
  // begin() notes that. kInvalid: the JSON is no interface.
  Result<void> take(const Json& json);
  // The mount did not answer at realtime_us (wall clock). If the next snapshot comes more than two
  // steps after the last, the time between them is a gap, and `reason` of the last such call is its
  // reason.
  void lose(const std::string& reason, std::uint64_t realtime_us);

 private:
  struct Stored {
    std::uint64_t series = 0;  // 0: it is not stored
    Adding adding{};
  };
  struct Kept {
    view::Interface newest;
    std::uint64_t serial = 0;
    std::vector<Stored> stored;  // for each statistic of `newest`
  };

  void note_pause(const view::Tree& tree);
  void note_begin(std::uint64_t until_us);
  void observe(const Kept& kept);
  // `stored`: of the statistics before this one, and of this one, which take() sets.
  void take(const view::Interface& now, std::size_t number, const Json& json, const Kept* before,
            std::vector<Stored>& stored);
  // Sets the source of a view's points, of `all` that are stored.
  static void derive(Adding& adding, const view::Interface& now, const view::Statistic& of_view,
                     const std::vector<Stored>& all);
  bool is_new(const view::Statistic& statistic) const;

  StoreWriter& writer_;
  std::string epoch_;
  std::uint64_t time_us_ = 0;         // CLOCK_MONOTONIC of this snapshot
  std::uint64_t before_us_ = 0;       // and of the one before; 0: there was none
  std::uint64_t realtime_us_ = 0;     // the wall clock of this snapshot
  std::string lost_;                  // the reason of the last loss; empty: there was none
  std::uint64_t lost_us_ = 0;         // the wall clock of the first loss since the last snapshot
  std::map<std::string, Kept> kept_;  // by interface
  std::map<std::string, std::uint64_t> serials_;  // by interface, in this snapshot
};

}  // namespace tallyfs::past
