// A span of the store as a source of moments, one after each point, as a recording has them: totals
// since the begin of the span, or since the first point in it. Points are of the finest tier that
// reaches back to its begin, or of a coarser one that has as many points as are wanted.
//
// What was not observed is not there, and a total begins again after it: nothing is known of the
// interval that ends where `data_us` is. A point of which less than nine tenths were observed
// counts as not observed, and so does what a damaged block lacks. Reads the store in parts of 60
// points. Confined to one thread.
#pragma once

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
    std::string interface {};  // the only one that is read; empty: all
    std::string statistic{};   // the same of its statistics
    // So many points are enough, but for percentiles that a coarser tier has less exactly. 0: the
    // finest points are wanted.
    std::uint64_t points = 0;
  };
  // Of the span the part that the store has is read. Errors of the store.
  static Result<std::unique_ptr<MomentSource>> open(StoreReader store, const Span& span,
                                                    const Wanted& wanted);

  // Of the only statistic that is wanted, at this moment: what it counted since the moment before,
  // where that is known. Cheaper than its JSON, which has all since the begin.
  struct Newest {
    const view::Statistic* definition;  // it has counted nothing; good as long as this
    std::optional<view::Statistic> counted;
  };
  // Nothing: it is not there. kInvalid: its definition is damaged.
  Result<std::optional<Newest>> newest();
  std::uint64_t now_us() const { return now_us_; }

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
    Point newest{};                        // if one statistic alone is wanted
    std::optional<view::Statistic> like{};  // the same
    std::uint64_t data_us = 0;
    bool is_there = false;
    bool has_gap = false;  // since the moment before
  };
  using Points = std::map<std::uint64_t, Point>;  // by number of the series

  explicit MomentSource(StoreReader store) : store_(std::move(store)) {}
  Result<void> find_series(const Wanted& wanted);
  Result<void> choose_tier(const Span& span, std::uint64_t points);
  Result<void> begin(const Span& span);
  Result<void> load(std::uint64_t until_us);
  Result<void> pass_over();
  Result<void> go_on();
  void settle(Series& series, const Points& points);
  void begin_again(Series& series) const;
  bool is_observed(const Points& points, std::uint64_t series) const;
  bool is_empty() const;

  StoreReader store_;
  bool is_of_one_ = false;
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
