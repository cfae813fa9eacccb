// A lane file (core/lane/FORMAT.md) as the daemon has it: memory that one feeder writes, and that
// it maps to be read only. Nothing in it is believed: each word is loaded once and checked.
//
// Any thread. It lives until the last statistic that has cells in it lets it go. Its size cannot
// change, so that reading it never fails. Entries and indexes are read by pread(2), as reading a
// hole through a mapping would fill it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/fd.h"
#include "core/base/mutex.h"
#include "core/base/reservation.h"
#include "core/base/result.h"
#include "core/lane/cell_source.h"
#include "core/lane/lane_fault.h"
#include "core/lane/layout.h"

namespace tallyfs {

// Lane files have these counters in common.
struct LaneCounts {
  std::atomic<std::uint64_t> merged{0};    // cells that were read
  std::atomic<std::uint64_t> bad{0};       // things that no feeder writes
  std::atomic<std::uint64_t> not_read{0};  // looks at cells when too many had been read
  std::atomic<std::uint64_t> taken{0};     // samples of rings
  std::atomic<std::uint64_t> lost{0};      // of them, those of statistics that are gone

  // Returns the count since the last call, which mostly is 0: a look costs less than an exchange.
  static std::uint64_t take(std::atomic<std::uint64_t>& counted) {
    if (counted.load(std::memory_order_relaxed) == 0) return 0;
    return counted.exchange(0, std::memory_order_relaxed);
  }
};

class alignas(64) LaneFile final : public CellSource {
 public:
  // A file of a uid that is neither root's nor the daemon's has no more bytes.
  static constexpr std::uint32_t kUsersBytesMax = 4u << 20;
  // A file in which so many things were not what a feeder writes is closed.
  static constexpr unsigned kBadMax = 3;

  // Root's or the daemon's uid's, or another's.
  enum class Whose { kTrusted, kOther };
  // The file's memory is charged here, now and later.
  struct Charged {
    Ledger& ledger;  // outlives it
    Reservation reservation;
    std::shared_ptr<CellCredit> credit;  // shared by the uid's files; nullptr: needs none
  };
  // bytes: from kLaneBytesMin to kLaneBytesMax. counts: shared by all, and lives as long as the
  // last of them. kNoSpace: no memory or no descriptor; kInvalid: a kernel without seals.
  static Result<std::shared_ptr<LaneFile>> create(std::uint32_t bytes, Charged charged, Whose whose,
                                                  std::shared_ptr<LaneCounts> counts);
  // The file that a server before has made, with as many faults as it has found.
  // kInvalid: it is no lane, or not sealed.
  static Result<std::shared_ptr<LaneFile>> adopt(Fd fd, std::uint32_t bytes, Charged charged,
                                                 Whose whose, std::shared_ptr<LaneCounts> counts,
                                                 unsigned bad);
  ~LaneFile() override;
  LaneFile(const LaneFile&) = delete;
  LaneFile& operator=(const LaneFile&) = delete;

  int fd() const { return fd_.get(); }
  std::uint64_t bytes() const { return memory_.size(); }
  // Before others see it.
  void be_lane(std::uint64_t number) { lane_ = number; }
  std::uint64_t lane() const override { return lane_; }
  uid_t uid() const override { return charged_.reservation.uid(); }
  bool is_trusted() const override { return whose_ == Whose::kTrusted; }
  std::shared_ptr<CellCredit> credit() const override { return charged_.credit; }
  CellsRead add_up(const CellKey& key, CellPlaces& places, CellsPart& part, CellSums& sums,
                   CellBudget& budget, const CellParty& party) const override;
  // Its feeder has ended: all places are looked for once more, and none from then on. Called once,
  // by one thread.
  void end();
  void prefetch(const CellKey& key, const CellPlaces& places,
                const CellBudget& budget) const override;
  // The uid has the room again, though the file stays until all is saved that it had counted. Not
  // beside other calls of this one.
  void release_room() { charged_.reservation.release(); }
  // Its feeder has mapped it and sealed it (F_SEAL_FUTURE_WRITE), so that no process can punch
  // holes into it. A page that is punched is a fault at the next look, and a look that meets the
  // punching waits for it. Nothing is read through the mapping before.
  bool keeps_its_pages() const;
  void note_not_read() const override { counts_->not_read.fetch_add(1); }
  // How much in it was not what a feeder writes.
  unsigned bad() const { return bad_.load(std::memory_order_relaxed); }
  bool is_closed() const { return bad() >= kBadMax; }
  // The faults are kept until the file is closed.
  void note_bad(const LaneFinding& finding) const;
  // Returns the fault of a number below kBadMax; nullopt: there is none yet.
  std::optional<LaneFinding> fault(unsigned number) const;
  LaneCounts& counts() const { return *counts_; }

  // ---- rings

  std::span<const std::byte> memory() const { return memory_; }
  // Another number when there may be another ring.
  std::uint64_t changes() const;
  struct RingPlace {
    std::uint32_t entry = 0;  // its number
    std::uint64_t ring = 0;   // as the entry has it
  };
  // entries: how many were read, each of which costs as much as a cell.
  std::vector<RingPlace> find_rings(std::size_t& entries) const;
  // Describes a ring that was found. Its contents are not checked.
  const LaneEntry& entry(std::uint32_t number) const;
  static std::uint64_t place_of_entry(std::uint32_t number) {
    return kLaneEntriesAt + number * sizeof(LaneEntry);
  }

 private:
  LaneFile(Fd fd, std::span<const std::byte> memory, Charged charged, Whose whose,
           std::shared_ptr<LaneCounts> counts);
  static Result<std::shared_ptr<LaneFile>> map(Fd fd, std::uint32_t bytes, Charged charged,
                                               Whose whose, std::shared_ptr<LaneCounts> counts);
  // Where a cell of an id is.
  struct Place {
    std::uint32_t id;
    std::uint32_t at;

    auto operator<=>(const Place&) const = default;
  };
  // As LaneEntry, once it was read.
  struct EntryCopy {
    std::uint32_t thread;
    std::uint32_t zero;
    std::uint64_t index;
    std::uint64_t ring;
    std::array<std::uint64_t, 5> spare;
  };
  static_assert(sizeof(EntryCopy) == sizeof(LaneEntry));
  EntryCopy whole(std::size_t number, EntryCopy copy) const;
  template <typename Visit>
  void each_entry(std::size_t& looks, Visit visit) const;
  std::vector<std::uint64_t> find_indexes(std::size_t& looks) const;
  // These were the indexes of threads when `changes` had this value.
  struct Indexes {
    std::uint64_t changes = 0;
    std::vector<std::uint64_t> at{};  // as entries have them, each once
  };
  std::shared_ptr<const Indexes> indexes_of(std::uint64_t changes, std::size_t& looks) const
      EXCLUDES(mutex_);
  void find(std::uint32_t id, const std::vector<std::uint64_t>& indexes, CellPlaces& places,
            std::size_t& looks) const;
  void find_in_index(std::uint64_t index, std::uint32_t id, CellPlaces& places) const;
  void add_places_of_index(std::uint64_t index, std::vector<Place>& all) const;
  bool is_index(std::uint64_t index) const;
  void find_places(const CellKey& key, CellPlaces& places, CellBudget& budget,
                   const CellParty& party) const;
  std::uint64_t changes_for(const CellBudget& budget) const;
  bool is_known_to(const CellBudget& budget) const;
  void note_index_place(std::uint64_t index) const;
  void note_too_many_cells(std::uint64_t at) const;
  bool has_room_for(std::uint32_t at, const CellKey& key, CellPlaces& places,
                    std::uint64_t& bytes) const;
  static CellsRead add_others(const CellPlaces& places, std::span<const std::uint32_t> than,
                              std::size_t known, CellSums& sums);
  void begin_former(const CellKey& key, CellPlaces& places) const;
  bool add_cell(std::uint32_t at, const CellKey& key, bool has_room, FormerReadings::Look& former,
                CellSums& sums) const;

  // The members that each look needs come first, in one line of the processor's cache.
  const Fd fd_;
  const std::span<const std::byte> memory_;
  mutable std::atomic<unsigned> bad_{0};
  std::atomic<bool> has_ended_{false};
  // `changes` was at least known_changes_ when the budget number known_to_ had begun. To load it
  // costs as much as to read a cell, so an open of many statistics loads it once.
  mutable std::atomic<std::uint64_t> known_changes_{0};
  mutable std::atomic<std::uint64_t> known_to_{0};
  const std::shared_ptr<LaneCounts> counts_;
  Charged charged_;
  const Whose whose_;
  std::uint64_t lane_ = 0;
  struct NotedFault {
    std::atomic<LaneFault> what{LaneFault::kNone};
    LaneFinding finding{};  // stored before what, and not changed any more
  };
  mutable std::array<NotedFault, kBadMax> faults_{};
  // No more is read than there can be cells, and no more bytes are kept of what was read.
  const RoomShare::Room bytes_left_;
  const RoomShare::Room former_bytes_left_;
  mutable Mutex mutex_{LockRank::kLaneIndexes};
  mutable std::shared_ptr<const Indexes> indexes_ GUARDED_BY(mutex_);  // shared with readers
  // The feeder of the file has ended: these are by id, and do not change any more.
  std::vector<Place> last_places_;
};

}  // namespace tallyfs
