// type=value: one counter, the sum of Y (increments) or of X * Y (products).
// A StatisticType (statistic_type.h) of 48 bytes, nothing on the heap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "core/base/bytes.h"
#include "core/base/json.h"
#include "core/lane/cell_sums.h"
#include "core/statistics/definition/definition.h"
#include "core/statistics/types/types_of.h"
#include "core/sums/sums.h"

namespace tallyfs::statistics {

class ValueStatistic {
 public:
  static constexpr std::string_view kShortestLine = " 0\n";

  explicit ValueStatistic(const ValueSettings& settings);

  static std::uint64_t worst_case_bytes(const ValueSettings&) { return 0; }

  bool add(std::span<const Sample> samples);
  // Adds what cells hold that count with these settings.
  bool merge(const CellSums& cells);
  // Adds what another with the same settings has gathered.
  bool merge(const ValueStatistic& other);
  bool add(std::span<const Sample> samples, const RunSums& sums);
  const std::variant<Increments, SignedSum>& total() const { return total_; }
  std::uint64_t lines() const { return 1; }
  // `name total`
  void render(std::string_view name, std::string& out, unsigned decimals = 0) const;
  std::uint64_t text_length(std::string_view name, unsigned decimals = 0) const;
  const ValueStatistic& snapshot() const { return *this; }
  void write_values(JsonWriter& json, unsigned decimals = 0) const;
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  std::variant<Increments, SignedSum> total_;
};

template <>
struct TypeOf<ValueSettings> {
  using Type = ValueStatistic;
};

}  // namespace tallyfs::statistics
