#include "tools/ctl/recorder.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

namespace tallyfs {
namespace {

// Each look at it finds another tree.
class TreeThatMoves : public Source {
 public:
  Result<Json> tree() override {
    const std::string now = std::to_string(++looks_);
    return parse_json(R"({"format":1,"epoch":"e","time_us":)" + now + R"(,"realtime_us":)" + now +
                      R"(,"interfaces":[{"interface":"web","serial":)" + now +
                      R"(,"statistics":0,"on":0,"samples":0}]})");
  }
  Result<Json> interface(const std::string& /*name*/) override {
    return parse_json(R"({"interface":"web"})");
  }
  Result<Next> next(std::chrono::microseconds /*every*/) override { return Next::kMoment; }
  std::chrono::microseconds period() const override { return {}; }
  const std::string& mount() const override { return mount_; }

  int looks() const { return looks_; }

 private:
  int looks_ = 0;
  const std::string mount_ = "/mnt";
};

TEST(RecorderTest, TheHeaderIsOfTheTreeOfItsMoment) {
  const std::string path = testing::TempDir() + "recorder_test.jsonl";
  Session session;
  auto made = std::make_unique<TreeThatMoves>();
  const TreeThatMoves& source = *made;
  session.source = std::move(made);
  Recorder recorder(session, Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600)));
  ASSERT_TRUE(recorder.write_timestamp());
  EXPECT_EQ(source.looks(), 1);
  ASSERT_TRUE(recorder.write_timestamp());
  EXPECT_EQ(source.looks(), 2);
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
  EXPECT_NE(text.find(R"("time_us":1,)"), std::string::npos) << text;
  std::remove(path.c_str());
}

}  // namespace
}  // namespace tallyfs
