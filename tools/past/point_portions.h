// Converts points of one statistic of the store to portions of its past (tools/display/past.h),
// with which "what changed most" computes. The bucket of each key is looked up once. Confined to
// one thread.
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

// A statistic without samples that has this shape: its definition, as JSON (point.h). precision: of
// its quantiles, at most. kInvalid: the JSON is no shape.
Result<view::Statistic> statistic_of_shape(const Json& shape, unsigned precision);

class PointPortions {
 public:
  // For the statistic of a shape (point.h). precision: of the points' quantiles, at most. kInvalid:
  // the text is no shape.
  static Result<PointPortions> create(std::string_view shape, unsigned precision);

  view::Portion portion(const Point& point);
  // view::bucket_octaves_of() the samples of the point.
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
