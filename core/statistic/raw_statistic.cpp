#include "core/statistic/raw_statistic.h"

#include <algorithm>
#include <chrono>

#include "core/base/text.h"
#include "core/statistic/saved.h"

namespace tallyfs {
namespace {

constexpr std::uint8_t kRawVersion = 1;
constexpr std::size_t kSavedSampleBytes = 24;
// More samples than a daemon can count, so that counting on from a saved number cannot wrap.
constexpr std::uint64_t kAddedBound = std::uint64_t{1} << 63;

}  // namespace

bool RawStatistic::add(std::span<const Sample> samples) {
  samples_.push(samples);
  added_ += samples.size();
  return false;
}

void RawStatistic::render(std::string_view name, std::size_t bytes_max, std::string& out) const {
  const std::uint64_t first = added_ - samples_.size();
  // Each line begins with the name, which is written once.
  std::string line(name);
  line.resize(name.size() + kTimestampBytesMax + 3 * kNumberBytesMax + 5);
  char* const behind_name = line.data() + name.size();
  for (std::size_t i = 0; i < samples_.size() && out.size() <= bytes_max; ++i) {
    const Sample& sample = samples_[i];
    char* at = behind_name;
    *at++ = ' ';
    at = write_timestamp(at, sample.time);
    *at++ = ' ';
    at = write_number(at, first + i);
    *at++ = ' ';
    at = write_number(at, sample.x);
    *at++ = ' ';
    at = write_number(at, sample.y);
    *at++ = '\n';
    const auto bytes = static_cast<std::size_t>(at - line.data());
    // Lines are about as long as each other: room for all, instead of doubling and copying.
    if (out.capacity() - out.size() < bytes) {
      out.reserve(std::min(bytes_max, out.size() + (samples_.size() - i) * (bytes + 2)) + bytes);
    }
    out.append(line.data(), bytes);
  }
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
  const bool possible = size <= entries_max_ && size <= added_ && added_ < kAddedBound;
  if (!possible || size > in.left() / kSavedSampleBytes) return in.fail();
  for (std::uint32_t i = 0; i < size; ++i) {
    Sample sample;
    sample.x = in.get<std::int64_t>();
    sample.y = in.get<std::uint64_t>();
    sample.time = std::chrono::nanoseconds(in.get<std::int64_t>());
    samples_.push(sample);
  }
}

}  // namespace tallyfs
