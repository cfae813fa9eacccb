#include "core/statistics/types/last_statistic.h"

#include "core/base/decimal.h"
#include "core/base/text.h"
#include "core/sums/saved.h"
#include "core/sums/text_length.h"

namespace tallyfs::statistics {
namespace {

constexpr std::uint8_t kLastVersion = 1;

}  // namespace

bool LastStatistic::add(std::span<const Sample> samples) {
  for (const Sample& sample : samples) {
    if (is_there_ && sample.time < time_) continue;
    is_there_ = true;
    x_ = sample.x;
    time_ = sample.time;
  }
  return false;
}

std::uint64_t LastStatistic::text_length(std::string_view name, unsigned decimals) const {
  if (!is_there_) return 0;
  return name.size() + timestamp_length(time_) + fixed_length(x_, decimals) +
         3;  // two blanks, the newline
}

void LastStatistic::render(std::string_view name, std::string& out, unsigned decimals) const {
  if (!is_there_) return;
  append_timestamp(out.append(name).append(" "), time_);
  out.push_back(' ');
  append_fixed(out, x_, decimals);
  out.push_back('\n');
}

void LastStatistic::write_values(JsonWriter& json, unsigned decimals) const {
  json.begin_object().key("time_us");
  is_there_ ? json.microseconds(time_) : json.null();
  json.key("x");
  is_there_ ? json.fixed(x_, decimals) : json.null();
  json.end_object();
}

void LastStatistic::save(ByteWriter& out) const {
  out.put(kLastVersion);
  out.put(std::uint8_t{is_there_});
  out.put(x_);
  out.put(std::int64_t{time_.count()});
}

void LastStatistic::load(ByteReader& in) {
  expect_version(in, kLastVersion);
  is_there_ = in.get_flag();
  x_ = in.get<std::int64_t>();
  time_ = std::chrono::nanoseconds(in.get<std::int64_t>());
  if (!is_there_ && (x_ != 0 || time_.count() != 0)) in.fail();
}

}  // namespace tallyfs::statistics
