// How many cells of feeders one open or one command reads, and how often it looks for new ones. One
// budget is for all that is read on the way: for all interfaces of metrics/, for all statistics of
// a line that defines them anew.
//
// Root and the daemon's uid have one for themselves. Of that of all other uids each may use a third
// of what it leaves, so that one uid's cells never hide those of another, and a few whatever others
// have used. Where one interface alone is read, its owner may use all. Cells of a statistic are
// read in the order of CellRank.
//
// A cell counts by its size and by the time that it takes to read it (CellBudget::Reading).
//
// As the same files may be opened again and again, what an open reads of these uids is on credit
// (core/lane/cell_credit.h).
//
// What a budget leaves is looked at by later opens, in rounds (core/lane/cell_rounds.h).
//
// Budgets of opens are numbered in the order in which they begin, so that an open can use what
// another look has found since it began.
//
// A value, confined to its owner. What a budget allowed to begin is done to its end.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <boost/container/small_vector.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/lane/cell_credit.h"
#include "core/lane/cell_rounds.h"

namespace tallyfs {

enum class CellRank : std::uint8_t {
  kTrusted,  // root and the daemon's uid
  kOwner,    // the uid of the interface
  kOther,
};

// The uid that the cells are of.
struct CellParty {
  uid_t uid = 0;
  CellRank rank = CellRank::kTrusted;
  std::shared_ptr<CellCredit> credit{};  // shared by the uid's lanes; nullptr: needs none
};

// In which opens something was looked at: of one interface, and of all.
struct CellOpens {
  std::uint64_t of_one = 0;
  std::uint64_t of_all = 0;
};

// How much each uid has left.
class CellAllowance {
 public:
  static constexpr std::size_t kLeftToOthers = 3;

  // few: for each other uid in any case.
  CellAllowance(std::size_t for_trusted, std::size_t for_others, std::size_t few = 0)
      : for_trusted_(for_trusted), for_others_(for_others), few_(few) {}

  enum class Owner { kMayUseAll, kIsAsOthers };
  std::size_t left_for(const CellParty& party, Owner owner) const {
    if (party.rank == CellRank::kTrusted) return for_trusted_;
    if (party.rank == CellRank::kOwner && owner == Owner::kMayUseAll) return for_others_;
    const std::size_t used = used_by(party.uid);
    const std::size_t few = few_ - std::min(few_, used);
    if (for_others_ / kLeftToOthers <= used) return few;
    return std::max(few, (for_others_ - kLeftToOthers * used) / (kLeftToOthers + 1));
  }
  void charge(const CellParty& party, std::size_t amount) {
    std::size_t& left = party.rank == CellRank::kTrusted ? for_trusted_ : for_others_;
    left -= std::min(left, amount);
    if (party.rank == CellRank::kTrusted) return;
    const auto found = find(party.uid);
    if (found != used_.end()) {
      used_[static_cast<std::size_t>(found - used_.begin())].second += amount;
    } else {
      used_.emplace_back(party.uid, amount);
    }
  }

 private:
  using Used = boost::container::small_vector<std::pair<uid_t, std::size_t>, 4>;

  Used::const_iterator find(uid_t uid) const {
    return std::find_if(used_.begin(), used_.end(),
                        [uid](const auto& each) { return each.first == uid; });
  }
  std::size_t used_by(uid_t uid) const {
    const auto found = find(uid);
    return found == used_.end() ? 0 : found->second;
  }

  std::size_t for_trusted_;
  std::size_t for_others_;
  std::size_t few_;
  Used used_;
};

class CellBudget {
 public:
  static constexpr std::size_t kCellsMax = 100'000;
  // Reads of entries and indexes.
  static constexpr std::size_t kLooksMax = 25'000;
  // Each uid may read so many cells, even if others have used the rest: most programs have no more
  // threads.
  static constexpr std::size_t kFew = 64;
  // An array of so many intervals costs as much as two cells without.
  static constexpr std::size_t kIntervalsOfACell = 32;
  static constexpr std::size_t kCellsOfALook = kCellsMax / kLooksMax;

  enum class Of { kOneInterface, kAll };
  explicit CellBudget(Of of = Of::kOneInterface)
      : CellBudget(of, {kCellsMax, kCellsMax, kFew}, {kLooksMax, kLooksMax, kFew}) {}
  // For commands that keep data which cannot be read again. All cells of root and of the daemon's
  // uid are read. Cells of other uids may only slow down their own commands, which are charged to
  // the senders.
  static CellBudget for_command(Of of = Of::kOneInterface) {
    return CellBudget(of, {SIZE_MAX, kCellsMax, kFew}, {SIZE_MAX, kLooksMax, kFew}).paid();
  }
  // Each cell is read once, and there are no more than all lanes have room for.
  static CellBudget for_the_end() {
    return CellBudget(Of::kAll, {SIZE_MAX, SIZE_MAX}, {SIZE_MAX, kLooksMax, kFew}).paid();
  }
  CellBudget(Of of, CellAllowance cells, CellAllowance looks)
      : owner_(of == Of::kAll ? CellAllowance::Owner::kIsAsOthers
                              : CellAllowance::Owner::kMayUseAll),
        cells_(std::move(cells)),
        looks_(std::move(looks)) {}

  // From now on uids are looked at in these rounds, which outlive it. Without any all is looked at.
  void go_by(CellRounds& rounds) { rounds_ = &rounds; }
  // 0: of a command, which keeps data and must not miss a cell that is new at one of its steps.
  std::uint64_t number() const { return number_; }
  bool is_of_one_interface() const { return owner_ == CellAllowance::Owner::kMayUseAll; }
  bool is_in_round(uid_t uid) const { return rounds_ && rounds_->is_in_round(uid); }
  bool has_in_round(uid_t uid, const CellOpens& looked_at) const {
    return rounds_ && rounds_->has_in_round(
                          uid, is_of_one_interface() ? looked_at.of_one : looked_at.of_all);
  }
  void note_cut(uid_t uid) {
    if (rounds_) rounds_->note_cut(uid);
  }
  void note_whole(CellOpens& looked_at) const {
    if (!rounds_) return;
    (is_of_one_interface() ? looked_at.of_one : looked_at.of_all) = rounds_->open();
  }

  // The cost of a file of which so many cells are read.
  static std::size_t cost_of(std::size_t cells, std::size_t intervals) {
    return 1 + cells + cells * intervals / kIntervalsOfACell;
  }
  // Reads a uid's cells of one statistic.
  class Reading;

  bool has_looks_for(const CellParty& party) const {
    if (needs_credit(party) && party.credit->left(party.credit->now()) == 0) return false;
    return looks_.left_for(party, owner_) != 0;
  }
  void charge_looks(const CellParty& party, std::size_t looks) {
    looks_.charge(party, looks);
    if (needs_credit(party)) party.credit->spend(looks * kCellsOfALook, party.credit->now());
  }

 private:
  using Nanoseconds = std::chrono::nanoseconds;

  std::size_t cells_left_for(const CellParty& party, Nanoseconds now) const {
    const std::size_t left = cells_.left_for(party, owner_);
    return needs_credit(party) ? std::min(left, party.credit->left(now)) : left;
  }
  void charge_cells(const CellParty& party, std::size_t cost, Nanoseconds now) {
    cells_.charge(party, cost);
    if (needs_credit(party)) party.credit->spend(cost, now);
  }
  // Takes no credit: the sender of a command is charged, or, at the end, no one.
  CellBudget paid() && {
    takes_credit_ = false;
    number_ = 0;
    return std::move(*this);
  }
  static std::uint64_t next_number() {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1) + 1;
  }
  bool needs_credit(const CellParty& party) const { return takes_credit_ && party.credit; }

  CellAllowance::Owner owner_;
  CellAllowance cells_;
  CellAllowance looks_;
  bool takes_credit_ = true;
  std::uint64_t number_ = next_number();
  CellRounds* rounds_ = nullptr;
};

// Continues until the cells cost as much as is left for the uid. A cell costs its size, or, if
// reading took longer, the size that could have been read in that time. So cells whose memory is
// fetched by page faults cost more. A busy machine slows down all of them: the cells between two
// looks at the clock never cost more than kSlowerMax times their size.
//
// Cells of root and of the daemon's uid cost their size alone.
class CellBudget::Reading {
 public:
  static constexpr std::size_t kCostBetweenLooks = 256;
  // With a thousand lanes, reading a cell takes 150 ns on a processor of 2024, and three times as
  // long after others have used its caches. A page fault takes at least 1,000 ns.
  static constexpr Nanoseconds kTimeOfACell{250};
  static constexpr std::size_t kSlowerMax = 16;

  Reading(CellBudget& budget, const CellParty& party)
      : budget_(budget),
        party_(party),
        looked_(now()),
        left_(budget.cells_left_for(party, looked_)) {}

  bool goes_on() const { return cost_ + size_ < left_; }
  void add(std::size_t size) {
    size_ += size;
    if (size_ >= kCostBetweenLooks) look();
  }
  // Charges the uid.
  void end() {
    look();
    budget_.charge_cells(party_, cost_, looked_);
  }

 private:
  Nanoseconds now() const { return party_.credit ? party_.credit->now() : Nanoseconds(0); }
  void look() {
    const auto before = std::exchange(looked_, now());
    const auto by_time = static_cast<std::size_t>((looked_ - before) / kTimeOfACell);
    cost_ += std::clamp(by_time, size_, kSlowerMax * size_);
    size_ = 0;
  }

  CellBudget& budget_;
  const CellParty& party_;
  Nanoseconds looked_;
  const std::size_t left_;
  std::size_t cost_ = 0;
  std::size_t size_ = 0;  // of what was read since then
};

}  // namespace tallyfs
