// Files that were renamed while no feeder ran, or before it was killed.
#include "core/base/clock.h"
#include "tests/unit/log/follow_fixture.h"

namespace tallyfs::logs {
namespace {

// Its writer has the file open until it is told to open the new one.
TEST_F(LogFollowTest, ReadsOnInAFileThatWasRenamedJustBeforeAStart) {
  append("log", "1\n");
  follow_for_a_while("log", From::kStart, [&](Positions&) { read(); });
  std::filesystem::last_write_time(path("log"), std::filesystem::file_time_type::clock::now() - 1h);
  std::filesystem::rename(path("log"), path("log.1"));
  append("log", "new\n");
  auto kept = positions();
  follow("log", From::kEnd, &kept);
  EXPECT_EQ(read(), "new;");
  append("log.1", "2\n");
  EXPECT_EQ(read(), "2;");
  EXPECT_EQ(read() + read(11s), "");
  EXPECT_EQ(counts_.files, 1U);
}

TEST_F(LogFollowTest, CountsWhatARenamedFileGetsWhileItDoesNotRun) {
  append("log", "1\n");
  follow_for_a_while("log", From::kStart, [&](Positions& kept) {
    read();
    std::filesystem::rename(path("log"), path("log.1"));
    append("log.1", "2\n");
    append("log", "3\n");
    std::string said = read();
    std::ranges::sort(said);
    EXPECT_EQ(said, "23;;");
    kept.set_scanned(SystemClock::realtime() + 1s);  // both files are older than that
  });
  append("log.1", "4\n");
  append("log", "5\n");
  auto kept = positions();
  follow("log", From::kEnd, &kept);
  std::string said = read();
  std::ranges::sort(said);
  EXPECT_EQ(said, "45;;");
  append("log.1", "6\n");
  EXPECT_EQ(read(), "6;");
}

}  // namespace
}  // namespace tallyfs::logs
