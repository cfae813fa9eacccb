// A statistic at one moment, for texts that are made of its values without a lock. A value.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/statistics/definition/definition.h"
#include "core/statistics/types/types.h"

namespace tallyfs::statistics {

struct StatisticCopy {
  std::string name{};
  Definition definition{};
  std::string help{};  // as LineState has it
  std::uint64_t hits_out_of_range = 0;
  std::optional<std::uint64_t> hits_missed{};
  std::chrono::nanoseconds created{0};  // since when it gathers, on the wall clock; 0: not known
  TypeData gathered{ValueStatistic(ValueSettings{})};
};

}  // namespace tallyfs::statistics
