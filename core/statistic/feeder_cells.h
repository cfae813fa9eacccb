// A statistic as feeders see it, and the cells in which they count its samples: where its switch
// and its shape are, in which era its cells count, and which lane files have cells of it.
//
// Cells are added up on the way to a reader, and belong to no sum of the statistic before their
// feeder has ended. What was read last is kept: it is shown when too many cells have been read for
// one open already.
//
// Confined to its Interface's lock. At most kSourcesMax lane files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/lane/cell_source.h"
#include "core/lane/cell_sums.h"
#include "core/model/shape.h"
#include "core/model/switch.h"

namespace tallyfs {

// Where feeders look.
struct Published {
  Switch* on = nullptr;    // nullptr: nowhere
  Shape* shape = nullptr;  // nullptr: all samples go by the socket
  std::uint64_t number = 0;
};

// How many cells are read for one open.
struct CellBudget {
  static constexpr std::size_t kCellsMax = 100'000;
  std::size_t left = kCellsMax;
  LookBudget looks{};
};

class FeederCells {
 public:
  static constexpr std::size_t kSourcesMax = 4096;

  explicit FeederCells(const Published& at) : at_(at) {}

  // ---- the era

  bool is_open() const { return is_open_; }
  // What feeders add to cells from now on counts. They begin anew. Not behind end().
  void open(const CellForm& form);
  // Samples go by the socket. What cells hold counts until forget_era().
  void close() { is_open_ = false; }
  // What does not go into cells may go into rings, until the daemon ends.
  bool takes_rings() const { return at_.shape && !has_ended_ && !is_paused_; }
  // All goes by the socket from now on, once close() is called.
  void end() { has_ended_ = true; }
  // Until open(): what went into cells goes by the socket for a moment.
  void pause_rings() { is_paused_ = true; }
  // Behind close() and a last look: what cells hold is over.
  void forget_era();
  // The era of the server before, instead of open(). False: its feeders count in another form.
  bool go_on(const CellForm& form);
  void show(std::uint32_t on) {
    if (at_.on) at_.on->on.store(on, std::memory_order_release);
  }

  // ---- cells

  // False: there is no room for one more.
  bool bind(std::shared_ptr<const CellSource> source, std::uint32_t id);
  bool has_cells() const { return held_ && !held_->bound.empty(); }
  // form: that of this era.
  void read(const CellForm& form, CellBudget& budget);
  // As of the last read().
  const CellSums& sums() const { return held_->sums; }
  // What the cells of this file hold, which are taken out. The others are to be read again.
  CellSums take(const CellForm& form, const CellSource* source);

  // For the next server: whether there is anything in sums(); what a server before has read, and
  // counted; and what another one holds.
  bool holds_any() const { return held_ && held_->sums.samples != 0; }
  void hold(CellSums sums) {
    held_ = std::make_unique<Held>();
    held_->counted = sums.samples;
    held_->sums = std::move(sums);
  }
  void take_held(FeederCells& from) { held_ = std::move(from.held_); }

  // Samples that cells held at the last read(), and count_samples() has not counted.
  std::uint64_t uncounted() const;
  void count_samples();
  // What the last read() found was counted before.
  void skip_samples() {
    if (held_) held_->counted = held_->sums.samples;
  }
  // How many were counted since the last call.
  std::uint64_t take_counted() { return held_ ? std::exchange(held_->untold, 0) : 0; }

 private:
  struct Bound {
    std::shared_ptr<const CellSource> source;  // shared with the lanes' table
    std::uint32_t id = 0;
    CellPlaces places{};
  };
  // Of a statistic that has had cells.
  struct Held {
    std::vector<Bound> bound{};
    CellSums sums{};
    std::uint64_t counted = 0;  // of the samples in sums
    std::uint64_t untold = 0;   // of all that were ever counted
  };

  CellKey key(const Bound& bound, const CellForm& form) const {
    return {.number = at_.number, .id = bound.id, .era = era_, .form = form};
  }

  const Published at_;
  std::uint32_t era_ = 0;
  bool is_open_ = false;
  bool has_ended_ = false;
  bool is_paused_ = false;
  std::unique_ptr<Held> held_;
};

}  // namespace tallyfs
