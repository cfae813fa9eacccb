// Reads the mount once for all clients: the tree, the interfaces that clients look at, and their
// last minutes.
//
// While there are requests, the mount is read each second; after kAttention without one it is not
// read. The rates of all interfaces are kept for a minute. The kMovingMax interfaces that have
// counted most in it are followed, and also those that were looked at last, kFollowedMax together:
// kPastsMax statistics with bins and as many others are kept for `keep`, in kPastBytesMax.
// Interfaces with more statistics are followed while a client looks at them. Those looked at
// longest ago are dropped first.
//
// A reading that comes less than kRated after the last one, for example after a change, is shown,
// but ends no interval: rates of so short a time mislead. Confined to one thread at a time: the
// site locks it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "exporters/web/filter.h"
#include "exporters/web/past.h"
#include "exporters/web/slowest.h"
#include "tools/display/recent_rate.h"
#include "tools/display/statistic.h"
#include "tools/tree/source.h"

namespace tallyfs::web {

struct InterfaceRate {
  view::RecentRate recent{};
  std::uint64_t seen = 0;  // the reading it was seen at last
  // In the tree of that reading.
  const view::InterfaceSummary* summary = nullptr;
};

struct Followed {
  Json json{};
  // The interval that is shown is from `before` to `now`.
  std::optional<view::Interface> before{};
  view::Interface now{};
  // Where the next interval begins, if `now` was read too soon after it.
  std::optional<view::Interface> begin{};
  std::map<std::string, Past> pasts{};
  std::string statistic{};      // the one that was looked at last
  std::uint64_t looked_at = 0;  // the reading; 0: by none yet
  std::uint64_t read_at = 0;
  bool moves_most = false;  // one of the kMovingMax, or the daemon's own
  // The result of Watch::slowest() for the reading `slowest_at`.
  std::optional<Slowest> slowest{};
  std::uint64_t slowest_at = 0;
};

class Watch {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kFresh{1500};  // for answers between two ticks
  static constexpr std::chrono::minutes kAttention{10};
  static constexpr std::chrono::microseconds kRated{500'000};
  static constexpr std::uint64_t kLargeReadings = 60;  // that a large one is followed unseen
  static constexpr std::chrono::milliseconds kSearchTime{100};
  static constexpr std::uint64_t kNamesReadings = 60;
  static constexpr std::size_t kFoundMax = 30;
  static constexpr std::size_t kMovingMax = 32;
  static constexpr std::size_t kFollowedMax = 40;
  static constexpr std::size_t kPastsMax = 64;
  static constexpr std::size_t kPastBytesMax = 64 * 1024 * 1024;

  Watch(std::unique_ptr<Source> source, std::chrono::seconds keep)
      : source_(std::move(source)), columns_max_(static_cast<std::size_t>(keep.count())) {}

  // Each second: reads, if it was asked for not too long ago.
  void tick();
  // Whether there was a question within kAttention.
  bool has_attention() const;
  // For an answer: reads if the last reading is not fresh. A failure is as fresh as a success.
  Result<void> refresh();
  // refresh() for a health check, which does not prolong the time in which the mount is read.
  Result<void> check();
  // Call after a change: the next response reads the mount again.
  void forget_reading() { read_time_.reset(); }

  const Json& tree_json() const { return tree_json_; }
  const view::Tree& tree() const { return tree_; }
  using Rates = std::map<std::string, InterfaceRate>;
  // Of each interface of the tree, which its summary is in.
  const Rates& rates() const { return rates_; }
  // The slowest statistic of a followed interface; computed once for each reading.
  const std::optional<Slowest>& slowest(const std::string& name);
  // True if slowest() is certain: the interface is followed, or has not counted for a minute.
  bool knows_slowest(const std::string& name) const;
  // The rate of all interfaces but the daemon's own.
  std::optional<double> rate() const { return rate_; }
  std::optional<std::uint64_t> dropped() const;
  // When the daemon began to count, by the wall clock; 0 where its own numbers are not known.
  std::uint64_t counts_since_us() const;
  // The latency histograms that there are: names below kLatencies, looked for each 10 readings.
  const std::vector<std::string>& latencies() const { return latencies_; }
  // Statistics whose interface and name have all of the words, where the interface alone has not.
  // Names of interfaces that are not followed are read for that, in kSearchTime of each call, and
  // kept for kNamesReadings: `searched` interfaces are known.
  struct Search {
    std::vector<std::pair<std::string, std::string>> found;  // interface, statistic: kFoundMax
    std::size_t count = 0;
    std::size_t searched = 0;
  };
  Search search(const Filter& filter);
  const std::string& mount() const { return source_->mount(); }
  std::size_t columns_max() const { return columns_max_; }

  // After refresh(): the interface, from now on looked at. Also a path below the mount, as
  // `tracing/latency_hist/wakeup`. `statistic` is the one that matters, or empty. Failures are
  // those of the source: kNotFound, kNoAccess, kTimedOut and others.
  Result<const Followed*> look_at(const std::string& name, const std::string& statistic);

 private:
  Result<void> read();
  void take_rates();
  void find_rates();
  void choose_followed();
  void choose_moving();
  double moved(const std::string& name) const;
  void follow();
  void follow(const std::string& name, Followed& followed, const std::uint64_t* serial);
  Result<void> read_followed(const std::string& name, Followed& followed);
  static void fit_pasts(Followed& followed);
  void add_columns(Followed& followed);
  void bound_bytes();
  void drop_oldest();
  void drop_for_another();
  void find_latencies();
  struct Names {
    std::vector<std::string> names;
    std::uint64_t read_at = 0;
  };
  const Names* names_of(const view::InterfaceSummary& interface, Clock::time_point until);

  const std::unique_ptr<Source> source_;
  const std::size_t columns_max_;
  std::optional<Clock::time_point> asked_;
  std::optional<Clock::time_point> read_time_;
  std::optional<Error> fault_;  // of the last reading
  std::uint64_t readings_ = 0;
  Json tree_json_;
  view::Tree tree_;
  std::uint64_t rated_us_ = 0;  // the time of the tree that ended an interval last
  std::optional<double> rate_;
  Rates rates_;
  std::vector<Rates::value_type*> rated_;  // those of the tree, in its order
  std::map<std::string, Followed> followed_;
  std::vector<std::string> latencies_;
  std::map<std::string, Names> names_;  // for search()
};

// Their folder in the mount.
inline constexpr std::string_view kLatencies = "tracing/latency_hist/";

}  // namespace tallyfs::web
