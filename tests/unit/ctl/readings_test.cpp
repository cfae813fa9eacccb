#include "tools/ctl/readings.h"

#include <gtest/gtest.h>

#include <string>

namespace tallyfs {
namespace {

// Its moments are numbered, and each interface has statistics a and b.
class CountedSource : public Source {
 public:
  Result<Json> tree() override { return Error{ErrorCode::kInvalid, "not wanted"}; }
  Result<Json> interface(const std::string& name) override {
    ++reads;
    if (name != "web" && name != "db") return Error{ErrorCode::kNotFound, "no such interface"};
    const auto statistic = [](const std::string& called) {
      return R"({"name":")" + called + R"(","on":1,"type":"value","values":{"total":1}})";
    };
    return parse_json(R"({"format":1,"interface":")" + name + R"(","time_us":)" +
                      std::to_string(moment_) + R"(,"statistics":[)" + statistic("a") + "," +
                      statistic("b") + "]}");
  }
  Result<Next> next(std::chrono::microseconds /*every*/) override {
    ++moment_;
    return Next::kMoment;
  }
  std::chrono::microseconds period() const override { return {}; }
  const std::string& mount() const override { return mount_; }

  int reads = 0;

 private:
  int moment_ = 1;
  const std::string mount_ = "/mnt";
};

TEST(ReadingsTest, AnInterfaceIsReadOnceAMomentForAllItsStatistics) {
  CountedSource source;
  Readings readings(source);
  const SelectedStatistic a{"web", "a"}, b{"web", "b"}, other{"db", "a"};
  for (const auto& each : {a, b, other}) ASSERT_TRUE(readings.read(each));
  EXPECT_EQ(source.reads, 2);
  (void)source.next({});
  readings.advance();
  for (const auto& each : {a, b, other}) ASSERT_TRUE(readings.read(each));
  EXPECT_EQ(source.reads, 4);
  EXPECT_EQ(readings.before(b).time_us, 1u);
  EXPECT_EQ(readings.now(b).interface.time_us, 2u);
}

TEST(ReadingsTest, AStatisticThatHasBeenRemovedIsRefusedWhereItsInterfaceWasRead) {
  CountedSource source;
  Readings readings(source);
  ASSERT_TRUE(readings.read({"web", "a"}));
  const auto refused = readings.read({"web", "c"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, "web/c has been removed");
  EXPECT_EQ(readings.read({"mail", "a"}).error().code, ErrorCode::kNotFound);
}

TEST(ReadingsTest, AStatisticThatAChangeNoLongerMakesIsRefused) {
  CountedSource source;
  Readings readings(source);
  readings.change_with([](view::Interface& each) { each.statistics.pop_back(); });
  for (int i = 0; i < 2; ++i) {
    const auto refused = readings.read({"web", "b"});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "web/b has been removed");
    EXPECT_TRUE(readings.read({"web", "a"}));
  }
}

}  // namespace
}  // namespace tallyfs
