#include "program/command_line.h"

#include <gtest/gtest.h>

namespace tallyfs {
namespace {

class CommandLineTest : public testing::Test {
 protected:
  void SetUp() override {
    line_.add({.names = "--socket", .variable = &socket_, .value = "PATH", .text = "the socket"});
    line_.add({.names = "-p,--poll-ms",
               .variable = &poll_ms_,
               .value = "TIME",
               .text = "how long to wait",
               .check = Time{1, 1000, TimeUnit::kMilliseconds}});
    line_.add({.names = "--memory",
               .variable = &memory_,
               .value = "BYTES",
               .text = "what it may take",
               .check = Bytes{1 << 20, 1ull << 30}});
    line_.add({.names = "--clock",
               .variable = &clock_,
               .value = "CLOCK",
               .text = "which clock",
               .check = OneOf{{"mono", "boot"}}});
    line_.add_flag("--quiet", quiet_, "say nothing");
    line_.add_flag("--loud", loud_, "say much", "--quiet");
    line_.add_list("--name", names_, "NAME", "a name");
    line_.add_arguments("files", files_, "the files");
  }
  std::optional<int> parse(std::vector<std::string> words) {
    words.insert(words.begin(), "program");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const auto status = line_.parse(static_cast<int>(argv.size()), argv.data());
    out_ = testing::internal::GetCapturedStdout();
    err_ = testing::internal::GetCapturedStderr();
    return status;
  }
  bool has(std::string_view text) const { return out_.find(text) != std::string::npos; }

  CommandLine line_{"Does a thing.", "tally-thing", "1.2"};
  std::string socket_ = "/run/s", clock_ = "mono", out_, err_;
  unsigned poll_ms_ = 10;
  std::uint64_t memory_ = 64 << 20;
  bool quiet_ = false, loud_ = false;
  std::vector<std::string> names_, files_;
};

TEST_F(CommandLineTest, StoresWhatIsGivenAndKeepsTheRest) {
  ASSERT_EQ(parse({"-p", "25", "--memory", "2M", "--clock=boot", "--name", "a", "x", "--name", "b",
                   "--quiet", "y"}),
            std::nullopt);
  EXPECT_EQ(socket_, "/run/s");
  EXPECT_EQ(poll_ms_, 25u);
  EXPECT_EQ(memory_, 2u << 20);
  EXPECT_EQ(clock_, "boot");
  EXPECT_TRUE(quiet_);
  EXPECT_EQ(names_, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(files_, (std::vector<std::string>{"x", "y"}));
}

TEST_F(CommandLineTest, HelpShowsValuesDefaultsAndBounds) {
  EXPECT_EQ(parse({"--help"}), 0);
  EXPECT_TRUE(has("Does a thing.")) << out_;
  EXPECT_TRUE(has("--poll-ms TIME")) << out_;
  EXPECT_TRUE(has("how long to wait (10ms; 1ms to 1s; a number alone: ms)")) << out_;
  EXPECT_TRUE(has("what it may take (64M)")) << out_;
  EXPECT_EQ(err_, "");
}

TEST_F(CommandLineTest, ATimeMayHaveAUnit) {
  ASSERT_EQ(parse({"--poll-ms", "1s"}), std::nullopt);
  EXPECT_EQ(poll_ms_, 1000u);
  EXPECT_EQ(line_.replace("--poll-ms", "2000us"), std::nullopt);
  EXPECT_EQ(poll_ms_, 2u);
  EXPECT_EQ(parse({"--poll-ms", "2h"}), kUsageStatus);
  EXPECT_NE(err_.find("'2h' is no time of 1ms to 1s, as 1s"), std::string::npos) << err_;
  EXPECT_EQ(parse({"--poll-ms", "1500us"}), kUsageStatus);
  EXPECT_NE(err_.find("'1500us' is no whole number of ms"), std::string::npos) << err_;
}

TEST_F(CommandLineTest, VersionIsNameAndNumber) {
  EXPECT_EQ(parse({"--version"}), 0);
  EXPECT_EQ(out_, "tally-thing 1.2\n");
}

TEST_F(CommandLineTest, RefusesOnStderrUnderItsNameWithStatusTwo) {
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"--poll-ms", "0"},
                                             {"--poll-ms", "1001"},
                                             {"--poll-ms", "ten"},
                                             {"--poll-ms", "2s"},
                                             {"--poll-ms", "1500us"},
                                             {"--memory", "1k"},
                                             {"--memory", "2G"},
                                             {"--clock", "sun"},
                                             {"--quiet", "--loud"},
                                             {"--junk"}}) {
    EXPECT_EQ(parse(wrong), kUsageStatus) << wrong.front();
    EXPECT_TRUE(err_.starts_with("tally-thing: ")) << err_;
    EXPECT_EQ(out_, "");
  }
}

TEST_F(CommandLineTest, AValueMayBeReplacedAfterwards) {
  ASSERT_EQ(parse({"--poll-ms", "25"}), std::nullopt);
  EXPECT_EQ(line_.replace("--poll-ms", "30"), std::nullopt);
  EXPECT_EQ(poll_ms_, 30u);
  testing::internal::CaptureStderr();
  EXPECT_EQ(line_.replace("--poll-ms", "0"), kUsageStatus);
  EXPECT_EQ(line_.refuse("--socket", "it is not there"), kUsageStatus);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("--socket: it is not there"),
            std::string::npos);
}

TEST(CommandLineNeedTest, SaysWhatIsMissing) {
  std::string socket;
  std::vector<std::string> files;
  CommandLine line("Does a thing.", "tally-thing", "1.2");
  line.add({.names = "--socket",
            .variable = &socket,
            .value = "PATH",
            .text = "the socket",
            .need = Option::Need::kRequired});
  line.add_arguments("files", files, "the files", {.least = 1});
  std::string words[] = {"program", "a"};
  char* argv[] = {words[0].data(), words[1].data()};
  testing::internal::CaptureStderr();
  EXPECT_EQ(line.parse(2, argv), kUsageStatus);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("--socket"), std::string::npos);
}

TEST(CommandLineNeedTest, TakesNoMoreArgumentsThanThereMayBe) {
  for (const int least : {0, 1}) {
    std::vector<std::string> files;
    CommandLine line("Does a thing.", "tally-thing", "1.2");
    line.add_arguments("files", files, "the files", {.least = least, .most = 2});
    std::string words[] = {"program", "a", "b", "c"};
    char* argv[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data()};
    testing::internal::CaptureStderr();
    EXPECT_EQ(line.parse(4, argv), kUsageStatus) << least;
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("received 3"), std::string::npos) << said;
    EXPECT_EQ(line.parse(3, argv), std::nullopt) << least;
    EXPECT_EQ(files, (std::vector<std::string>{"a", "b"}));
  }
}

TEST(CommandLineNeedTest, AFindFaultSaysItsOwnReason) {
  std::string path;
  CommandLine line("Does a thing.", "tally-thing", "1.2");
  line.add({.names = "--path",
            .variable = &path,
            .value = "PATH",
            .text = "a path",
            .check = FindFault([](const std::string& value) {
              return value.starts_with('/') ? std::string() : "must be absolute";
            })});
  std::string words[] = {"program", "--path", "a"};
  char* argv[] = {words[0].data(), words[1].data(), words[2].data()};
  testing::internal::CaptureStderr();
  EXPECT_EQ(line.parse(3, argv), kUsageStatus);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("must be absolute"), std::string::npos);
}

}  // namespace
}  // namespace tallyfs
