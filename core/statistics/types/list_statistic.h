// type=list: sum of Y for each X, for at most entries_max different X; a sample with a new X beyond
// that counts in missed(). A StatisticType (statistic_type.h); add() allocates as X come up.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
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

namespace tallyfs::statistics {

class ListStatistic {
 public:
  static constexpr std::string_view kShortestLine = " 0 0\n";
  using Entries = std::vector<std::pair<std::int64_t, std::uint64_t>>;  // X and total

  explicit ListStatistic(const ListSettings& settings)
      : kept_(std::make_unique<Kept>()), entries_max_(settings.entries_max), base_(settings.base) {}
  ListStatistic(const ListStatistic& other)
      : kept_(std::make_unique<Kept>(*other.kept_)),
        entries_max_(other.entries_max_),
        base_(other.base_) {}
  ListStatistic(ListStatistic&&) noexcept = default;
  ListStatistic& operator=(ListStatistic&&) noexcept = default;
  ListStatistic& operator=(const ListStatistic& other) { return *this = ListStatistic(other); }

  // Half as much again for the moment in which the table grows.
  static std::uint64_t worst_case_bytes(const ListSettings& settings);

  // To one that shows X in another base.
  void redefine(const Definition& definition) {
    base_ = std::get<ListSettings>(definition.settings).base;
  }

  bool add(std::span<const Sample> samples);
  // Adds what another has gathered. X for which there is no room count as missed, once each.
  bool merge(const ListStatistic& other);
  std::uint64_t lines() const { return kept_->totals.size(); }
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
  std::uint64_t missed() const { return kept_->missed; }
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

  struct Kept {
    boost::unordered_flat_map<std::int64_t, std::uint64_t, Hash> totals;
    std::uint64_t missed = 0;
  };

  // On the heap, since each Statistic has room for the largest of all types.
  std::unique_ptr<Kept> kept_;
  std::uint32_t entries_max_;
  Base base_;
};

template <>
struct TypeOf<ListSettings> {
  using Type = ListStatistic;
};

}  // namespace tallyfs::statistics
