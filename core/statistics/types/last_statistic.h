// type=last: X of the newest sample, by its time and then by arrival; Y is ignored.
// A StatisticType (statistic_type.h) of 24 bytes, nothing on the heap.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/json.h"
#include "core/model/sample.h"
#include "core/statistics/definition/definition.h"
#include "core/statistics/types/types_of.h"

namespace tallyfs::statistics {

class LastStatistic {
 public:
  static constexpr std::string_view kShortestLine = " [0.000000] 0\n";

  explicit LastStatistic(const LastSettings&) {}

  static std::uint64_t worst_case_bytes(const LastSettings&) { return 0; }

  // Always false: nothing is counted that could end.
  bool add(std::span<const Sample> samples);
  // Nullopt: there was no sample.
  std::optional<std::int64_t> x() const { return is_there_ ? std::optional(x_) : std::nullopt; }
  std::uint64_t lines() const { return is_there_ ? 1 : 0; }
  // `name [t] X`; t is the sample's time
  void render(std::string_view name, std::string& out, unsigned decimals = 0) const;
  std::uint64_t text_length(std::string_view name, unsigned decimals = 0) const;
  const LastStatistic& snapshot() const { return *this; }
  void write_values(JsonWriter& json, unsigned decimals = 0) const;
  void save(ByteWriter& out) const;
  void load(ByteReader& in);
  void forget_time() { time_ = {}; }

 private:
  bool is_there_ = false;
  std::int64_t x_ = 0;
  std::chrono::nanoseconds time_{0};
};

template <>
struct TypeOf<LastSettings> {
  using Type = LastStatistic;
};

}  // namespace tallyfs::statistics
