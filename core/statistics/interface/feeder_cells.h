// A statistic as feeders see it, and the cells in which they count its samples: where its switch
// and its shape are, in which era its cells count, and which lane files have cells of it.
//
// Cells are added up on the way to a reader, and belong to no sum of the statistic before their
// feeder has ended. What was read last is kept: it is shown when too many cells have been read for
// one open already. Those of root and the daemon's uid are read first, then those of the
// interface's owner, then others', each uid in its turn.
//
// Confined to its Interface's lock. At most kSourcesMax lane files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "core/lane/cell_source.h"
#include "core/lane/cell_sums.h"
#include "core/model/shape.h"
#include "core/model/switch.h"
#include "core/statistics/interface/refused_cells.h"
#include "core/statistics/interface/uid_cells.h"

namespace tallyfs::statistics {

// Where feeders look.
struct Published {
  Switch* on = nullptr;    // nullptr: nowhere
  Shape* shape = nullptr;  // nullptr: all samples go by the socket
  std::uint64_t number = 0;
};

class FeederCells {
 public:
  static constexpr std::size_t kSourcesMax = 4096;
  // So many of these may belong to uids that are neither trusted nor the interface's owner.
  static constexpr std::size_t kOthersSourcesMax = kSourcesMax / 2;
  // And of one of them. It has 64 lanes at most.
  static constexpr std::size_t kOthersSourcesOfUidMax = kOthersSourcesMax / 8;

  explicit FeederCells(const Published& at) : at_(at) {}

  // ---- the era

  bool is_open() const { return is_open_; }
  // Counts what feeders add to cells from now on. They begin again. Not to be called after end().
  void open(const CellForm& form);
  // Samples go by the socket. What cells hold counts until forget_era().
  void close() { is_open_ = false; }
  // True if samples that do not go into cells may go into rings, until the daemon ends.
  bool takes_rings() const { return at_.shape && !has_ended_ && !is_paused_; }
  // All goes by the socket from now on, once close() is called.
  void end() { has_ended_ = true; }
  // Until open(): what went into cells goes by the socket for a moment.
  void pause_rings() { is_paused_ = true; }
  // Behind close() and a last look: what cells hold is over.
  void forget_era();
  // The era of the server before, instead of open(). saved: as that has saved it. False: its
  // feeders count in another form, or in another era.
  bool resume(const CellForm& form, std::uint32_t saved);
  void show_decimals(unsigned decimals) {
    if (at_.shape) at_.shape->decimals.store(decimals, std::memory_order_relaxed);
  }
  void show(std::uint32_t on) {
    if (at_.on) at_.on->on.store(on, std::memory_order_release);
  }

  // ---- cells

  // owner: the interface's. False: there is no room for one more.
  bool bind(std::shared_ptr<const CellSource> source, std::uint32_t id, uid_t owner);
  // The server before has taken these cells out: they are not to be bound, and the next server is
  // told so, too. False: it has not.
  bool find_taken_out(const std::shared_ptr<const CellSource>& source, std::uint32_t id);
  bool has_cells() const {
    return held_ && (!held_->uids.empty() || held_->inherited || !held_->refused.empty());
  }
  // form: that of this era.
  void read(const CellForm& form, CellBudget& budget);
  // Visits the contents of the cells as of the last read(), which are several sums.
  template <typename Visit>
  void each_sums(Visit visit) const {
    if (!held_) return;
    if (held_->inherited) return visit(*held_->inherited);
    for (const UidCells& each : held_->uids) visit(each.sums());
    if (held_->tally.has_final) visit(held_->tally.final_sums);
  }
  // The feeder of this file has ended: its cells are read for the last time and taken out. False:
  // some are left, as it was late.
  bool take(const CellForm& form, const CellSource* source, const IsLate& is_late);
  // As take(), for all files of others, which continue: samples that come from now on are refused.
  bool take_others(const CellForm& form, const IsLate& is_late);
  // Others may feed it again, once their cells are bound again.
  void forget_refused() {
    if (held_) held_->refused.forget();
  }
  // The part of the cells that were taken out which is the statistic's own from now on.
  std::optional<CellSums> take_final_sums();

  // For the next server: the number that feeders know, the era, and which cells were taken out of
  // files that it may find. It does not bind those again.
  bool is_published() const { return at_.number != 0; }
  std::uint64_t number() const { return at_.number; }
  std::uint32_t era() const { return era_; }
  void save_place(ByteWriter& out);
  static std::unique_ptr<FeederCells> load_place(ByteReader& in);
  // The contents of ended files that the statistic has not taken; nullopt: there are none. And the
  // contents of the others at the last look, with the samples that were counted: less, where one
  // that has ended is in that look, as it must not count twice. What a server before has handed on;
  // and what another one holds.
  std::optional<CellSums> ended_sums() const;
  CellSums handed_on() const;
  void hold(CellSums sums) {
    held().tally.inherited = sums.samples;
    held().inherited = std::move(sums);
  }
  void take_held(FeederCells& from) { held_ = std::move(from.held_); }

  // Samples that cells held when they were read, and count_samples() has not counted.
  std::uint64_t uncounted() const { return held_ ? held_->tally.uncounted : 0; }
  void count_samples();
  // The samples that were found in cells and take_counted() has not returned.
  std::uint64_t untold() const { return held_ ? held_->tally.uncounted + held_->untold : 0; }
  // Samples in cells of others, since the last call.
  std::uint64_t take_refused() { return held_ ? held_->refused.take_samples() : 0; }
  // How many were counted since the last call.
  std::uint64_t take_counted() { return held_ ? std::exchange(held_->untold, 0) : 0; }

 private:
  // Cells of an id that were taken out of a file: its feeder has ended, or may not feed the
  // statistic. As long as the file is there, the next server may find it again, and is told not to
  // bind them.
  struct TakenOut {
    std::uint64_t lane = 0;
    std::uint32_t id = 0;
    std::weak_ptr<const CellSource> source{};
    bool of_before = false;  // by the server before, and the file was not bound yet
  };

  // The state of a statistic that has had cells.
  struct Held {
    // In the order in which they are read; those of neither the trusted nor the owner in turn.
    std::vector<UidCells> uids{};
    std::size_t first_of_others = 0;  // modulo their number
    CellTally tally{};
    RefusedCells refused{};
    std::uint64_t untold = 0;  // of all samples that were ever counted
    // The contents of cells for the server before: shown until all were read in this one.
    std::optional<CellSums> inherited{};
    std::vector<TakenOut> taken_out{};  // in this era
  };

  CellKey key(const CellForm& form) const {
    return {.number = at_.number, .id = 0, .era = era_, .form = form};
  }
  Held& held() {
    if (!held_) held_ = std::make_unique<Held>();
    return *held_;
  }
  UidCells& cells_of(const CellParty& party);
  void read_in_turn(std::span<UidCells> uids, const CellForm& form, CellBudget& budget);
  void forget_inherited();
  void forget_empty();
  void note_taken_out(const std::vector<BoundCells>& cells);
  void forget_taken_out();

  const Published at_;
  std::uint32_t era_ = 0;
  bool is_open_ = false;
  bool has_ended_ = false;
  bool is_paused_ = false;
  std::unique_ptr<Held> held_;
};

}  // namespace tallyfs::statistics
