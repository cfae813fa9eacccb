// A span of the store as a source of moments, one after each point, as a recording has them: totals
// since the begin of the span, or since the first point in it. Points are of the finest tier that
// reaches back to its begin, or of a coarser one that has as many points as are wanted.
//
// What was not observed is not there, and a total begins again after it: nothing is known of the
// interval that ends where `data_us` is. A point of which less than nine tenths were observed
// counts as not observed, and so does what a damaged block lacks. Reads the store in parts of 60
// points. Confined to one thread.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/past/store_reader.h"
#include "tools/tree/source.h"

namespace tallyfs::past {

class MomentSource : public Source {
 public:
  struct Wanted {
    std::string interface {};               // the only one that is read; empty: all
    std::vector<std::string> statistics{};  // its only ones that are read; empty: all
    std::size_t statistics_max = SIZE_MAX;  // of them, those that the store has
    // So many points are enough, but for percentiles that a coarser tier has less exactly. 0: the
    // finest points are wanted.
    std::uint64_t points = 0;
    // Of quantiles, a higher one is not needed: 0 for whole octaves.
    unsigned precision = UINT_MAX;
  };
  // Reads the part of the span that the store has. Errors are the store's.
  static Result<std::unique_ptr<MomentSource>> open(StoreReader store, const Span& span,
                                                    const Wanted& wanted);

  // One of the wanted statistics at the present step, with its counts since the last step if they
  // are known. This is cheaper than its JSON, which has all counts since the begin.
  struct Newest {
    const view::Statistic* definition;  // it has counted nothing; good as long as this
    std::optional<view::Statistic> counted;
  };
  // nullopt: the statistic was not observed at this step. kInvalid: its definition is damaged.
  Result<std::optional<Newest>> newest(const std::string& statistic);
  std::uint64_t now_us() const { return now_us_; }
  // How many statistics the store has beyond statistics_max.
  std::size_t left_out() const { return left_out_; }
  // StoreReader::damaged() for the blocks that were read so far.
  const std::vector<Fact>& damaged() const { return store_.damaged(); }

  Result<Json> tree() override;
  Result<Json> interface(const std::string& name) override;
  Result<Next> next(std::chrono::microseconds every) override;
  std::chrono::microseconds period() const override {
    return std::chrono::microseconds(static_cast<std::int64_t>(step_us_));
  }
  const std::string& mount() const override { return no_mount_; }

 private:
  struct Series {
    StoredSeries stored;
    Json shape;
    std::uint64_t& serial;  // of its interface
    Point sum{};
    Point newest{};                        // if statistics are named
    std::optional<view::Statistic> like{};  // the same
    std::uint64_t data_us = 0;
    bool is_there = false;
    bool has_gap = false;  // since the moment before
  };
  using Points = std::map<std::uint64_t, Point>;  // by number of the series

  explicit MomentSource(StoreReader store) : store_(std::move(store)) {}
  Result<void> find_series(const Wanted& wanted);
  Result<void> choose_tier(const Span& span, const Wanted& wanted);
  Result<void> begin(const Span& span);
  Result<void> load(std::uint64_t until_us);
  Result<void> pass_over();
  Result<void> read_next();
  void book_counts(Series& series, const Points& points);
  void begin_again(Series& series) const;
  bool is_observed(const Points& points, std::uint64_t series) const;
  bool is_empty() const;

  StoreReader store_;
  bool are_named_ = false;  // the statistics that are wanted
  std::size_t left_out_ = 0;
  std::size_t tier_ = 0;
  std::uint64_t step_us_ = 0;
  Span span_{};
  std::vector<Series> series_;
  StoreReader::Wanted wanted_;
  std::uint64_t now_us_ = 0;
  std::uint64_t loaded_us_ = 0;              // points that begin before it are read
  std::map<std::uint64_t, Points> points_;   // by the moment at which they begin
  std::map<std::string, std::uint64_t> serials_;  // of interfaces
  const std::string no_mount_;
};

}  // namespace tallyfs::past
