#include "tools/ctl/by_label.h"

#include <gtest/gtest.h>

#include <string>

namespace tallyfs {
namespace {

// Counters of web, each of which has counted 1; more of them come with the second moment.
class GrowingSource : public Source {
 public:
  Result<Json> tree() override {
    return parse_json(R"({"format":1,"interfaces":[{"interface":"web"}]})");
  }
  Result<Json> interface(const std::string& name) override {
    std::string statistics = counter("n{code:200,route:a}");
    if (has_more_) {
      statistics += "," + counter("n{code:500,route:a}") + "," + counter("n{code:200,route:b}") +
                    "," + counter("other{code:200,route:a}");
    }
    return parse_json(R"({"format":1,"interface":")" + name + R"(","time_us":1,"statistics":[)" +
                      statistics + "]}");
  }
  Result<Next> next(std::chrono::microseconds /*every*/) override {
    has_more_ = true;
    return Next::kMoment;
  }
  std::chrono::microseconds period() const override { return {}; }
  const std::string& mount() const override { return mount_; }

 private:
  static std::string counter(const std::string& name) {
    return R"({"name":")" + name + R"(","on":1,"type":"value","values":{"total":1}})";
  }

  bool has_more_ = false;
  const std::string mount_ = "/mnt";
};

TEST(ByLabelTest, PartsThatCameAfterTheyWereSelectedAreAddedUp) {
  for (const char* word : {"web/n", "web/n*", "web"}) {
    GrowingSource source;
    ByLabel by("route");
    const auto selections = by.select(source, {word});
    ASSERT_TRUE(selections);
    ASSERT_TRUE(source.next({}));
    auto moment = read_interfaces(source, selections.value());
    ASSERT_TRUE(moment);
    by.add_up(moment.value(), selections.value(), view::Begin::kOfNewest);
    const view::Interface& web = moment.value().at("web").interface;
    const auto total = [&](const char* name) {
      const view::Statistic* const found = web.find(name);
      return found ? static_cast<int>(std::get<view::Value>(found->values).total) : 0;
    };
    EXPECT_EQ(total("n{route:a}"), 2) << word;
    EXPECT_EQ(total("n{route:b}"), 1) << word;
    EXPECT_EQ(total("other{route:a}"), std::string(word) == "web" ? 1 : 0) << word;
  }
}

}  // namespace
}  // namespace tallyfs
