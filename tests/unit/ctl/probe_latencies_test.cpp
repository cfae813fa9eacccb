#include "tools/ctl/probe_latencies.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tallyfs {
namespace {

// Entries are `FUNCTION LATENCY COUNT SUM MAX`.
struct Entry {
  int function, latency, count, sum, max;
};

ProbeLatencies read(const std::vector<Entry>& entries) {
  std::string text = R"({"time_us":7,"dropped":0,"entries":[)";
  for (const Entry& each : entries) {
    if (text.back() == '}') text += ",";
    text += R"({"key":{"f":)" + std::to_string(each.function) + R"(,"lat":)" +
            std::to_string(each.latency) + R"(},"hitcount":)" + std::to_string(each.count) +
            R"(,"lat":)" + std::to_string(each.sum) + R"(,"lat.max":)" + std::to_string(each.max) +
            "}";
  }
  const auto json = parse_json(text + "]}");
  EXPECT_TRUE(json);
  return ProbeLatencies::read(json.value(), "");
}

TEST(ProbeLatenciesTest, APercentileIsTheMiddleOfItsGroupAndNeverBeyondTheMaximum) {
  // From 1024 on a group is 16 wide.
  const auto latencies = read({{0, 1024, 98, 98 * 1030, 1035}, {0, 4096, 2, 8194, 4097}});
  const auto& row = latencies.rows().at({0, ""});
  EXPECT_EQ(row.percentile(0.5), 1032U);
  EXPECT_EQ(row.percentile(0.98), 1032U);
  EXPECT_EQ(row.percentile(0.99), 4097U);
  EXPECT_EQ(row.max(), 4097U);
  EXPECT_EQ(row.sum, 98U * 1030 + 8194);
  EXPECT_EQ(read({{0, 50, 1, 50, 50}}).rows().at({0, ""}).percentile(0.5), 50U);
}

TEST(ProbeLatenciesTest, AnIntervalHasWhatCameSince) {
  const auto before = read({{0, 1024, 98, 980, 1035}, {1, 64, 3, 192, 64}});
  const auto now = read({{0, 1024, 98, 980, 1035}, {0, 4096, 2, 8194, 4097}, {1, 64, 5, 320, 64}});
  const auto since = now.since(before);
  EXPECT_EQ(since.count(), 4U);
  EXPECT_EQ(since.rows().at({0, ""}).count, 2U);
  EXPECT_EQ(since.rows().at({0, ""}).percentile(0.5), 4097U);
  EXPECT_EQ(since.rows().at({1, ""}).sum, 128U);
}

}  // namespace
}  // namespace tallyfs
