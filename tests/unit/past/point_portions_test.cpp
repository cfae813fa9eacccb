#include "tools/past/point_portions.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/tree/statistics_json.h"

namespace tallyfs::past {
namespace {

view::Statistic statistic_from(const std::string& text) {
  auto json = parse_json(R"({"format":1,"interface":"web","statistics":[)" + text + "]}");
  EXPECT_TRUE(json);
  auto made = to_interface(json.value());
  EXPECT_TRUE(made) << (made ? "" : made.error().reason);
  return made.value().statistics.at(0);
}

std::string named(const std::string& members) { return R"({"name":"x","on":1,)" + members + "}"; }

struct Pair {
  std::string before;
  std::string now;
};

std::vector<Pair> pairs() {
  const std::string array = R"("type":"array","scale":"log2","data_us":5,"samples":)";
  const std::string bounds = R"(,"values":{"bounds":[0,1,2,4,8],"counts":)";
  const std::string quantiles = R"("type":"quantiles","precision":4,"data_us":5,"samples":)";
  const std::string range = R"("type":"range","decimals":1,"data_us":5,"samples":)";
  const auto buckets = [](const char* indexes, const char* counts) {
    return std::string(R"("quantiles":[{"q":"50","value":null}],"buckets":{"zero":1,)") +
           R"("positive":{"indexes":)" + indexes + R"(,"counts":)" + counts +
           R"(},"negative":{"indexes":[3],"counts":[2]}}})";
  };
  return {{array + "4" + bounds + "[1,0,3,0,0,0]}", array + "9" + bounds + "[1,2,3,0,1,2]}"},
          {array + "4" + bounds + "[1,0,3,0,0,0]}", array + "4" + bounds + "[1,0,3,0,0,0]}"},
          {quantiles + "5" + R"(,"values":{"count":5,"sum":9,)" + buckets("[10,90]", "[1,1]"),
           quantiles + "15" + R"(,"values":{"count":15,"sum":99,)" +
               buckets("[10,90,91,200]", "[1,4,5,2]")},
          {range + R"(2,"values":{"number":2,"min":1.0,"avg":1.5,"max":2.0,"sum":3.0})",
           range + R"(5,"values":{"number":5,"min":1.0,"avg":60.6,"max":200.0,"sum":303.0})"},
          {R"("type":"value","data_us":5,"samples":1,"values":{"total":5})",
           R"("type":"value","data_us":5,"samples":3,"values":{"total":12})"},
          {R"("type":"value","of":"y","data_us":5,"samples":1,"values":{"total":5})",
           R"("type":"value","of":"y","data_us":5,"samples":3,"values":{"total":12})"},
          {R"("type":"last","data_us":5,"samples":1,"values":{"time_us":8,"x":3})",
           R"("type":"last","data_us":5,"samples":2,"values":{"time_us":9,"x":-4})"},
          {R"("type":"list","data_us":5,"samples":1,"values":{"x":[7],"totals":[1]})",
           R"("type":"list","data_us":5,"samples":4,"values":{"x":[7,8],"totals":[2,2]})"}};
}

TEST(PointPortionsTest, PortionsAreThoseOfTwoSnapshots) {
  for (const auto& [before, now] : pairs()) {
    SCOPED_TRACE(now);
    const view::Statistic was = statistic_from(named(before));
    const view::Statistic is = statistic_from(named(now));
    const auto wanted = view::portion_between(was, is);
    const auto point = point_between(&was, is);
    ASSERT_TRUE(wanted && point);
    std::string shape;
    JsonWriter writer(shape);
    write_json(writer, shape_of(parse_json(named(now)).value()));
    auto portions = PointPortions::create(shape, 8);
    ASSERT_TRUE(portions);
    for (int i = 0; i < 2; ++i) {  // with and without keys that are known
      const view::Portion made = portions.value().portion(*point);
      EXPECT_EQ(made.count, wanted->count);
      EXPECT_EQ(made.value, wanted->value);
      EXPECT_EQ(made.levels, wanted->levels);
      EXPECT_EQ(made.level_sum, wanted->level_sum);
      ASSERT_EQ(made.buckets.size(), wanted->buckets.size());
      for (std::size_t at = 0; at < made.buckets.size(); ++at) {
        EXPECT_EQ(made.buckets[at].index, wanted->buckets[at].index);
        EXPECT_EQ(made.buckets[at].count, wanted->buckets[at].count);
      }
    }
  }
}

TEST(PointPortionsTest, AShapeThatIsNoneIsRefused) {
  EXPECT_FALSE(PointPortions::create("{", 8));
  EXPECT_FALSE(PointPortions::create(R"({"name":"x"})", 8));
}

}  // namespace
}  // namespace tallyfs::past
