// The text of metrics: interfaces are added one by one, their series gathered by family, and the
// families written one after the other, in the order in which they came. Families about the text
// itself are the last.
//
// Holds at most series_max series and bytes_max of text: what is beyond is left out, from one
// statistic on. What two statistics would both say, the first says. Confined to one thread.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/statistics/exposition/format.h"
#include "core/statistics/exposition/histograms.h"
#include "core/statistics/exposition/options.h"
#include "core/statistics/interface/statistic_copy.h"

namespace tallyfs::statistics {

// Statistics that are left out, by reason.
struct MetricsOmitted {
  std::uint64_t limit = 0;
  std::uint64_t duplicate = 0;
  std::uint64_t raw = 0;
  std::string first_duplicate{};  // INTERFACE/STATISTIC
  std::string taken_by{};         // what has the name of that one; empty: no statistic has it
  std::string first_beyond{};     // the limit
};

class Metrics {
 public:
  // now: the moment of all copies. options outlive this.
  Metrics(MetricsFormat format, const MetricsOptions& options, Timestamp now);
  ~Metrics();

  void add(std::string_view interface, const std::vector<StatisticCopy>& statistics);
  // Adds what this says of itself, and returns the text. rendering: how long it took so far.
  std::string finish(std::chrono::nanoseconds rendering);

  // True if no more is shown. Statistics that come then need not be copied, but count as left out.
  bool is_full() const { return is_full_; }
  void leave_out(std::uint64_t statistics) { omitted_.limit += statistics; }

  const MetricsOmitted& omitted() const { return omitted_; }
  std::uint64_t series() const { return series_; }
  // The text will have about so many.
  std::size_t bytes() const { return bytes_; }

 private:
  class Adder;
  struct Family {
    FamilyName name;
    // The text of its series: parts that are full, and the last one, to which is added. All of a
    // statistic is in one part. So nothing is copied as the text grows.
    std::vector<std::string> parts{1};
    // The help of its statistics that have one, if all of them say the same.
    std::string help;
    bool has_several_helps = false;
    std::string maker;  // INTERFACE/STATISTIC of its first series; empty: of all statistics
    // Labels of the series of the interface that came last, and the places of their statistics: the
    // first series, and all others.
    std::uint64_t interface = 0;
    std::string first;
    std::size_t first_place = 0;
    boost::unordered_flat_map<std::string, std::size_t> others;

    bool empty() const { return parts.size() == 1 && parts.front().empty(); }
    std::string& body() { return parts.back(); }
  };
  // The families of a statistic, by its name and units. Families are found when they are needed.
  struct Resolved {
    bool is_of(const StatisticCopy& statistic) const {
      return name == statistic.name && units == statistic.definition.units;
    }

    struct Target {
      Family* family = nullptr;  // nullptr: not yet, or of another kind than this wants
      UnitScale scale{};
      bool is_found = false;
    };

    std::string name;
    std::string units;
    FamilyNames names;
    std::vector<Label> labels;
    std::array<Target, kRoles> targets{};
  };

  // Where a statistic was added, how long that part was before, and whether it was the first one.
  struct Touched {
    Family* family;
    std::size_t size;
    bool is_first;
    bool is_own = false;  // of statistics of this name, not of all statistics
  };

  // place: of the statistic in its interface.
  Resolved& resolve(const StatisticCopy& statistic, std::size_t place);
  Resolved& find_resolved(const StatisticCopy& statistic);
  void touch(Family& family);
  // Nullptr: there is one of that name and of another kind.
  Family* family(const FamilyName& name);
  struct OwnSeries {
    std::string_view reason{};
    Quantity value{};
  };
  // Gauges about the text itself, with the label `reason` where there is one.
  void add_own(std::size_t which, std::span<const OwnSeries> all);

  const std::unique_ptr<const Format> format_;
  const MetricsOptions& options_;
  const Timestamp now_;
  Histograms histograms_;
  std::vector<std::unique_ptr<Family>> families_;  // those about the text are the first
  boost::unordered_flat_map<std::string, Family*> by_name_;
  boost::unordered_flat_map<std::string, std::unique_ptr<Resolved>> resolved_;
  // The statistics by place, of the interfaces that came last: most are alike.
  std::vector<Resolved*> at_place_;
  // Buffers for one statistic; members, so that each keeps its memory.
  std::string key_;
  std::string labels_;
  std::vector<Touched> touched_;
  std::uint64_t interfaces_ = 0;
  std::uint64_t series_ = 0;
  std::size_t bytes_ = 0;
  bool is_full_ = false;
  MetricsOmitted omitted_;
};

}  // namespace tallyfs::statistics
