#include "core/statistic/range_statistic.h"

#include "core/statistic/saved.h"

namespace tallyfs {
namespace {

constexpr std::uint8_t kRangeVersion = 1;

}  // namespace

void RangeStatistic::render(std::string_view name, std::size_t, std::string& out) const {
  out.append(name);
  summary_.append_to(out);
  out.push_back('\n');
}

void RangeStatistic::save(ByteWriter& out) const {
  out.put(kRangeVersion);
  summary_.save(out);
}

void RangeStatistic::load(ByteReader& in) {
  expect_version(in, kRangeVersion);
  summary_.load(in);
}

}  // namespace tallyfs
