// type=raw: the newest entries_max samples as they came, numbered from the last reset on.
// A StatisticType (statistic_type.h); add() copies, and allocates until entries_max are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/json.h"
#include "core/model/sample.h"
#include "core/statistics/definition/definition.h"
#include "core/statistics/types/types_of.h"
#include "core/sums/ring.h"

namespace tallyfs::statistics {

class RawStatistic {
 public:
  static constexpr bool kOfOneBoot = true;
  static constexpr std::string_view kShortestLine = " [0.000000] 0 0 0\n";

  explicit RawStatistic(const RawSettings& settings) : samples_(settings.entries_max) {}

  static std::uint64_t worst_case_bytes(const RawSettings& settings) {
    return Ring<Sample>::worst_case_bytes(settings.entries_max);
  }

  // Always false: nothing is counted that could end.
  bool add(std::span<const Sample> samples);
  std::uint64_t lines() const { return samples_.size(); }
  // `name [t] serial X Y`, oldest first; t is the sample's time
  void render(std::string_view name, std::string& out, unsigned decimals = 0) const;
  std::uint64_t text_length(std::string_view name, unsigned decimals = 0) const;
  // Shares its memory.
  const RawStatistic& snapshot() const { return *this; }
  void write_values(JsonWriter& json, unsigned decimals = 0) const;
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  std::uint64_t added_ = 0;  // since the reset; the next sample's serial
  Ring<Sample> samples_;
};

template <>
struct TypeOf<RawSettings> {
  using Type = RawStatistic;
};

}  // namespace tallyfs::statistics
