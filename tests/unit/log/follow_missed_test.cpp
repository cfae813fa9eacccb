// Logs that were rotated, and compressed or removed before a feeder saw them, count as missed.
#include <cstdlib>

#include "tests/unit/log/follow_fixture.h"

namespace tallyfs::logs {
namespace {

class LogMissedTest : public LogFollowTest {
 protected:
  // As logrotate's compress: the file has the time at which its log was written last.
  void compress(const std::string& name, const char* program = "gzip") const {
    ASSERT_EQ(std::system((program + (" -q '" + path(name) + "'")).c_str()), 0);
  }
  void rotate(const std::string& to) const { std::filesystem::rename(path("log"), path(to)); }
  void begin(const std::string& text) {
    append("log", text);
    follow_for_a_while("log", From::kStart, [&](Positions&) { read(); });
  }
  std::string follow_again(const std::string& names = "log") {
    kept_.emplace(positions());
    follow(names, From::kEnd, &*kept_);
    std::string said = read() + read();
    std::ranges::sort(said);
    return said;
  }
  // kept_ ends after the follower.
  void TearDown() override { follower_.reset(); }

  std::optional<Positions> kept_;
};

TEST_F(LogMissedTest, CountsTheLogsThatAreCompressedBeforeTheyAreRead) {
  begin("1\n");
  append("log", "2\n");
  rotate("log-20261126");
  compress("log-20261126");
  append("log", "3\n");
  rotate("log-20261127");
  compress("log-20261127", "xz");
  append("log", "4\n");
  rotate("log-20261128");
  append("log", "5\n");
  EXPECT_EQ(follow_again(), "45;;");
  EXPECT_EQ(counts_.missed, 2U);
  EXPECT_NE(reports_.find("lost: is not counted, as it was rotated or cut while no feeder ran, and "
                          "is compressed or gone: " +
                          path("log") + " from byte 2 on, " + path("log-20261127.xz") + "\n"),
            std::string::npos)
      << reports_;
}

TEST_F(LogMissedTest, CountsALogThatIsGone) {
  begin("1\n");
  std::filesystem::remove(path("log"));
  append("log", "2\n");
  EXPECT_EQ(follow_again(), "2;");
  EXPECT_EQ(counts_.missed, 1U) << reports_;
}

TEST_F(LogMissedTest, CountsACutLogWhoseCopyIsCompressed) {
  begin(kLong);
  append("log", "2\n");
  copy_and_cut("log.1");
  compress("log.1");
  append("log", "3\n");
  EXPECT_EQ(follow_again(), "3;");
  EXPECT_EQ(counts_.missed, 1U) << reports_;
}

TEST_F(LogMissedTest, CountsACutLogWhoseCopyIsCompressedBeforeItIsSeen) {
  append("log", kLong);
  follow("log", From::kStart);
  read();
  append("log", "2\n");
  copy_and_cut("log.1");
  compress("log.1");
  append("log", "3\n");
  EXPECT_EQ(read() + read(), "3;");
  EXPECT_EQ(counts_.missed, 1U) << reports_;
  const std::string all = std::to_string(std::string(kLong).size());
  EXPECT_NE(reports_.find("compressed before it was seen: " + path("log") + " from byte " + all),
            std::string::npos)
      << reports_;
}

TEST_F(LogMissedTest, CountsNoneThatWasReadBeforeItWasCut) {
  append("log", kLong);
  follow("log", From::kStart);
  read();
  copy_and_cut("log.1");
  compress("log.1");
  append("log", "3\n");
  EXPECT_EQ(read() + read(), "3;");
  EXPECT_EQ(counts_.missed, 0U) << reports_;
}

TEST_F(LogMissedTest, CountsNoneThatWasCutAndNotCopied) {
  append("log", kLong);
  follow("log", From::kStart);
  read();
  std::filesystem::resize_file(path("log"), 0);
  EXPECT_EQ(read() + read(), "");
  EXPECT_EQ(counts_.missed, 0U) << reports_;
}

TEST_F(LogMissedTest, CountsNoneThatWasReadToItsEnd) {
  begin("1\n");
  rotate("log.1");
  compress("log.1");
  append("log", "2\n");
  EXPECT_EQ(follow_again(), "2;");
  EXPECT_EQ(counts_.missed, 0U) << reports_;
}

TEST_F(LogMissedTest, CountsNoneWhoseCopyIsThere) {
  begin(kLong);
  append("log", "2\n");
  copy_and_cut("log.1");
  append("log", "3\n");
  EXPECT_EQ(follow_again(), "23;;");
  EXPECT_EQ(counts_.missed, 0U) << reports_;
}

TEST_F(LogMissedTest, CountsNoOtherLogsAndNoneOfBefore) {
  append("log.2", "long ago\n");
  std::filesystem::last_write_time(path("log.2"),
                                   std::filesystem::file_time_type::clock::now() - 48h);
  begin("1\n");
  compress("log.2");
  append("log-audit", "another\n");
  compress("log-audit");
  append("log", "2\n");
  EXPECT_EQ(follow_again(), "2;");
  EXPECT_EQ(counts_.missed, 0U) << reports_;
}

}  // namespace
}  // namespace tallyfs::logs
