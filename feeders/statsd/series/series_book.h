// All series, by the names and tags of metrics.
//
// Bounds: 5,000 names; Settings::series_max series, and series_per_name_max of a name, beyond which
// samples go to `name{*}`; 1,024 sets, and 256 `name{*}` of sets; 1,024 interfaces, beyond which
// names are in `statsd`. Confined to one thread.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/keyed_hash.h"
#include "feeders/statsd/grammar/refusal.h"
#include "feeders/statsd/series/series.h"
#include "feeders/statsd/series/settings.h"

namespace tallyfs::statsd {

// What a metric says of its series; texts as they were sent.
struct SeriesKey {
  enum class Space : unsigned char { kMetrics, kChecks };
  std::string_view name;
  std::string_view tags{};
  std::string_view container{};
  Kind kind = Kind::kCounter;
  Space space = Space::kMetrics;
};

class SeriesBook {
 public:
  static constexpr std::size_t kNamesMax = 5'000;
  static constexpr std::size_t kInterfacesMax = 1'024;
  static constexpr std::size_t kSetsMax = 1'024;
  static constexpr std::size_t kOverflowSetsMax = 256;

  // Both must outlive it.
  SeriesBook(const Settings& settings, Outlet& outlet);
  ~SeriesBook();

  // The decimals that X of the key's series has.
  unsigned scale_of(const SeriesKey& key);

  struct Resolved {
    Series* series = nullptr;
    Refusal refusal{};  // why it is nullptr
  };
  // Makes the series if need be.
  Resolved resolve(const SeriesKey& key);

  std::size_t size() const { return series_count_; }
  const std::vector<Series*>& sets() const { return sets_; }

 private:
  struct Name {
    std::string encoded;
    std::string interface;
    const MapRule* rule = nullptr;
    Kind first = Kind::kCounter;
    std::size_t series = 0;
  };
  struct NamedSeries {
    std::string name;
    bool is_overflow = false;
  };
  template <typename T>
  using ByText = boost::unordered_flat_map<std::string, T, KeyedHash, std::equal_to<>>;
  struct Table {
    ByText<std::unique_ptr<Name>> names;
    ByText<std::unique_ptr<Series>> series;
  };

  Table& table_of(SeriesKey::Space space) { return tables_[static_cast<std::size_t>(space)]; }
  // Splits tags off the name, as --name-tags says.
  std::string_view split_name(std::string_view name, std::vector<std::string_view>& tags) const;
  Resolved resolve_name(const SeriesKey& key, Table& table, Name& name,
                        const std::vector<std::string_view>& tags);
  Name* find_or_add_name(const SeriesKey& key, std::string_view name, Refusal& refusal);
  std::string interface_of(std::string_view name, const MapRule* rule, SeriesKey::Space space);
  bool has_room(const Name& name, Kind kind) const;
  Resolved make(const SeriesKey& key, Table& table, Name& name, const NamedSeries& named);

  const Settings& settings_;
  Outlet& outlet_;
  Table tables_[2];
  ByText<bool> interfaces_;
  std::vector<Series*> sets_;
  std::size_t names_ = 0;
  std::size_t series_count_ = 0;
  std::size_t counted_ = 0;    // against series_max: all but name{*}
  std::size_t overflow_sets_ = 0;
  std::vector<std::string_view> tags_;  // kept for its memory
};

}  // namespace tallyfs::statsd
