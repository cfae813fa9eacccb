// All statistics that lines feed, by their names. They live as long as the book, also after the
// rules were read again.
//
// Bounds: 5,000 names in 1,024 interfaces; SeriesBounds, beyond which samples go to `NAME{*}`.
// Confined to one thread.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/keyed_hash.h"
#include "feeders/log/rules/outlet.h"
#include "feeders/log/rules/refusal.h"
#include "feeders/text/series_bounds.h"

namespace tallyfs::logs {

struct Series {
  Outlet::Id id = 0;
  bool is_overflow = false;
};

// The texts of a name, encoded.
struct SeriesName {
  std::string interface;
  std::string base;
  std::string labels;
};

class SeriesBook {
 public:
  static constexpr std::size_t kInterfacesMax = 1'024;

  SeriesBook(SeriesBounds bounds, Outlet& outlet) : bounds_(bounds), outlet_(outlet) {}

  struct Resolved {
    Series series{};
    const char* refusal = nullptr;  // why there is none
  };
  // Makes the statistic if need be.
  Resolved resolve(const SeriesName& name, const tally::Definition& definition);

 private:
  template <typename T>
  using ByText = boost::unordered_flat_map<std::string, T, KeyedHash, std::equal_to<>>;

  Resolved make(const SeriesName& name, const tally::Definition& definition);
  const char* refuse_interface(const std::string& interface);

  SeriesBounds bounds_;
  Outlet& outlet_;
  ByText<Series> series_;         // INTERFACE/STATISTIC
  ByText<std::size_t> of_names_;  // INTERFACE/BASE: how many, without NAME{*}
  ByText<bool> interfaces_;
  std::string key_;
};

}  // namespace tallyfs::logs
