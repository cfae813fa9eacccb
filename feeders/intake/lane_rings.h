// The rings of one lane file (core/lane/FORMAT.md) as the daemon reads them: how far it is with
// each, the page of tails that tells the feeder, and what ids of the feeder mean. Nothing in a ring
// is believed; the positions that count are here.
//
// Confined to its owner (lanes.h). A lane has rings once its feeder asked for the page of tails.
// Bounded: kLaneEntries rings, which together are no longer than the file.
#pragma once

#include <atomic>
#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "core/branch/transferred_part.h"
#include "core/lane/layout.h"
#include "core/lane/ring_reader.h"
#include "core/statistics/branch/statistics_branch.h"
#include "feeders/intake/counter_times.h"
#include "feeders/intake/lane_file.h"
#include "feeders/intake/switch_page.h"

namespace tallyfs {

class LaneRings {
 public:
  explicit LaneRings(std::shared_ptr<const LaneFile> file) : file_(std::move(file)) {}

  // Returns what feeders map; the first call makes it. kNoSpace; kInvalid: a kernel without seals.
  Result<const SealedPage*> tails();
  bool has_tails() const { return tails_.has_value(); }
  int tails_fd() const { return tails_->fd(); }
  std::size_t size() const { return rings_.size(); }
  // Records with this id are samples of the statistic of this number. False: they were before.
  bool bind(std::uint32_t id, std::uint64_t number) {
    const auto [its, is_first] = numbers_.try_emplace(id, number);
    return is_first || std::exchange(its->second, number) != number;
  }

  // Looks how far the feeder is: what take() takes. kWithinCredit: new rings are looked for later
  // if the feeder's uid has spent what there is for looks (core/lane/cell_credit.h).
  enum class Finds { kWithinCredit, kAll };
  void note_heads(Finds finds = Finds::kWithinCredit);
  // Tells the feeder whether its records may have cycles for times. has_tails()
  void publish_clock(bool takes_cycles) {
    page().takes_cycles.store(takes_cycles ? 1 : 0, std::memory_order_relaxed);
  }
  // Does that for the last time: records that are written from now on are ignored.
  void end();
  bool has_ended() const { return has_ended_; }

  // Where samples go, and when.
  struct Into {
    statistics::StatisticsBranch& statistics;
    CounterTimes* counter;  // nullptr: records have no cycles
    const Clock& clock;
    std::vector<std::string>& saturated;  // interfaces, as Taken's
    const std::atomic<int>* wanted = nullptr;

    bool is_past(std::chrono::nanoseconds deadline) const {
      if (wanted && wanted->load(std::memory_order_relaxed) != 0) return true;
      return clock.now().monotonic >= deadline;
    }
  };
  // Takes what was there at note_heads(), until the deadline, or until the turn is wanted, but some
  // records at least.
  struct Done {
    std::uint64_t records = 0;
    bool all = true;
  };
  Done take(const Into& into, std::chrono::nanoseconds deadline);
  // These records were read by the server before, which may not have told the feeder.
  void note_read(const statistics::RingSlice& slice, std::uint64_t samples);
  // Whether all of that was read, and how many words are left.
  bool are_taken() const { return words_left() == 0; }
  std::uint64_t words_left() const;
  // Samples that found no room, as the feeder says, since the last call.
  std::uint64_t take_dropped() { return std::exchange(dropped_, 0); }

  // For the next server. kPage: without what is known of each ring, of which there may be many;
  // what feeders dropped since the last look is not counted then. How far rings were read says the
  // page of tails, which no feeder writes: what is in front of that may be written over. load()
  // fails the reader; the page must be one.
  enum class Saved { kPage, kRings };
  void save(ByteWriter& out, TransferredFds& descriptors, Saved saved) const;
  // All of what save() has put is read, whatever it is.
  Result<void> load(ByteReader& in, TransferredFds& descriptors);
  static void skip(ByteReader& in);

 private:
  static constexpr std::size_t kRecordsAtOnce = 256;

  struct Ring {
    std::uint32_t entry = 0;
    RingReader reader;
    std::uint64_t head = 0;     // as it was noted: not before the reader's position
    std::uint64_t samples = 0;  // that were taken
    std::uint64_t dropped = 0;  // as the feeder says
    std::int64_t last_ns = 0;   // times of one thread do not go back
  };
  class Batch;
  struct SavedRing;

  void find_rings(Finds finds);
  void enter(const LaneFile::RingPlace& each);
  void note_dropped(Ring& ring);
  void note_head(Ring& ring);
  bool take_some(Ring& ring, const Into& into, const CounterLine& line);
  void tell(const Ring& ring) const;
  LaneTails& page() const { return *reinterpret_cast<LaneTails*>(tails_->memory().data()); }

  const std::shared_ptr<const LaneFile> file_;  // shared with the statistics that have cells in it
  std::optional<SealedPage> tails_;
  std::vector<Ring> rings_;
  std::uint64_t ring_bytes_ = 0;
  std::uint64_t dropped_ = 0;           // that take_dropped() has not had
  std::uint64_t changes_ = UINT64_MAX;  // the file's count when rings were looked for
  std::size_t next_ = 0;                // the ring that is the first next time
  bool has_ended_ = false;
  bool is_of_before_ = false;  // the page, and rings were not looked for since
  boost::unordered_flat_map<std::uint32_t, std::uint64_t> numbers_;
};

}  // namespace tallyfs
