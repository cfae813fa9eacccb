// All series, by the names and tags of metrics.
//
// Bounds: SeriesBounds, beyond which samples go to `name{*}`, and names are in the interface
// `statsd`; 1,024 sets, and 256 `name{*}` of sets.
//
// Names expire only when a new one finds no room: then the name unused longest, for an hour at
// least, is given up, and its statistics are removed. Interfaces stay. Confined to one thread.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
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
#include "feeders/text/series_bounds.h"
#include "feeders/text/unused_list.h"

namespace tallyfs::statsd {

// The parts of a metric that identify its series; texts as they were sent.
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
  // Makes the series if need be. now_s: a second of CLOCK_MONOTONIC, as in Series.
  Resolved resolve(const SeriesKey& key, std::uint32_t now_s);

  // Statistics that came into being.
  std::uint64_t made() const { return made_; }
  const std::vector<Series*>& sets() const { return sets_; }

  // Names give way; they are there as they were sent.
  const SeriesBounds& bounds() const { return bounds_; }
  // Series of names that were given up: they stay until forget_given_up(), since known lines refer
  // to them.
  std::size_t given_up_held() const { return given_up_.size(); }
  void forget_given_up() { given_up_.clear(); }

 private:
  struct Name {
    struct Member {
      std::string text;
      Series* series = nullptr;
    };
    std::string sent;
    SeriesKey::Space space = SeriesKey::Space::kMetrics;
    std::string encoded{};
    std::string interface{};
    const MapRule* rule = nullptr;
    Kind first = Kind::kCounter;
    std::uint32_t made_s = 0;
    std::vector<Member> members{};
    std::size_t overflows = 0;  // of them
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
  Name* find_or_add_name(const SeriesKey& key, std::string_view name, std::uint32_t now_s,
                         Refusal& refusal);
  Name* add_name(const SeriesKey& key, std::string_view name, std::uint32_t now_s,
                 Refusal& refusal);
  std::string interface_of(std::string_view name, const MapRule* rule, SeriesKey::Space space);
  bool has_room(const Name& name, Kind kind) const;
  Resolved make(const SeriesKey& key, Table& table, Name& name, const NamedSeries& named);
  // For the series of a name that is new.
  void make_room(Kind kind, std::uint32_t now_s);
  // The second of the name's last sample; without samples, that of the name itself.
  static std::uint32_t used_s(const Name& name);
  // False: all names were used within the hour.
  bool give_up_one(std::uint32_t now_s);
  // Gives up one of the names that have sets. False: all of them were used within the hour.
  bool give_up_one_with_sets(std::uint32_t now_s);
  void give_up(Name& name);
  void forget_set(const Series& set);

  const Settings& settings_;
  SeriesBounds bounds_;  // of all but name{*}
  Outlet& outlet_;
  Table tables_[2];
  std::vector<Series*> sets_;
  std::vector<Name*> names_of_sets_;  // in the same order
  std::uint64_t made_ = 0;
  std::size_t overflow_sets_ = 0;
  UnusedList<Name> unused_;
  std::optional<std::uint32_t> looked_at_sets_s_;
  std::vector<std::unique_ptr<Series>> given_up_;
  std::vector<std::string_view> tags_;  // this is kept for its memory
};

}  // namespace tallyfs::statsd
