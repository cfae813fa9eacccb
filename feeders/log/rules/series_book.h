// All statistics that lines feed, by their names. They stay when the rules are read again.
//
// Bounds: SeriesBounds, beyond which samples go to `NAME{*}`.
// Statistics expire only when a new one finds no room: then the one that was unused longest, for an
// hour at least, is given up and removed. Interfaces stay. Confined to one thread.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/keyed_hash.h"
#include "feeders/log/rules/outlet.h"
#include "feeders/log/rules/refusal.h"
#include "feeders/log/rules/rules.h"
#include "feeders/text/series_bounds.h"
#include "feeders/text/unused_list.h"

namespace tallyfs::logs {

struct Series {
  Outlet::Id id = 0;
  bool is_overflow = false;
  std::uint32_t used_s = 0;  // of CLOCK_MONOTONIC
};

// The texts of a name, encoded.
struct SeriesName {
  std::string interface;
  std::string base;
  std::string labels;
};

class SeriesBook {
 public:
  SeriesBook(SeriesBounds bounds, Outlet& outlet)
      : bounds_(std::move(bounds)), outlet_(outlet) {}

  struct Resolved {
    Series* series = nullptr;
    const char* refusal = nullptr;  // why there is none
  };
  // Makes the statistic if need be. The pointer is valid until bounds().given_up() changes.
  Resolved resolve(const SeriesName& name, const SampleAction& action, std::uint32_t now_s);

  // Statistics give way.
  const SeriesBounds& bounds() const { return bounds_; }
  NameScales scales() const;

 private:
  template <typename T>
  using ByText = boost::unordered_flat_map<std::string, T, KeyedHash, std::equal_to<>>;
  struct Entry;
  // INTERFACE/BASE
  struct Name {
    std::string text;
    SampleScale scale{};
    std::size_t series = 0;  // without NAME{*}
    bool is_listed = false;  // in empty_names_
    UnusedList<Entry> unused{};
  };
  struct Entry {
    std::string key;  // INTERFACE/STATISTIC
    Name* name = nullptr;
    Series series{};
  };

  Resolved make(const SeriesName& name, const SampleAction& action, std::uint32_t now_s);
  Resolved add(Name& name, const SeriesName& texts, const SampleAction& action, bool is_overflow);
  const char* refuse_interface(const std::string& interface);
  Name* find_or_add_name(const std::string& text, const SampleAction& action, std::uint32_t now_s);
  bool has_room(Name& name, std::uint32_t now_s);
  // False: all were used within the hour.
  bool give_up_one(std::uint32_t now_s);
  bool give_up_one_of(Name& name, std::uint32_t now_s);
  void give_up(Entry& entry);
  void list_empty(Name& name);
  // Drops a name that has no statistics, or has NAME{*} alone, unused for an hour.
  bool drop_empty_name(std::uint32_t now_s);
  bool is_used(const Name& name, std::uint32_t now_s) const;
  void remove(Entry& entry);

  SeriesBounds bounds_;
  Outlet& outlet_;
  ByText<std::unique_ptr<Entry>> series_;
  ByText<std::unique_ptr<Name>> names_;
  UnusedList<Entry> unused_;  // NAME{*} is in none of the lists
  std::vector<Name*> empty_names_;  // those with statistics that came since among them
  std::optional<std::uint32_t> all_used_s_;  // when a look at them found none to drop
  std::string key_;
};

}  // namespace tallyfs::logs
