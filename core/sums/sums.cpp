#include "core/sums/sums.h"

#include <algorithm>
#include <string_view>

#include "core/base/decimal.h"
#include "core/base/saturating.h"
#include "core/base/text.h"

namespace tallyfs {
namespace {

// The number of samples whose sums certainly fit into 64 bits if X and Y are small.
constexpr std::size_t kFew = 256;

// Sums of a few samples in 64 bits, which a processor adds up at a third of the cost of exact ones.
// They may be wrong unless are_small().
struct SmallSums {
  std::int64_t min;
  std::int64_t max;
  std::uint64_t number = 0;
  std::uint64_t sum = 0;  // of X * Y, which may be negative
  std::uint64_t bits_of_y = 0;

  explicit SmallSums(std::span<const Sample> samples) : min(samples[0].x), max(samples[0].x) {
    for (const Sample& sample : samples) {
      min = std::min(min, sample.x);
      max = std::max(max, sample.x);
      bits_of_y |= sample.y;
      number += sample.y;
      sum += static_cast<std::uint64_t>(sample.x) * sample.y;
    }
  }
  bool are_small() const {
    using Small = std::numeric_limits<std::int32_t>;
    return min >= Small::min() && max <= Small::max() && bits_of_y < kSmallY;
  }
};

Summary summary_of(const SmallSums& sums) {
  return {.number = sums.number,
          .min = sums.min,
          .max = sums.max,
          .sum = static_cast<std::int64_t>(sums.sum)};
}

UInt128 magnitude(Int128 number) {
  const auto bits = static_cast<UInt128>(number);
  return number < 0 ? 0 - bits : bits;
}

}  // namespace

std::optional<RunSums> RunSums::of(std::span<const Sample> samples) {
  if (samples.empty()) return std::nullopt;
  RunSums all{.summary = {}, .oldest = samples[0].time};
  for (const Sample& sample : samples) all.oldest = std::min(all.oldest, sample.time);
  while (!samples.empty()) {
    const auto few = samples.first(std::min(samples.size(), kFew));
    const SmallSums sums(few);
    if (!sums.are_small()) return std::nullopt;
    all.summary.merge(summary_of(sums));
    samples = samples.subspan(few.size());
  }
  return all;
}

bool Increments::add(const RunSums& sums) { return add_saturating(total, sums.summary.number); }

bool Products::add(const RunSums& sums) { return add_saturating(total, sums.summary.sum); }

bool SignedSum::add(const RunSums& sums) {
  has_negative |= sums.summary.min < 0;
  return Products::add(sums);
}

bool Summary::add(const RunSums& sums) { return merge(sums.summary); }

// The loops below sum in locals: `this` might alias the samples as far as the compiler knows.

bool Increments::add(std::span<const Sample> samples) {
  std::uint64_t few = 0, bits_of_y = 0;
  for (const Sample& sample : samples) {
    few += sample.y;
    bits_of_y |= sample.y;
  }
  // Then no sum of samples that memory can hold has more than 64 bits.
  if (bits_of_y < kSmallY) [[likely]]
    return add_saturating(total, few);
  std::uint64_t sum = total;
  bool saturated = false;
  for (const Sample& sample : samples) saturated |= add_saturating(sum, sample.y);
  total = sum;
  return saturated;
}

void Increments::append_to(std::string& out, unsigned) const {
  out.push_back(' ');
  append_number(out, total);
}

bool Products::add(std::span<const Sample> samples) {
  Int128 sum = total;
  bool saturated = false;
  for (const Sample& sample : samples)
    saturated |= add_saturating(sum, product(sample.x, sample.y));
  total = sum;
  return saturated;
}

void Products::append_to(std::string& out, unsigned decimals) const {
  out.push_back(' ');
  append_fixed(out, total, decimals);
}

bool Summary::add(std::span<const Sample> samples) {
  bool saturated = false;
  while (!samples.empty()) {
    const auto few = samples.first(std::min(samples.size(), kFew));
    const SmallSums sums(few);
    if (sums.are_small()) [[likely]] {
      saturated |= merge(summary_of(sums));
    } else {
      saturated |= add_exactly(few);
    }
    samples = samples.subspan(few.size());
  }
  return saturated;
}

bool Summary::add_exactly(std::span<const Sample> samples) {
  Summary all = *this;
  bool saturated = false;
  for (const Sample& sample : samples) {
    all.min = std::min(all.min, sample.x);
    all.max = std::max(all.max, sample.x);
    saturated |= add_saturating(all.number, sample.y);
    saturated |= add_saturating(all.sum, product(sample.x, sample.y));
  }
  *this = all;
  return saturated;
}

bool Summary::merge(const Summary& other) {
  min = std::min(min, other.min);
  max = std::max(max, other.max);
  bool saturated = add_saturating(number, other.number);
  saturated |= add_saturating(sum, other.sum);
  return saturated;
}

// Without a sample: zeros.
void Summary::append_to(std::string& out, unsigned decimals) const {
  const bool is_empty = min > max;
  out.push_back(' ');
  append_number(out, is_empty ? 0 : number);
  out.push_back(' ');
  append_fixed(out, is_empty ? 0 : min, decimals);
  out.push_back(' ');
  append_average(out, sum, is_empty ? 0 : number, decimals);
  out.push_back(' ');
  append_fixed(out, is_empty ? 0 : max, decimals);
}

void Summary::write_avg(JsonWriter& json, unsigned decimals) const {
  if (min > max) {
    json.null();
    return;
  }
  std::string digits;
  append_average(digits, sum, number, decimals);
  json.number_text(digits);
}

void Summary::write_members(JsonWriter& json, std::string_view number_key,
                            unsigned decimals) const {
  json.key(number_key).number(number);
  write_min(json.key("min"), decimals);
  write_avg(json.key("avg"), decimals);
  write_max(json.key("max"), decimals);
  json.key("sum").fixed(sum, decimals);
}

void Summary::save(ByteWriter& out) const {
  out.put(number);
  out.put(min);
  out.put(max);
  out.put(sum);
}

void Summary::load(ByteReader& in) {
  number = in.get<std::uint64_t>();
  min = in.get<std::int64_t>();
  max = in.get<std::int64_t>();
  sum = in.get<Int128>();
  // An average of X that no X can be. (It holds for saturated counters too: 2^127 / (2^64 - 1).)
  constexpr UInt128 kAverageMax = UInt128{1} << 63;
  const bool possible = number == 0 ? sum == 0 : magnitude(sum) / number <= kAverageMax;
  if (!possible || (min > max && number != 0)) in.fail();
}

bool SignedSum::add(std::span<const Sample> samples) {
  Pass pass;
  for (const Sample& sample : samples) pass.note(sample.x, sample.y);
  return add(pass, samples);
}

void SignedSum::save(ByteWriter& out) const {
  Products::save(out);
  out.put(std::uint8_t{has_negative});
}

void SignedSum::load(ByteReader& in) {
  Products::load(in);
  has_negative = in.get_flag();
  if (total < 0 && !has_negative) in.fail();
}

// sum * 1000 may not fit into 128 bits; the remainder, being below 2^64, has room to spare. An
// average is no larger than an X can be.
Int128 average_thousandths(Int128 sum, std::uint64_t number) {
  if (number == 0) return 0;
  const UInt128 whole = magnitude(sum) / number;
  const UInt128 rest = magnitude(sum) % number;
  const UInt128 thousandths = whole * 1000 + (rest * 2000 + number) / (UInt128{number} * 2);
  return sum < 0 ? -static_cast<Int128>(thousandths) : static_cast<Int128>(thousandths);
}

void append_average(std::string& out, Int128 sum, std::uint64_t number, unsigned decimals) {
  append_fixed(out, average_thousandths(sum, number), decimals + 3);
}

}  // namespace tallyfs
