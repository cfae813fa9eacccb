// type=list: sum of Y for each X, for at most entries_max different X; a sample with a new X beyond
// that counts in missed(). A StatisticType (statistic_type.h); add() allocates as X come up.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/json.h"
#include "core/model/sample.h"
#include "core/statistics/definition/definition.h"
#include "core/statistics/types/types_of.h"

namespace tallyfs {

class ListStatistic {
 public:
  static constexpr std::string_view kShortestLine = " 0 0\n";
  using Entries = std::vector<std::pair<std::int64_t, std::uint64_t>>;  // X and total

  explicit ListStatistic(const ListSettings& settings)
      : entries_max_(settings.entries_max), base_(settings.base) {}

  // Half as much again for the moment in which the table grows.
  static std::uint64_t worst_case_bytes(const ListSettings& settings);

  // To one that shows X in another base.
  void redefine(const Definition& definition) {
    base_ = std::get<ListSettings>(definition.settings).base;
  }

  bool add(std::span<const Sample> samples);
  // Adds what another has gathered. X for which there is no room count as missed, once each.
  bool merge(const ListStatistic& other);
  std::uint64_t lines() const { return totals_.size(); }
  // Without the table's empty places, which may be as large again as the entries.
  class Snapshot {
   public:
    std::uint64_t text_length(std::string_view name, unsigned decimals = 0) const;
    // `name X total` for each X: largest total first, then smallest X. In hexadecimal X is 0xX in
    // two's complement.
    void render(std::string_view name, std::string& out, unsigned decimals = 0);

   private:
    friend ListStatistic;
    // Leaves the largest, in their order.
    void sort(std::size_t count);

    Entries totals_;
    Base base_ = Base::kHexadecimal;
  };
  Snapshot snapshot() const;
  void write_values(JsonWriter& json, unsigned decimals = 0) const;
  std::uint64_t missed() const { return missed_; }
  // The largest totals first, then the smallest X; so many of them at most.
  Entries largest(std::size_t count) const;
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  // Keyed: a feeder that knew the hash could choose X that all collide, so that every sample
  // searches the whole table.
  struct Hash {
    using is_avalanching = void;
    std::size_t operator()(std::int64_t x) const;
  };

  std::uint32_t entries_max_;
  Base base_;
  std::uint64_t missed_ = 0;
  boost::unordered_flat_map<std::int64_t, std::uint64_t, Hash> totals_;
};

template <>
struct TypeOf<ListSettings> {
  using Type = ListStatistic;
};

}  // namespace tallyfs
