// type=range: number of samples (sum of Y), smallest, average and greatest X.
// Confined to its Interface's lock. 48 bytes, nothing on the heap.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/definition/definition.h"
#include "core/statistic/sums.h"

namespace tally {

class RangeStatistic {
 public:
  explicit RangeStatistic(const RangeSettings&) {}

  // Heap that the data may come to hold.
  static std::uint64_t worst_case_bytes(const RangeSettings&) { return 0; }

  // True when a counter reached the end of its type.
  bool add(std::span<const Sample> samples) { return summary_.add(samples); }
  void clear() { summary_ = {}; }
  // `name number min avg max`, `name 0 0 0.000 0` without samples
  void render(std::string_view name, std::string& out) const;

  void save(ByteWriter& out) const;
  // Fails the reader on what save() never wrote.
  void load(ByteReader& in);

 private:
  Summary summary_;
};

}  // namespace tally
