// The statistics of an interface, which owns them here, in the order of their creation. Taking one
// out moves no other: its place stays empty, and nothing else comes there, until half of all are
// empty, and only then do they close up; so a million removals cost no more than a million times
// one.
//
// Confined to its Interface's lock.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/line_progress.h"
#include "core/statistics/interface/statistic.h"

namespace tallyfs::statistics {

class StatisticRow {
 public:
  // Over those that are there. While one is looked at, those behind it are on their way from
  // memory.
  class Iterator {
   public:
    Iterator(const StatisticRow& row, std::size_t at) : row_(row), at_(at) { skip_empty(); }
    Statistic& operator*() const { return *row_.places_[at_]; }
    Iterator& operator++() {
      ++at_;
      skip_empty();
      return *this;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }
    std::size_t place() const { return at_; }

   private:
    static constexpr std::size_t kAhead = 8;

    void skip_empty() {
      const auto& places = row_.places_;
      while (at_ < places.size() && !places[at_]) ++at_;
      if (at_ + kAhead < places.size() && places[at_ + kAhead]) places[at_ + kAhead]->prefetch();
    }

    const StatisticRow& row_;
    std::size_t at_;
  };

  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, places_.size()}; }
  std::size_t size() const { return places_.size() - empty_; }

  // Has the processor fetch the first ones whole.
  void prefetch_first() const {
    constexpr std::size_t kFirst = 16;
    for (std::size_t i = 0; i < std::min(places_.size(), kFirst); ++i) {
      if (places_[i]) places_[i]->prefetch_whole();
    }
  }

  // Fewer than 2^32 of them, which the ledger sees to.
  Statistic& append(std::unique_ptr<Statistic> statistic) {
    statistic->place_ = static_cast<std::uint32_t>(places_.size());
    places_.push_back(std::move(statistic));
    behind_last_ = places_.size();
    return *places_.back();
  }
  // One step over those that are left of a line for all: so many between two looks whether it is
  // late. Statistics that come later are left out, unless the row has closed up between two steps:
  // then it goes over all that are there. The row stays as it is meanwhile.
  class Left {
   public:
    Left(const StatisticRow& row, const LineStep& step, std::size_t at_once)
        : step_(step), at_once_(at_once), it_(begin_of(row, step.progress)) {}

    // Nullptr: there are no more, or it is cut.
    Statistic* next() {
      LineProgress& at = step_.progress;
      if (it_.place() >= at.end) return nullptr;
      if (taken_ == at_once_) {
        taken_ = 0;
        at.next = static_cast<std::uint32_t>(it_.place());
        is_cut_ = step_.is_late();
        if (is_cut_) return nullptr;
      }
      ++taken_;
      Statistic& next = *it_;
      ++it_;
      return &next;
    }
    bool is_cut() const { return is_cut_; }

   private:
    static Iterator begin_of(const StatisticRow& row, LineProgress& at) {
      if (!at.has_begun || at.closings != row.closings_) {
        at.next = 0;
        at.end = static_cast<std::uint32_t>(row.places_.size());
        at.closings = row.closings_;
      }
      at.has_begun = true;
      return {row, at.next};
    }

    const LineStep step_;
    const std::size_t at_once_;
    Iterator it_;
    std::size_t taken_ = 0;
    bool is_cut_ = false;
  };

  // Another number when places have moved, and for each row.
  std::uint32_t closings() const { return closings_; }

  // Nullptr: there is none.
  Statistic* last() const {
    while (behind_last_ != 0 && !places_[behind_last_ - 1]) --behind_last_;
    return behind_last_ == 0 ? nullptr : places_[behind_last_ - 1].get();
  }
  // In the place of one that is in.
  Statistic& replace(const Statistic& old, std::unique_ptr<Statistic> next) {
    next->place_ = old.place_;
    auto& place = places_[old.place_];
    place = std::move(next);
    return *place;
  }
  // Whether the one comes before the other.
  static bool is_before(const Statistic& one, const Statistic& other) {
    return one.place_ < other.place_;
  }
  // All of them, in their order. None is left.
  std::vector<std::unique_ptr<Statistic>> take_all() {
    close_up();
    behind_last_ = 0;
    return std::exchange(places_, {});
  }
  // It must be in.
  void erase(const Statistic& statistic) {
    places_[statistic.place_].reset();
    ++empty_;
    if (2 * empty_ > places_.size()) close_up();
  }

 private:
  void close_up() {
    std::erase(places_, nullptr);
    for (std::size_t i = 0; i < places_.size(); ++i) {
      places_[i]->place_ = static_cast<std::uint32_t>(i);
    }
    behind_last_ = places_.size();
    empty_ = 0;
    closings_ = draw();
  }
  static std::uint32_t draw() {
    static std::atomic<std::uint32_t> last{0};
    return ++last;
  }

  std::vector<std::unique_ptr<Statistic>> places_;
  mutable std::size_t behind_last_ = 0;  // all from there on are empty
  std::uint32_t empty_ = 0;
  std::uint32_t closings_ = draw();
};

}  // namespace tallyfs::statistics
