// --by over a store in which labels come up later.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "tests/unit/past/store_model.h"
#include "tests/unit/temporary_directory.h"
#include "tools/ctl/commands.h"

namespace tallyfs {
namespace {

constexpr std::uint64_t kBegin = 1'699'999'200;  // 2023-11-14 22:00 UTC

class ByLabelPastTest : public testing::Test {
 protected:
  ByLabelPastTest() : writer_(past::write_to(store_)) {}

  // Writes a sample a second of web's statistic.
  std::uint64_t series(const std::string& name, const std::string& type) {
    return writer_->series("web", name, R"({"name":")" + name + R"(","type":")" + type + R"("})");
  }
  void write(std::uint64_t from, std::uint64_t to, const std::vector<std::uint64_t>& series) {
    for (std::uint64_t second = from; second < to; ++second) {
      writer_->go_to((kBegin + second) * past::kSecondUs + past::kSecondUs / 2);
      for (const std::uint64_t each : series) {
        writer_->add(each, {.known = 1, .samples = 1, .number = 1, .total = 1, .last = 1});
      }
    }
  }
  // Returns what the command prints to `out_`, and its complaints to `err_`.
  int run(int (*command)(int, char**), std::vector<std::string> words) {
    EXPECT_TRUE(writer_->flush());
    for (const char* each : {"--ascii", "--utc", "--by", "route", "--store"}) {
      words.emplace_back(each);
    }
    words.push_back(store_);
    std::vector<char*> argv;
    for (std::string& each : words) argv.push_back(each.data());
    argv.push_back(nullptr);
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int status = command(static_cast<int>(words.size()), argv.data());
    out_ = testing::internal::GetCapturedStdout();
    err_ = testing::internal::GetCapturedStderr();
    return status;
  }

  TemporaryDirectory directory_;
  const std::string store_ = directory_ / "store";
  const std::unique_ptr<past::StoreWriter> writer_;
  std::string out_;
  std::string err_;
};

TEST_F(ByLabelPastTest, LinesOfSumsHavePartsThatComeWithinTheSpan) {
  const auto first = series("n{code:200,route:a}", "value");
  const auto more = series("n{code:500,route:a}", "value");
  const auto late = series("n{code:200,route:late}", "value");
  write(0, 60, {first});
  write(60, 120, {first, more, late});
  for (const char* every : {"", "--every=2s"}) {
    std::vector<std::string> words = {"plot", "web/n", "--at", "2023-11-14 22:00..22:02"};
    if (*every) words.emplace_back(every);
    EXPECT_EQ(run(run_plot, words), 0) << err_;
    EXPECT_NE(out_.find("web/n{route:a}"), out_.npos) << out_;
    EXPECT_NE(out_.find("web/n{route:late}"), out_.npos) << out_;
    // The second part makes it two a second.
    EXPECT_NE(out_.find("2.00 + "), out_.npos) << out_;
  }
}

TEST_F(ByLabelPastTest, ALabelMayComeAfterTheFirstMoment) {
  const auto plain = series("m", "value");
  const auto late = series("n{route:late}", "value");
  write(0, 60, {plain});
  write(60, 120, {plain, late});
  EXPECT_EQ(run(run_plot, {"plot", "web", "--at", "2023-11-14 22:00..22:02"}), 0) << err_;
  EXPECT_NE(out_.find("web/n{route:late}"), out_.npos) << out_;
}

TEST_F(ByLabelPastTest, EachOfTwoSpansSaysWhatItLeavesOut) {
  const auto value = series("n{code:200,route:a}", "value");
  const auto last = series("n{code:500,route:a}", "last");
  write(0, 60, {value});
  write(60, 120, {value, last});
  const std::string first = "2023-11-14 22:00..22:01", second = "2023-11-14 22:01..22:02";
  const std::string left_out = "1 statistics do not add up, and are left out\n";
  EXPECT_EQ(run(run_show, {"show", "web/n", "--at", second, "--vs", first}), 0) << err_;
  EXPECT_NE(out_.find("\n" + left_out), out_.npos) << out_;
  EXPECT_EQ(run(run_show, {"show", "web/n", "--at", first, "--vs", second}), 0) << err_;
  EXPECT_NE(out_.find("\nafter: " + left_out), out_.npos) << out_;
}

}  // namespace
}  // namespace tallyfs
