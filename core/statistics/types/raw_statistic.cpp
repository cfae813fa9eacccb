#include "core/statistics/types/raw_statistic.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "core/base/decimal.h"
#include "core/base/json_column.h"
#include "core/base/text.h"
#include "core/sums/saved.h"
#include "core/sums/text_length.h"

namespace tallyfs::statistics {
namespace {

constexpr std::uint8_t kRawVersion = 1;
constexpr std::size_t kSavedSampleBytes = 24;
// More samples than a daemon can count, so that counting on from a saved number cannot wrap.
constexpr std::uint64_t kAddedBound = std::uint64_t{1} << 63;

char* write_x(char* at, std::int64_t x, unsigned decimals) {
  if (decimals == 0) return write_number(at, x);
  std::string text;
  append_fixed(text, x, decimals);
  return std::ranges::copy(text, at).out;
}

}  // namespace

bool RawStatistic::add(std::span<const Sample> samples) {
  samples_.push(samples);
  added_ += samples.size();
  return false;
}

std::uint64_t RawStatistic::text_length(std::string_view name, unsigned decimals) const {
  const std::uint64_t first = added_ - samples_.size();
  std::uint64_t length = samples_.size() * (name.size() + 5);  // four blanks and the newline
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    const Sample& sample = samples_[i];
    length += timestamp_length(sample.time) + number_length(first + i) +
              fixed_length(sample.x, decimals) + number_length(sample.y);
  }
  return length;
}

void RawStatistic::render(std::string_view name, std::string& out, unsigned decimals) const {
  const std::uint64_t first = added_ - samples_.size();
  // Each line begins with the name, which is written once.
  std::string line(name);
  line.resize(name.size() + kTimestampBytesMax + 3 * kNumberBytesMax + 6);
  char* const behind_name = line.data() + name.size();
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    const Sample& sample = samples_[i];
    char* at = behind_name;
    *at++ = ' ';
    at = write_timestamp(at, sample.time);
    *at++ = ' ';
    at = write_number(at, first + i);
    *at++ = ' ';
    at = write_x(at, sample.x, decimals);
    *at++ = ' ';
    at = write_number(at, sample.y);
    *at++ = '\n';
    out.append(line.data(), static_cast<std::size_t>(at - line.data()));
  }
}

void RawStatistic::write_values(JsonWriter& json, unsigned decimals) const {
  const std::uint64_t first = added_ - samples_.size();
  const std::size_t size = samples_.size();
  json.begin_object();
  write_column(json, "time_us", size, [&](std::size_t i) { json.microseconds(samples_[i].time); });
  write_column(json, "serial", size, [&](std::size_t i) { json.number(first + i); });
  write_column(json, "x", size, [&](std::size_t i) { json.fixed(samples_[i].x, decimals); });
  write_column(json, "y", size, [&](std::size_t i) { json.number(samples_[i].y); });
  json.end_object();
}

void RawStatistic::save(ByteWriter& out) const {
  out.put(kRawVersion);
  out.put(added_);
  out.put(static_cast<std::uint32_t>(samples_.size()));
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    out.put(samples_[i].x);
    out.put(samples_[i].y);
    out.put(std::int64_t{samples_[i].time.count()});
  }
}

void RawStatistic::load(ByteReader& in) {
  expect_version(in, kRawVersion);
  added_ = in.get<std::uint64_t>();
  const auto size = in.get<std::uint32_t>();
  const bool possible = size <= samples_.bound() && size <= added_ && added_ < kAddedBound;
  if (!possible || size > in.left() / kSavedSampleBytes) return in.fail();
  for (std::uint32_t i = 0; i < size; ++i) {
    Sample sample;
    sample.x = in.get<std::int64_t>();
    sample.y = in.get<std::uint64_t>();
    sample.time = std::chrono::nanoseconds(in.get<std::int64_t>());
    samples_.push(sample);
  }
}

}  // namespace tallyfs::statistics
