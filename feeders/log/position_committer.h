// Stores the position of a line when its samples and events are where a kill of the feeder does not
// reach them: in memory that it shares with the daemon, or with the daemon.
//
// A sample that libtally holds itself (of a statistic that the daemon has not registered yet, or
// that has no lane) is not; then positions wait for a confirmation by the daemon. It is requested
// after one line, two, four and so on, up to 1,000 lines or 100 ms: most statistics are registered
// with the first confirmation, and have a lane soon after it. Confined to one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "feeders/log/follow/positions.h"

namespace tallyfs::logs {

class PositionCommitter {
 public:
  static constexpr std::uint64_t kLinesMax = 1'000;
  static constexpr std::chrono::milliseconds kTimeMax{100};

  // confirm: waits until the daemon has confirmed all; false: it is in vain. Positions that are not
  // kept in a file are stored at once.
  using Confirm = std::function<bool()>;
  // Whether libtally holds samples itself.
  using Holds = std::function<bool()>;
  PositionCommitter(Positions& positions, Confirm confirm, Holds holds)
      : positions_(positions), confirm_(std::move(confirm)), holds_(std::move(holds)) {}

  // A line was read, up to the offset; has_sent: samples or events came of it.
  void store(PositionRecord* record, std::uint64_t offset, bool has_sent);
  // The file was cut: it begins again once what it had before is safe.
  void begin_again(PositionRecord& record, const CountedPart& before);
  // Stored with the offset that waits, if one does: a checkpoint of the file after a cut fits to no
  // offset of before it.
  void keep(PositionRecord& record, const Checkpoint& checkpoint, std::string_view head);
  void store_cursor(std::string_view cursor, bool has_sent);
  // Whether lines wait for more than kTimeMax.
  bool is_due() const;
  bool is_waiting() const { return lines_ != 0; }
  // Confirms what waits, and stores it. False: it could not be confirmed, and waits still.
  bool commit();

 private:
  bool is_safe(bool has_sent) const;
  void count_safe();
  struct Pending {
    PositionRecord* record;
    std::uint64_t offset = 0;
    std::optional<CountedPart> before_cut{};  // it begins again
    std::optional<Checkpoint> checkpoint{};
    std::string head{};  // with the checkpoint
  };
  Pending* find_pending(const PositionRecord& record);
  Pending& pending_of(PositionRecord& record);
  static void store(const Pending& pending);
  void wait();

  Positions& positions_;
  const Confirm confirm_;
  const Holds holds_;
  std::vector<Pending> pending_;
  std::string cursor_;
  std::uint64_t lines_ = 0;       // that wait
  std::uint64_t lines_max_ = 1;   // that may
  std::uint64_t safe_lines_ = 0;  // in a row
  std::chrono::nanoseconds since_{0};
};

}  // namespace tallyfs::logs
