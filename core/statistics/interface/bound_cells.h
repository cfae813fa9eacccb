// The cells of one id in a lane file, which a statistic is bound to. A value.
#pragma once

#include <cstdint>
#include <memory>

#include "core/lane/cell_source.h"

namespace tallyfs::statistics {

struct BoundCells {
  std::shared_ptr<const CellSource> source;  // shared with the lanes' table
  std::uint32_t id = 0;
  CellPlaces places{};
  std::uint64_t counted = 0;  // samples
};

}  // namespace tallyfs::statistics
