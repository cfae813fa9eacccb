// The data of an interface's statistics that resets and redefinitions have discarded, for `undo=1`:
// the last definition and data of each, for 60 s. What is kept is no part of the state.
//
// Confined to its Interface's lock, which counts the bytes of each in the ledger.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <cstdint>
#include <memory>

#include "core/statistics/definition/definition.h"
#include "core/statistics/types/types.h"

namespace tallyfs::statistics {

class Statistic;

struct Discarded {
  Definition definition{};
  TypeData gathered{ValueStatistic(ValueSettings{})};
  std::uint64_t hits_out_of_range = 0;
  bool saturated = false;
  std::chrono::nanoseconds created{0};
  std::chrono::nanoseconds data_since{0};
  std::uint64_t samples = 0;  // that the statistic had taken until then
  std::chrono::nanoseconds until{0};
  std::uint64_t bytes = 0;  // that the ledger counts
};

class DiscardedData {
 public:
  static constexpr std::chrono::seconds kKeptFor{60};
  // The bytes that are kept of one statistic, at most.
  static constexpr std::uint64_t kBytesMax = 1 << 20;
  // A program that resets more often keeps nothing. Strict lines, which people write, keep what two
  // resets within that time have discarded as if it were one.
  static constexpr std::chrono::seconds kResetsApart{1};

  // The discarded data of the statistic; nullptr: there are none.
  const Discarded* find(const Statistic& statistic) const;
  void keep(const Statistic& statistic, Discarded discarded);
  // It must be kept.
  Discarded take(const Statistic& statistic);
  // Both return the bytes that the ledger counted of what is gone.
  std::uint64_t forget(const Statistic& statistic);
  std::uint64_t forget_expired(std::chrono::nanoseconds now);

  // The effect of the last line of the definition file, for its answer.
  struct Report {
    bool cannot_be_undone = false;
    bool is_replaced = false;         // the discarded data of a moment before
    std::uint64_t lost_samples = 0;  // counted since, with another definition or of such a type
  };
  Report report{};

 private:
  // On the heap each: most interfaces keep none, or that of all for a minute.
  boost::unordered_flat_map<const Statistic*, std::unique_ptr<Discarded>> kept_;
};

}  // namespace tallyfs::statistics
