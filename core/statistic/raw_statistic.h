// type=raw: the newest entries_max samples as they came, numbered from the last reset on.
// Confined to its Interface's lock; add() copies, and allocates until entries_max are there.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/sample.h"
#include "core/definition/definition.h"
#include "core/statistic/ring.h"

namespace tally {

class RawStatistic {
 public:
  explicit RawStatistic(const RawSettings& settings)
      : entries_max_(settings.entries_max), samples_(settings.entries_max) {}

  // Heap that the data may come to hold.
  static std::uint64_t worst_case_bytes(const RawSettings& settings) {
    return settings.entries_max * sizeof(Sample);
  }

  // Always false: nothing is counted that could end.
  bool add(std::span<const Sample> samples);
  void clear();
  // `name [t] serial X Y`, oldest first; t is the sample's time
  void render(std::string_view name, std::string& out) const;

  void save(ByteWriter& out) const;
  // Into one made with the settings of the saved one. Fails the reader on what save() never wrote.
  void load(ByteReader& in);

 private:
  std::uint32_t entries_max_;
  std::uint64_t added_ = 0;  // since the reset; the next sample's serial
  Ring<Sample> samples_;
};

}  // namespace tally
