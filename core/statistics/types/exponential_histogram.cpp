#include "core/statistics/types/exponential_histogram.h"

#include <algorithm>
#include <utility>

#include "core/base/saturating.h"
#include "core/statistics/definition/definition.h"

namespace tallyfs::statistics {
namespace {

static_assert(kPrecisionMax == ExponentialBuckets::kPrecisionMax);
constexpr std::size_t kSavedBucketBytes = 12;
// Counters by which a window grows at least.
constexpr std::uint32_t kGrowth = 16;

std::uint64_t magnitude(std::int64_t x) {
  const auto bits = static_cast<std::uint64_t>(x);
  return x < 0 ? 0 - bits : bits;
}

}  // namespace

Span Span::joined(const Span& other) const {
  return {std::min(min, other.min), std::max(max, other.max)};
}

ExponentialHistogram::Limits ExponentialHistogram::positive_limits(
    const ExponentialBuckets& buckets, const Span& span) {
  if (span.max < 1) return {};
  return {.least = buckets.place(magnitude(std::max<std::int64_t>(span.min, 1))),
          .most = buckets.place(magnitude(span.max))};
}

ExponentialHistogram::Limits ExponentialHistogram::negative_limits(
    const ExponentialBuckets& buckets, const Span& span) {
  if (span.min > -1) return {};
  return {.least = buckets.place(magnitude(std::min<std::int64_t>(span.max, -1))),
          .most = buckets.place(magnitude(span.min))};
}

std::uint64_t ExponentialHistogram::worst_case_bytes(const ExponentialBuckets& buckets,
                                                     const Span& span) {
  return (positive_limits(buckets, span).size() + negative_limits(buckets, span).size()) *
         sizeof(std::uint64_t);
}

std::uint64_t& ExponentialHistogram::Window::grown(std::uint32_t place, std::uint32_t least,
                                                   std::uint32_t most) {
  const auto size = static_cast<std::uint32_t>(counts.size());
  const std::uint32_t more = std::max(kGrowth, size / 2);
  const std::uint32_t end = first + size;
  std::uint32_t new_first = size == 0 ? place : std::min(first, place);
  std::uint32_t new_last = size == 0 ? place : std::max(end - 1, place);
  if (size == 0 || place < first) new_first -= std::min(new_first - least, more);
  if (size == 0 || place >= end) new_last += std::min(most - new_last, more);
  std::vector<std::uint64_t> larger(new_last - new_first + 1);
  std::copy(counts.begin(), counts.end(), larger.begin() + (size == 0 ? 0 : first - new_first));
  counts = std::move(larger);
  first = new_first;
  return counts[place - first];
}

bool ExponentialHistogram::add(std::span<const Sample> samples, const Span& span) {
  const bool saturated = summary_.add(samples);
  return count(samples, span) || saturated;
}

bool ExponentialHistogram::add(std::span<const Sample> samples, const Span& span,
                               const RunSums& sums) {
  const bool saturated = summary_.add(sums);
  return count(samples, span) || saturated;
}

// The summary has them already.
bool ExponentialHistogram::count(std::span<const Sample> samples, const Span& span) {
  bool saturated = false;
  // No counter is above the number, so that while this fits all do.
  const bool all_fit = summary_.number != std::numeric_limits<std::uint64_t>::max();
  while (true) {
    if (all_fit) samples = samples.subspan(add_common(samples));
    if (samples.empty()) return saturated;
    saturated |= add_rest(samples[0].x, samples[0].y, span);
    samples = samples.subspan(1);
  }
}

// Adds samples up to the first one whose X is not positive, very large, or outside of the window as
// it is, and returns how many.
std::size_t ExponentialHistogram::add_common(std::span<const Sample> samples) {
  const PlaceFinder finder = buckets_->finder();
  std::uint64_t* const counts = positive_.counts.data();
  const std::size_t size = positive_.counts.size();
  const std::uint32_t first = positive_.first;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto x = static_cast<std::uint64_t>(samples[i].x);
    // One comparison: 0 and negative ones become very large.
    if (x - 1 >= PlaceFinder::kExactEnd - 1) [[unlikely]]
      return i;
    const std::uint32_t at = finder.place(x) - first;
    if (at >= size) [[unlikely]]
      return i;
    counts[at] += samples[i].y;
  }
  return samples.size();
}

bool ExponentialHistogram::add_rest(std::int64_t x, std::uint64_t y, const Span& span) {
  if (x == 0) return add_saturating(zeros_, y);
  const Limits limits = x > 0 ? positive_limits(*buckets_, span) : negative_limits(*buckets_, span);
  Window& window = x > 0 ? positive_ : negative_;
  return add_saturating(window.at(buckets_->place(magnitude(x)), limits.least, limits.most), y);
}

bool ExponentialHistogram::merge(const ExponentialHistogram& other, const Span& span) {
  bool saturated = summary_.merge(other.summary_);
  saturated |= add_saturating(zeros_, other.zeros_);
  const auto add_window = [&](Window& window, const Window& more, const Limits& limits) {
    for (std::size_t i = 0; i < more.counts.size(); ++i) {
      if (more.counts[i] == 0) continue;
      const std::uint32_t place = more.first + static_cast<std::uint32_t>(i);
      saturated |= add_saturating(window.at(place, limits.least, limits.most), more.counts[i]);
    }
  };
  add_window(positive_, other.positive_, positive_limits(*buckets_, span));
  add_window(negative_, other.negative_, negative_limits(*buckets_, span));
  return saturated;
}

void ExponentialHistogram::clear() { *this = ExponentialHistogram(*buckets_); }

// Not the number of the summary, which may stand at its end.
UInt128 ExponentialHistogram::weight() const {
  UInt128 all = zeros_;
  for (const std::uint64_t count : positive_.counts) all += count;
  for (const std::uint64_t count : negative_.counts) all += count;
  return all;
}

std::int64_t ExponentialHistogram::bounded(std::int64_t x) const {
  return std::min(x, summary_.max);
}

void ExponentialHistogram::write_buckets(JsonWriter& json) const {
  json.begin_object().key("zero").number(zeros_);
  write_window(json.key("positive"), positive_);
  write_window(json.key("negative"), negative_);
  json.end_object();
}

void ExponentialHistogram::write_window(JsonWriter& json, const Window& window) const {
  json.begin_object().key("indexes").begin_array();
  each_index(window, [&](std::int32_t index, std::uint64_t) { json.number(index); });
  json.end_array().key("counts").begin_array();
  each_index(window, [&](std::int32_t, std::uint64_t count) { json.number(count); });
  json.end_array().end_object();
}

void ExponentialHistogram::save(ByteWriter& out) const {
  summary_.save(out);
  out.put(zeros_);
  save(out, positive_);
  save(out, negative_);
}

void ExponentialHistogram::load(ByteReader& in, const Span& span) {
  summary_.load(in);
  zeros_ = in.get<std::uint64_t>();
  load(in, positive_, positive_limits(*buckets_, span));
  load(in, negative_, negative_limits(*buckets_, span));
  if ((weight() == 0) != (summary_.number == 0)) in.fail();
}

// The buckets that counted, by place.
void ExponentialHistogram::save(ByteWriter& out, const Window& window) {
  const auto used =
      window.counts.size() - static_cast<std::size_t>(std::count(
                                 window.counts.begin(), window.counts.end(), std::uint64_t{0}));
  out.put(static_cast<std::uint32_t>(used));
  for (std::size_t i = 0; i < window.counts.size(); ++i) {
    if (window.counts[i] == 0) continue;
    out.put(window.first + static_cast<std::uint32_t>(i));
    out.put(window.counts[i]);
  }
}

void ExponentialHistogram::load(ByteReader& in, Window& window, const Limits& limits) {
  const auto size = in.get<std::uint32_t>();
  if (size > limits.size() || size > in.left() / kSavedBucketBytes) return in.fail();
  std::uint64_t next = limits.least;
  for (std::uint32_t i = 0; i < size; ++i) {
    const auto place = in.get<std::uint32_t>();
    const auto count = in.get<std::uint64_t>();
    if (place < next || place > limits.most || count == 0) return in.fail();
    window.at(place, limits.least, limits.most) = count;
    next = std::uint64_t{place} + 1;
  }
}

}  // namespace tallyfs::statistics
