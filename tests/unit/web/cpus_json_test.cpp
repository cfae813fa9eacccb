#include "exporters/web/cpus_json.h"

#include <gtest/gtest.h>

#include "tools/tree/json.h"

namespace tallyfs::web {
namespace {

view::Statistic latencies() {
  view::Statistic made{.name = "wakeup", .type = "array", .units = "microseconds/samples"};
  made.definition = {{"range_min", "0"}, {"base_interval", "1"}, {"scale", "log2"}};
  made.values = view::Array{.bounds = {0, 1, 2, 4}, .counts = {0, 9, 9, 9, 9}};
  return made;
}

constexpr const char* kCpu =
    "#Minimum latency: 1 microseconds\n"
    "#There are 2 samples lower than 0 microseconds.\n"
    "#There are 5 samples greater or equal than 10240 microseconds.\n"
    "#usecs\t         samples\n"
    "     0\t               1\n     1\t               0\n     3\t               4\n"
    "     4\t               6\n     9\t               1\n";

TEST(CpusJsonTest, MicrosecondsGoIntoTheBinsOfAllCpus) {
  const auto hits = hits_of_cpu(kCpu, std::get<view::Array>(latencies().values));
  std::vector<std::pair<int, std::uint64_t>> found;
  for (const Hit& hit : hits) found.emplace_back(hit.index, hit.count);
  EXPECT_EQ(found, (std::vector<std::pair<int, std::uint64_t>>{{0, 3}, {3, 10}, {4, 6}}));
  EXPECT_TRUE(hits_of_cpu("", std::get<view::Array>(latencies().values)).empty());
}

TEST(CpusJsonTest, ACpuIsAColumnWithItsName) {
  const auto hits = hits_of_cpu(kCpu, std::get<view::Array>(latencies().values));
  const auto json = parse_json(cpus_json("w", latencies(), {{0, hits}, {5, {}}}, {}));
  ASSERT_TRUE(json);
  std::string text;
  JsonWriter writer(text);
  for (const char* key : {"names", "counts", "seconds", "states"}) {
    write_json(writer, *json.value().find(key));
  }
  EXPECT_EQ(text, R"(["CPU 0","CPU 5"],[[3,0,0,10,6],[]],[1,1],"cc")");
}

}  // namespace
}  // namespace tallyfs::web
