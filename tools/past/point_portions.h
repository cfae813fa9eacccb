// Points of one statistic of the store as portions of its past, for "what changed most". Which of
// the past's buckets a key belongs to is looked up once. Confined to one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "tools/display/portion.h"
#include "tools/past/point.h"

namespace tallyfs::past {

// The statistic of a shape (point.h), which has counted nothing. precision: of its quantiles, at
// most. kInvalid: it is none.
Result<view::Statistic> statistic_of_shape(const Json& shape, unsigned precision);

class PointPortions {
 public:
  // Of a shape (point.h). kInvalid: it is none.
  static Result<PointPortions> create(std::string_view shape);

  view::Portion portion(const Point& point);
  // view::bucket_octaves_of() what the point counted.
  double bucket_octaves(const Point& point);
  const view::Statistic& statistic() const { return like_; }

 private:
  explicit PointPortions(view::Statistic like);
  std::optional<std::int16_t> bucket_of(std::int64_t key);

  view::Statistic like_;  // its values are those of a point
  bool is_view_;
  std::vector<std::pair<std::int64_t, std::optional<std::int16_t>>> buckets_;  // by key
};

}  // namespace tallyfs::past
