// How many cells of a uid's lanes readers may look at within a time. So the threads that serve
// opens are free for others, however often a file is opened or its size is asked for that shows
// very many cells.
//
// A uid that needs much shares what there is for all such uids. One that needs little has its own,
// whatever uids that need much use up. What little uids need comes to kLittleOfAllMax at most, as a
// user namespace has as many of them as its root likes: they have it in turn (FeederCells). All of
// it comes back within kRefill.
//
// Thread-safe, without a lock. Readers at the same time may each spend what is left.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/base/clock.h"

namespace tallyfs {

class CellCredit {
 public:
  static constexpr std::size_t kOfAllMax = 200'000;
  static constexpr std::size_t kOfUidMax = kOfAllMax / 2;
  static constexpr std::size_t kLittle = kOfUidMax / 10;
  static constexpr std::size_t kLittleOfAllMax = 4 * kLittle;
  static constexpr std::chrono::nanoseconds kRefill{std::chrono::milliseconds(100)};

  // So many cells, of which each comes back after its part of kRefill. Thread-safe.
  class Account {
   public:
    explicit Account(std::size_t most)
        : most_(static_cast<std::int64_t>(most)), cell_(kRefill / most_) {}

    std::size_t left(std::chrono::nanoseconds now) const {
      const std::int64_t spent = std::max(full_.load() - now, std::chrono::nanoseconds(0)) / cell_;
      return static_cast<std::size_t>(std::max<std::int64_t>(0, most_ - spent));
    }
    // May spend more than is left: then the debt is refilled first.
    void spend(std::size_t cells, std::chrono::nanoseconds now) {
      const auto spent = static_cast<std::int64_t>(cells) * cell_;
      auto full = full_.load();
      while (!full_.compare_exchange_weak(full, std::max(full, now) + spent)) {
      }
    }

   private:
    const std::int64_t most_;
    const std::chrono::nanoseconds cell_;
    std::atomic<std::chrono::nanoseconds> full_{std::chrono::nanoseconds(0)};
  };

  // The accounts that all uids share.
  struct OfAll {
    Account much{kOfAllMax};
    Account little{kLittleOfAllMax};
  };

  // all: shared by all uids; it lives as long as the last of them. The clock outlives it.
  CellCredit(const Clock& clock, std::shared_ptr<OfAll> all)
      : clock_(clock), all_(std::move(all)) {}

  std::chrono::nanoseconds now() const { return clock_.now().monotonic; }
  std::size_t left(std::chrono::nanoseconds now) const {
    return std::max(little_left(now), std::min(much_.left(now), all_->much.left(now)));
  }
  void spend(std::size_t cells, std::chrono::nanoseconds now) {
    const bool is_little = cells <= little_left(now);
    little_.spend(cells, now);
    if (is_little) return all_->little.spend(cells, now);
    much_.spend(cells, now);
    all_->much.spend(cells, now);
  }

 private:
  std::size_t little_left(std::chrono::nanoseconds now) const {
    return std::min(little_.left(now), all_->little.left(now));
  }

  const Clock& clock_;
  const std::shared_ptr<OfAll> all_;
  Account little_{kLittle};
  Account much_{kOfUidMax};
};

}  // namespace tallyfs
