#include "core/statistics/types/array_statistic.h"

#include <algorithm>
#include <bit>

#include "core/base/decimal.h"
#include "core/base/doublings.h"
#include "core/base/json_column.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/sums/saved.h"
#include "core/sums/text_length.h"

namespace tallyfs::statistics {
namespace {

// Version 1 had no sum.
constexpr std::uint8_t kArrayVersion = 2;

std::uint64_t count_intervals(const ArraySettings& settings, const Definition& definition) {
  const ArrayBounds bounds(settings, definition.range_min, definition.range_max);
  return static_cast<std::uint64_t>(bounds.intervals());
}

}  // namespace

ArrayStatistic::ArrayStatistic(const ArraySettings& settings, const Definition& definition)
    : scale_(settings.scale), words_(kFirst + count_intervals(settings, definition)) {
  words_[0] = static_cast<std::uint64_t>(definition.range_min);
  words_[1] = static_cast<std::uint64_t>(definition.range_max);
  words_[2] = settings.base_interval;
}

std::uint64_t ArrayStatistic::worst_case_bytes(const ArraySettings& settings,
                                               const Definition& definition) {
  // The words before them count with the statistic itself.
  return count_intervals(settings, definition) * sizeof(std::uint64_t);
}

// Which interval is computed, not searched. steps() gives the place of the first bound at or above
// range_min + distance, counted from range_min + base_interval, for distance >= 1; places past the
// last bound are all `>`.
//
// The loop ends at the first counter that would wrap: a check without a branch would lengthen the
// way from one addition to the next to the same counter.
template <typename Steps>
bool ArrayStatistic::add_by(std::span<const Sample> samples, std::uint64_t& outside, Steps steps) {
  std::uint64_t* const totals = words_.data() + kFirst;
  const std::uint64_t above = lines() - 1;
  const std::int64_t range_min = this->range_min();
  // Unsigned: the difference may need all of 64 bits. From what lies below it is beyond the span.
  const auto distance_of = [=](std::int64_t x) {
    return static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(range_min);
  };
  const std::uint64_t span = distance_of(range_max());
  std::uint64_t hits = 0;
  const auto place_of = [=, &hits](std::int64_t x) -> std::uint64_t {
    const std::uint64_t distance = distance_of(x);
    hits += distance > span ? 1 : 0;
    if (x <= range_min) return 0;
    // min before the addition, which could not hold 2^64 steps.
    return std::min(steps(distance), above - 1) + 1;
  };
  SignedSum::Pass pass;
  auto rest = samples.begin();
  for (; rest != samples.end(); ++rest) {
    // Before the counter is written, which might alias them as far as the compiler knows.
    const std::int64_t x = rest->x;
    const std::uint64_t y = rest->y;
    std::uint64_t& total = totals[place_of(x)];
    std::uint64_t sum = 0;
    if (__builtin_add_overflow(total, y, &sum)) [[unlikely]] {
      hits -= distance_of(x) > span ? 1 : 0;  // it comes once more
      break;
    }
    total = sum;
    pass.note(x, y);
  }
  bool saturated = false;
  for (; rest != samples.end(); ++rest) {
    saturated |= add_saturating(totals[place_of(rest->x)], rest->y);
    pass.note(rest->x, rest->y);
  }
  saturated |= sum_.add(pass, samples);
  saturated |= add_saturating(outside, hits);
  return saturated;
}

bool ArrayStatistic::add(std::span<const Sample> samples, std::uint64_t& outside) {
  const std::uint64_t base = base_interval();
  switch (scale_) {
    case Scale::kLog2:
      return add_by(samples, outside,
                    [base](std::uint64_t d) -> std::uint64_t { return doublings(d, base); });
    case Scale::kLin:
      // A division costs as much as all the rest, and most people choose a power of two.
      if (std::has_single_bit(base)) {
        const int shift = std::countr_zero(base);
        return add_by(samples, outside, [shift](std::uint64_t d) { return (d - 1) >> shift; });
      }
      return add_by(samples, outside, [base](std::uint64_t d) { return (d - 1) / base; });
  }
  return false;
}

bool ArrayStatistic::merge(const CellSums& cells) {
  sum_.has_negative |= cells.has_negative;
  bool saturated = add_saturating(sum_.total, cells.sum);
  const auto all = counters();
  const std::size_t both = std::min(all.size(), cells.counts.size());
  for (std::size_t i = 0; i < both; ++i) saturated |= add_saturating(all[i], cells.counts[i]);
  return saturated;
}

bool ArrayStatistic::merge(const ArrayStatistic& other) {
  sum_.has_negative |= other.sum_.has_negative;
  bool saturated = add_saturating(sum_.total, other.sum_.total);
  const auto all = counters();
  const auto more = other.totals();
  for (std::size_t i = 0; i < all.size(); ++i) saturated |= add_saturating(all[i], more[i]);
  return saturated;
}

std::uint64_t ArrayStatistic::text_length(std::string_view name, unsigned decimals) const {
  const ArrayBounds bounds = this->bounds();
  const auto all = totals();
  const std::size_t last = all.size() - 1;
  std::uint64_t length = all.size() * (name.size() + 5) - 1;  // ` <=`, a blank, the newline
  std::string bound;
  for (std::size_t i = 0; i < all.size(); ++i) {
    bound.clear();
    append_fixed(bound, bounds[std::min(i, last - 1)], decimals);
    length += bound.size() + number_length(all[i]);
  }
  return length;
}

void ArrayStatistic::render(std::string_view name, std::string& out, unsigned decimals) const {
  const ArrayBounds bounds = this->bounds();
  const auto all = totals();
  const std::size_t last = all.size() - 1;
  for (std::size_t i = 0; i < all.size(); ++i) {
    out.append(name).append(i == last ? " >" : " <=");
    append_fixed(out, bounds[std::min(i, last - 1)], decimals);
    out.push_back(' ');
    append_number(out, all[i]);
    out.push_back('\n');
  }
}

void ArrayStatistic::write_values(JsonWriter& json, unsigned decimals) const {
  const ArrayBounds bounds = this->bounds();
  const auto all = totals();
  json.begin_object();
  write_column(json, "bounds", all.size() - 1,
               [&](std::size_t i) { json.fixed(bounds[i], decimals); });
  write_column(json, "counts", all.size(), [&](std::size_t i) { json.number(all[i]); });
  json.end_object();
}

void ArrayStatistic::save(ByteWriter& out) const {
  out.put(kArrayVersion);
  sum_.save(out);
  for (const std::uint64_t total : totals()) out.put(total);
}

void ArrayStatistic::load(ByteReader& in) {
  const auto version = in.get<std::uint8_t>();
  if (version < 1 || version > kArrayVersion) in.fail();
  if (version > 1) sum_.load(in);
  for (std::uint64_t& total : counters()) total = in.get<std::uint64_t>();
}

}  // namespace tallyfs::statistics
