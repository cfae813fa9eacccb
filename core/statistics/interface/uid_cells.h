// The cells of one statistic in the lane files of one uid, and what they held together when all of
// them were looked at last. A look that a budget cuts is continued by the next one; until it is
// whole, the look before is shown.
//
// The cells of a file whose feeder has ended are read once, when they are taken out. Other cells
// need not be read for that: what was shown has an older sum of that file's in it, so the last one
// is kept apart until a whole look without that file takes its place. Where no look has that file
// in it, its sums are the statistic's own at once.
//
// Samples are counted for each file: by how many it has more than when it was read before. So each
// counts once, whatever others add meanwhile.
//
// Confined to its FeederCells.
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/lane/cell_source.h"
#include "core/lane/cell_sums.h"
#include "core/statistics/interface/bound_cells.h"

namespace tallyfs::statistics {

// Counts of a statistic's cells that are not shown.
struct CellTally {
  std::uint64_t uncounted = 0;  // samples that were found and not counted yet
  std::uint64_t inherited = 0;  // samples that the server before has counted, and not found yet
  CellSums final_sums{};        // of files that have ended: the statistic's own from now on
  bool has_final = false;

  // A file has so many more samples.
  void note_samples(std::uint64_t more) {
    const std::uint64_t known = more < inherited ? more : inherited;
    inherited -= known;
    uncounted += more - known;
  }
  void book_counts(const CellSums& sums) {
    final_sums.add(sums);
    has_final = true;
  }
};

class UidCells {
 public:
  explicit UidCells(const CellParty& party) : party_(party) {}

  const CellParty& party() const { return party_; }
  std::size_t size() const { return bound_.size(); }
  bool has(const CellSource* source, std::uint32_t id) const { return ids_.contains({source, id}); }
  // Not one that it has.
  void bind(std::shared_ptr<const CellSource> source, std::uint32_t id) {
    ids_.insert({source.get(), id});
    bound_.push_back({.source = std::move(source), .id = id});
  }

  // Its id aside, the key is that of all cells. Nothing where it has had its turn in this round.
  // Of the others, how far the budget went.
  enum class Done { kAll, kSome, kNothing };
  Done read(const CellKey& key, CellBudget& budget, CellTally& tally);
  // Whether the last whole look was at all that are bound now.
  bool is_known() const { return known_ == bound_.size(); }
  // The sums of all, as of the last whole look.
  const CellSums& sums() const { return shown_; }
  // Takes out the cells of a file whose feeder has ended, of one id at least. What was taken out is
  // appended to `taken`. False: some are left, as it was late.
  bool take(const CellSource* source, const CellKey& key, CellTally& tally,
            std::vector<BoundCells>& taken, const IsLate& is_late);
  // As take(), for all files, which continue.
  bool take_all(const CellKey& key, CellTally& tally, std::vector<BoundCells>& taken,
                const IsLate& is_late);
  // True if there are sums of ended files that the statistic has not taken. What is shown has older
  // sums of them in it.
  bool has_ended() const { return ended_ != nullptr; }
  template <typename Visit>
  void each_ended(Visit visit) const {
    if (!ended_) return;
    visit(ended_->not_looked_at);
    visit(ended_->looked_at);
  }
  // The era is over.
  void forget();
  // The samples of all, as they were counted.
  std::uint64_t counted() const;

 private:
  // Last sums of files that have been taken out: of those that the look under way has not come to,
  // and of those that it has in it, which are for the next one.
  struct Ended {
    CellSums not_looked_at{};
    CellSums looked_at{};
    bool has_looked_at = false;
  };

  // How far the cells of one are read.
  struct Part {
    CellsPart of_file{};
    std::uint64_t samples = 0;
  };

  template <typename IsIts>
  bool take_if(IsIts is_its, const CellKey& key, CellTally& tally, std::vector<BoundCells>& taken,
               const IsLate& is_late);
  Done read_on(const CellKey& key, CellBudget& budget, CellTally& tally);
  CellsRead read_part(BoundCells& bound, CellKey key, Part& part, CellSums& sums,
                      CellBudget& budget, CellTally& tally);
  void read_last(BoundCells& bound, const CellKey& key, CellSums& sums, CellTally& tally);
  void prefetch_ahead(std::size_t of, const CellKey& key, const CellBudget& budget) const;
  void begin_look();
  // Moves the sums of files that have ended into final_sums, and forgets what was shown, which has
  // older sums of them in it: nothing counts twice.
  void book_counts(CellTally& tally);
  void finish_look(CellBudget& budget, CellTally& tally);

  CellParty party_;
  std::vector<BoundCells> bound_{};
  boost::unordered_flat_set<std::pair<const CellSource*, std::uint32_t>> ids_{};  // those of bound_
  CellSums shown_{};
  CellSums look_{};  // under way: of the first looked_ of them, and of a part of the next
  std::size_t looked_ = 0;
  Part part_{};
  std::size_t known_ = 0;  // of the first ones is what is shown
  CellOpens whole_looks_{};
  std::unique_ptr<Ended> ended_{};  // nullptr: there are none
};

}  // namespace tallyfs::statistics
