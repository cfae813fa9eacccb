#include "core/statistics/types/range_statistic.h"

#include "core/sums/saved.h"

namespace tallyfs::statistics {
namespace {

constexpr std::uint8_t kRangeVersion = 1;

}  // namespace

std::uint64_t RangeStatistic::text_length(std::string_view name, unsigned decimals) const {
  std::string columns;
  summary_.append_to(columns, decimals);
  return name.size() + columns.size() + 1;
}

void RangeStatistic::render(std::string_view name, std::string& out, unsigned decimals) const {
  out.append(name);
  summary_.append_to(out, decimals);
  out.push_back('\n');
}

void RangeStatistic::write_values(JsonWriter& json, unsigned decimals) const {
  json.begin_object();
  summary_.write_members(json, "number", decimals);
  json.end_object();
}

void RangeStatistic::save(ByteWriter& out) const {
  out.put(kRangeVersion);
  summary_.save(out);
}

void RangeStatistic::load(ByteReader& in) {
  expect_version(in, kRangeVersion);
  summary_.load(in);
}

}  // namespace tallyfs::statistics
