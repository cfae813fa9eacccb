// Files that are followed: rotation, truncation, positions, what is refused.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/log/follow_fixture.h"

namespace tallyfs::logs {
namespace {

TEST_F(LogFollowTest, BeginsAtTheEndOrTheStart) {
  append("log", "a\nb\nhalf");
  follow("log");
  EXPECT_EQ(read(), "");
  append("log", " a line\nc\r\n");
  EXPECT_EQ(read(), "c;");
  follow("log", From::kStart);
  EXPECT_EQ(read(), "a;b;half a line;c;");
}

TEST_F(LogFollowTest, WaitsForTheEndOfALine) {
  append("log", "");
  follow("log");
  append("log", "one\ntw");
  EXPECT_EQ(read(), "one;");
  EXPECT_EQ(counts_.behind, 2U);
  append("log", "o\n");
  EXPECT_EQ(read(), "two;");
  EXPECT_EQ(counts_.bytes, 8U);
}

// The copy of a log that is cut may be compressed before what was written is read.
TEST_F(LogFollowTest, ReportsNamesApartFromWrittenFiles) {
  append("log", "");
  follow("log");
  read();
  const auto is_readable = [](int fd) {
    pollfd waited{.fd = fd, .events = POLLIN, .revents = 0};
    return ::poll(&waited, 1, 0) > 0;
  };
  append("log", "1\n");
  EXPECT_TRUE(is_readable(follower_->files_fd()));
  EXPECT_FALSE(is_readable(follower_->names_fd()));
  EXPECT_EQ(read(), "1;");
  append("log.1", "");
  EXPECT_FALSE(is_readable(follower_->files_fd()));
  EXPECT_TRUE(is_readable(follower_->names_fd()));
  read();
  EXPECT_FALSE(is_readable(follower_->names_fd()));
}

TEST_F(LogFollowTest, LosesNothingAtARename) {
  append("log", "");
  follow("log");
  std::ofstream writer(path("log"), std::ios::app);
  writer << "1\n" << std::flush;
  std::filesystem::rename(path("log"), path("log.1"));
  writer << "2\n" << std::flush;
  append("log", "3\n");
  EXPECT_EQ(read(), "1;2;3;");
  writer << "4\n" << std::flush;
  append("log", "5\n");
  EXPECT_EQ(read(), "4;5;");
  EXPECT_EQ(counts_.rotations, 1U);
  EXPECT_EQ(counts_.files, 2U);
  writer << "6";
  writer.close();
  EXPECT_EQ(read() + read(9s) + read(1s), "6;") << "its last line";
  EXPECT_EQ(counts_.files, 1U);
}

TEST_F(LogFollowTest, ReadsWhatAWriterThatIsSlowToReopenAddsMuchLater) {
  append("log", "");
  follow("log");
  std::ofstream writer(path("log"), std::ios::app);
  writer << "1\n" << std::flush;
  std::filesystem::rename(path("log"), path("log.1"));
  append("log", "2\n");
  EXPECT_EQ(read() + read(1h) + read(), "1;2;");
  EXPECT_EQ(counts_.files, 2U);
  std::filesystem::remove(path("log.1"));
  writer << "3\n" << std::flush;
  EXPECT_EQ(read(), "3;");
  writer.close();
  EXPECT_EQ(read() + read(9s) + read(1s), "");
  EXPECT_EQ(counts_.files, 1U);
}

TEST_F(LogFollowTest, LosesNoFileThatIsRenamedBeforeItWasOpened) {
  append("log", "1\n");
  follow("log", From::kStart);
  for (int i = 1; i <= 3; ++i) {
    std::filesystem::rename(path("log"), path(("log." + std::to_string(i)).c_str()));
    append("log", std::to_string(i + 1) + "\n");
  }
  std::string said = read() + read();
  std::ranges::sort(said);
  EXPECT_EQ(said, "1234;;;;");
  EXPECT_EQ(counts_.rotations, 3U);
}

TEST_F(LogFollowTest, BeginsAgainWhereAFileWasCut) {
  append("log", "first\nsecond\n");
  follow("log", From::kStart);
  EXPECT_EQ(read(), "first;second;");
  std::filesystem::resize_file(path("log"), 0);
  append("log", "x\n");
  EXPECT_EQ(read(), "x;");
  // Longer than before, when it is looked at next.
  std::filesystem::resize_file(path("log"), 0);
  append("log", "yyyyyyyyyyyyyyyyyy\nz\n");
  EXPECT_EQ(read(), "yyyyyyyyyyyyyyyyyy;z;");
  EXPECT_EQ(counts_.truncations, 2U);
}

TEST_F(LogFollowTest, FindsFilesOfAPatternAndThoseThatComeLater) {
  append("a.log", "old\n");
  append("b.log.gz", "packed\n");
  follow("*.log*");
  append("a.log", "a\n");
  append("c.log", "c\n");
  std::string said = read();
  EXPECT_EQ(said, "a;c;");
  follow("later.log");
  EXPECT_EQ(follower_->missing().size(), 1U);
  EXPECT_NE(reports_.find("waits for "), std::string::npos);
  append("later.log", "at last\n");
  EXPECT_EQ(read(), "at last;");
}

TEST_F(LogFollowTest, CutsLongLines) {
  append("log", std::string(10'000'000, 'x') + "\nafter\n" + std::string(70'000, 'y') + "\nz\n");
  follow("log", From::kStart);
  EXPECT_EQ(read(), std::string(20, 'x') + ";after;" + std::string(20, 'y') + ";z;");
  EXPECT_EQ(longest_, LogFile::kLineMax);
  EXPECT_EQ(counts_.cut, 2U);
}

TEST_F(LogFollowTest, RefusesWhatIsNoLog) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_FALSE(open_log(path("fifo"), Found::kByName));
  EXPECT_FALSE(open_log("/dev/null", Found::kByName));
  EXPECT_FALSE(open_log(path("."), Found::kByName));
  EXPECT_EQ(open_log(path("none"), Found::kByName).error().code, ErrorCode::kNotFound);
  // A link is followed, but not where others may have put it.
  append("log", "x\n");
  ASSERT_EQ(::symlink(path("log").c_str(), path("link").c_str()), 0);
  EXPECT_TRUE(open_log(path("link"), Found::kByPattern));
  ASSERT_EQ(::chmod(path(".").c_str(), 0777), 0);
  EXPECT_FALSE(open_log(path("link"), Found::kByPattern));
  EXPECT_TRUE(open_log(path("link"), Found::kByName));
  EXPECT_TRUE(open_log(path("log"), Found::kByPattern));
  // Not even by name, where it leads out of the file system by magic.
  const Fd log(::open(path("log").c_str(), O_RDONLY | O_CLOEXEC));
  const std::string magic = "/proc/self/fd/" + std::to_string(log.get());
  const auto refused = open_log(magic, Found::kByName);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, magic + ": Too many levels of symbolic links");
}

TEST_F(LogFollowTest, ContinuesWhereItWas) {
  append("log", "1\n2\n");
  follow_for_a_while("log", From::kStart, [&](Positions&) { EXPECT_EQ(read(), "1;2;"); });
  append("log", "3\n");
  // Rotated while no feeder runs; a new file came.
  std::filesystem::rename(path("log"), path("log.1"));
  append("log.1", "4\n");
  append("log", "5\n");
  auto kept = positions();
  follow("log", From::kEnd, &kept);
  EXPECT_EQ(read(), "3;4;5;");
  EXPECT_FALSE(Positions::open(path("positions"))) << "two feeders at once";
}

TEST_F(LogFollowTest, ReadsFilesThatCameAndWereRenamedWhileItDidNotRun) {
  append("log", "1\n");
  follow_for_a_while("log", From::kStart, [&](Positions&) { EXPECT_EQ(read(), "1;"); });
  std::filesystem::rename(path("log"), path("log.1"));
  append("log", "2\n");
  std::filesystem::rename(path("log"), path("log.2"));
  append("log", "3\n");
  auto kept = positions();
  follow("log", From::kEnd, &kept);
  std::string said = read() + read();
  std::ranges::sort(said);
  EXPECT_EQ(said, "23;;");
}

TEST_F(LogFollowTest, DoesNotContinueInAnotherFile) {
  append("log", "1\n2\n");
  follow_for_a_while("log", From::kStart, [&](Positions&) { EXPECT_EQ(read(), "1;2;"); });
  std::filesystem::resize_file(path("log"), 0);
  append("log", "other\nlines\n");
  auto kept = positions();
  follow("log", From::kEnd, &kept);
  EXPECT_EQ(read(), "other;lines;");
  EXPECT_NE(reports_.find("lost: " + path("log") + ": was cut, and is read from its start"),
            std::string::npos);
  EXPECT_EQ(counts_.truncations, 1U);
}

TEST_F(LogFollowTest, RefusesAForeignFileOfPositions) {
  append("positions", "my diary\n");
  EXPECT_FALSE(Positions::open(path("positions")));
  std::ifstream file(path("positions"));
  std::string text;
  std::getline(file, text);
  EXPECT_EQ(text, "my diary");
}

TEST_F(LogFollowTest, KeepsPositionsOfManyRotations) {
  append("log", "x\n");
  auto kept = positions();
  follow("log", From::kStart, &kept);
  std::string said = read();
  for (int i = 0; i < 300; ++i) {
    std::filesystem::rename(path("log"), path(("log." + std::to_string(i)).c_str()));
    append("log", "x\n");
    follower_->look(now_ += 10ms);
    while (follower_->read(now_)) {
    }
  }
  said += read();
  EXPECT_EQ(said.size(), 301 * 2U);
  EXPECT_EQ(reports_.find("no room"), std::string::npos);
  EXPECT_LE(counts_.files, kFilesMax);
}

TEST_F(LogFollowTest, HasABoundOfFiles) {
  for (int i = 0; i < 260; ++i) append("f" + std::to_string(i) + ".log", "x\n");
  follow("*.log", From::kStart);
  EXPECT_EQ(read().size(), 256 * 2U);
  EXPECT_NE(reports_.find("there are 256 files already"), std::string::npos);
}

class LogWrittenMeanwhileTest : public LogFollowTest {
 protected:
  void take(std::string_view line, const LineOrigin& origin) override {
    LogFollowTest::take(line, origin);
    if (line == "1") append("log", "2\n3");
  }
};

TEST_F(LogWrittenMeanwhileTest, TakesLinesThatComeDuringTheLastRead) {
  append("log", "1\n");
  follow("log", From::kStart);
  follower_->read_rest(Follower::Rest::kIsALine);
  EXPECT_EQ(std::exchange(said_, {}), "1;2;3;");
}

}  // namespace
}  // namespace tallyfs::logs
