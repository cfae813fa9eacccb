// Files that are followed: what must not count twice, and what must not be lost.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/base/clock.h"
#include "tests/unit/log/follow_fixture.h"

namespace tallyfs::logs {
namespace {

TEST_F(LogFollowTest, CountsACopyOnceThatWasCutWhileItDidNotRun) {
  append("log", "1\n2\n");
  follow_for_a_while("log", From::kStart, [&](Positions&) { EXPECT_EQ(read(), "1;2;"); });
  append("log", "3\n");
  std::filesystem::copy(path("log"), path("log.1"));
  std::filesystem::resize_file(path("log"), 0);
  append("log", "4\n");
  auto kept = positions();
  follow("log", From::kEnd, &kept);
  std::string said = read();
  std::ranges::sort(said);
  EXPECT_EQ(said, "34;;");
  EXPECT_EQ(counts_.truncations, 1U);
}

TEST_F(LogFollowTest, CountsNoOtherLogThatCameBesideItWhileItDidNotRun) {
  for (const char* const names : {"log", "l?g"}) {
    SCOPED_TRACE(names);
    for (const char* const each : {"log", "positions"}) std::filesystem::remove(path(each));
    append("log", "1\n");
    follow_for_a_while(names, From::kStart, [&](Positions&) { EXPECT_EQ(read(), "1;"); });
    append("log", "2\n");
    std::filesystem::rename(path("log"), path("log-20261127"));
    append("log", "3\n");
    std::filesystem::rename(path("log"), path("log-20261127-1"));
    append("log", "4\n");
    append("log-audit", "another log\n");
    append("log.errors.1", "and one more\n");
    auto kept = positions();
    follow(names, From::kEnd, &kept);
    std::string said = read() + read();
    std::ranges::sort(said);
    EXPECT_EQ(said, "234;;;");
    for (const char* const each : {"log-20261127", "log-20261127-1", "log-audit", "log.errors.1"}) {
      std::filesystem::remove(path(each));
    }
  }
}

TEST_F(LogFollowTest, DoesNotCountACopyOfAFileThatGoesOn) {
  append("log", kLong);
  follow_for_a_while("log", From::kStart, [&](Positions&) { read(); });
  std::filesystem::copy(path("log"), path("log.saved"));
  append("log", "5\n");
  auto kept = positions();
  follow("log", From::kEnd, &kept);
  EXPECT_EQ(read(), "5;");
}

TEST_F(LogFollowTest, DoesNotCountAShorterCopyOfAFileThatGrew) {
  append("log", kLong);
  follow_for_a_while("log", From::kStart, [&](Positions&) {
    read();
    std::filesystem::copy(path("log"), path("log.saved"));
    append("log", kLong);
    read();
  });
  auto kept = positions();
  follow("log", From::kEnd, &kept);
  EXPECT_EQ(read(), "");
}

TEST_F(LogFollowTest, DoesNotCountACopyThatCameBeforeItEnded) {
  append("log", kLong);
  follow_for_a_while("log", From::kStart, [&](Positions&) {
    read();
    const auto copied = SystemClock::realtime();
    std::filesystem::copy(path("log"), path("log.1"));
    std::filesystem::resize_file(path("log"), 0);
    append("log", "5\n");
    EXPECT_EQ(read(), "5;");
    while (SystemClock::realtime() < copied + 300ms) {
    }
    follower_->finish(now_);
  });
  append("log", "6\n");
  auto kept = positions();
  follow("log", From::kEnd, &kept);
  EXPECT_EQ(read(), "6;");
}

// Where the folder is a pattern, nothing reports names, and the copy is found after the cut.
TEST_F(LogFollowTest, DoesNotCountACopyThatIsFoundAfterTheCut) {
  std::filesystem::create_directory(path("day1"));
  append("day1/log", kLong);
  follow("day*/log", From::kStart);
  read();
  append("day1/log", "5\n");
  std::filesystem::copy(path("day1/log"), path("day1/log.1"));
  std::filesystem::resize_file(path("day1/log"), 0);
  append("day1/log", "6\n");
  EXPECT_EQ(read(10ms), "6;5;") << "the copy alone has 5";
  EXPECT_EQ(read() + read(), "");
}

TEST_F(LogFollowTest, KnowsAFileAgainWhoseDeviceHasAnotherNumberAfterABoot) {
  append("log", kLong);
  follow_for_a_while("log", From::kStart, [&](Positions& kept) {
    read();
    kept.each([](PositionRecord& record) { record.set_device(record.identity().device + 1); });
    kept.set_scanned(SystemClock::realtime() + 1s);  // the file is older than that
  });
  append("log", "5\n");
  auto kept = positions(1'000s);
  follow("log", From::kEnd, &kept);
  EXPECT_EQ(read(), "5;");
}

TEST_F(LogFollowTest, KnowsARenamedFileAgainWhoseDeviceHasAnotherNumber) {
  append("log", kLong);
  follow_for_a_while("log", From::kStart, [&](Positions& kept) {
    read();
    kept.each([](PositionRecord& record) { record.set_device(record.identity().device + 1); });
    kept.set_scanned(SystemClock::realtime() + 1s);  // the file is older than that
  });
  append("log", "5\n");
  std::filesystem::rename(path("log"), path("log.1"));
  append("log", "6\n");
  auto kept = positions(1'000s);
  follow("log", From::kStart, &kept);
  std::string said = read();
  std::ranges::sort(said);
  EXPECT_EQ(said, "56;;");
}

TEST_F(LogFollowTest, ContinuesInAFileThatWasAwayForLong) {
  append("log", "1\n2\n");
  follow("log", From::kStart);
  EXPECT_EQ(read(), "1;2;");
  std::filesystem::rename(path("log"), path("away"));
  EXPECT_EQ(read() + read(11s) + read(), "");
  EXPECT_EQ(counts_.files, 0U);
  std::filesystem::rename(path("away"), path("log"));
  append("log", "3\n");
  EXPECT_EQ(read(), "3;");
  // The number of a file that is gone, of another one.
  std::filesystem::rename(path("log"), path("away"));
  EXPECT_EQ(read() + read(11s) + read(), "");
  std::filesystem::resize_file(path("away"), 0);
  append("away", "4\n");
  std::filesystem::rename(path("away"), path("log"));
  EXPECT_EQ(read(), "4;");
}

TEST_F(LogFollowTest, BeginsAnotherFileOfTheFolderWhereItIsTold) {
  append("log", "1\n");
  append("other", "old\n");
  follow_for_a_while("log", From::kStart, [&](Positions&) {
    read();
    now_ += 1s;
  });
  std::filesystem::last_write_time(path("other"), std::filesystem::file_time_type::clock::now());
  auto kept = positions();
  kept.set_scanned(SystemClock::realtime() + 1s);
  follow("other", From::kEnd, &kept);
  append("other", "new\n");
  EXPECT_EQ(read(), "new;");
}

TEST_F(LogFollowTest, FollowsNoFileThatIsNotNamedAnyMore) {
  append("log", "1\n");
  append("other", "x\n");
  follow_for_a_while("log", From::kStart, [&](Positions&) { read(); });
  append("log", "2\n");
  follow_for_a_while("other", From::kStart, [&](Positions&) {
    EXPECT_EQ(read(), "x;");
    EXPECT_EQ(counts_.files, 1U);
  });
  auto kept = positions();
  follow("log", From::kEnd, &kept);
  EXPECT_EQ(read(), "2;") << "named again, it continues";
}

TEST_F(LogFollowTest, ContinuesAfterACrashThatLostTheEndOfAFile) {
  append("log", kLong);
  const auto synced = std::filesystem::file_size(path("log"));
  follow_for_a_while("log", From::kStart, [&](Positions& kept) {
    read();
    kept.sync(1h);
    kept.sync(2h);  // old enough to be on the disk
    append("log", "5\n6\n");
    EXPECT_EQ(read(), "5;6;");
    append("log", "7\n");
    EXPECT_EQ(read(), "7;");
  });
  std::filesystem::resize_file(path("log"), synced + 2);
  append("log", "");
  auto kept = positions(1'000s);
  follow("log", From::kEnd, &kept);
  append("log", "8\n");
  EXPECT_EQ(read(), "8;");
  EXPECT_EQ(counts_.tails_lost, 1U);
  EXPECT_NE(reports_.find("lost: " + path("log") + ": has lost lines that were counted"),
            std::string::npos);
}

TEST_F(LogFollowTest, CountsAgainFromWhereItIsKnownAfterACrash) {
  append("log", kLong);
  const auto synced = std::filesystem::file_size(path("log"));
  follow_for_a_while("log", From::kStart, [&](Positions& kept) {
    read();
    kept.sync(1h);
    kept.sync(2h);
    append("log", "5\n6\n");
    EXPECT_EQ(read(), "5;6;");
    append("log", "7\n");
    EXPECT_EQ(read(), "7;");
  });
  std::filesystem::resize_file(path("log"), synced);
  append("log", "after the crash\n");
  auto kept = positions(1'000s);
  follow("log", From::kEnd, &kept);
  EXPECT_EQ(read(), "after the crash;") << "and not the whole file";
}

TEST_F(LogFollowTest, TakesNoReadErrorForACut) {
  append("log", "1\n");
  FollowCounts counts;
  auto opened = open_log(path("log"), Found::kByName);
  ASSERT_TRUE(opened);
  // A directory can be looked at, but not read.
  OpenedLog unreadable{Fd(::open(path(".").c_str(), O_RDONLY)), opened.value().identity, 0};
  LogFile file(std::move(unreadable), path("log"), {}, counts);
  std::vector<char> chunk(LogFile::kChunkBytes);
  file.look(*this);
  EXPECT_FALSE(file.read(chunk, *this));
  EXPECT_EQ(file.error, EISDIR);
  EXPECT_EQ(counts.read_errors, 1U);
  EXPECT_EQ(counts.truncations, 0U);
}

// Between the look and the read.
TEST_F(LogFollowTest, SeesACutBeforeItReadsOn) {
  append("log", std::string(kLong) + "1\n");
  follow("log", From::kStart);
  EXPECT_TRUE(read().ends_with("1;"));
  append("log", "2\n");
  follower_->look(now_ += 2s);
  std::filesystem::resize_file(path("log"), 0);
  append("log", "x" + std::string(kLong) + "y\nz\n");
  while (follower_->read(now_)) {
  }
  EXPECT_EQ(std::exchange(said_, {}),
            "x2026-11-26 a line t;2026-11-27 another o;2026-11-28 and a thi;2026-11-29 end;y;z;");
  EXPECT_EQ(counts_.truncations, 1U);
}

TEST_F(LogFollowTest, PassesOverTheHoleOfAProgramThatDoesNotAppend) {
  const std::string old(3'000'000, 'o');
  append("log", old + "\n");
  follow("log", From::kStart);
  read();
  // copytruncate: the program writes on at its own offset.
  std::filesystem::resize_file(path("log"), 0);
  std::filesystem::resize_file(path("log"), old.size() + 1);
  append("log", "1\n2\n");
  EXPECT_EQ(read(), "1;2;");
  EXPECT_EQ(counts_.truncations, 1U);
  EXPECT_EQ(counts_.cut, 1U) << "that of before";
  std::filesystem::resize_file(path("log"), old.size() + 1'000);
  EXPECT_EQ(read(), "");
  append("log", "3\n");
  EXPECT_EQ(read(), "3;");
}

TEST_F(LogFollowTest, ReadsWhatOtherWritersAddAfterOneHasClosed) {
  append("log", "");
  follow("log");
  std::ofstream other(path("log"), std::ios::app);
  append("log", "1\n");
  std::filesystem::rename(path("log"), path("log.1"));
  append("log", "2\n");
  EXPECT_EQ(read(), "1;2;");
  EXPECT_EQ(read(5s), "");
  other << "3\n" << std::flush;
  EXPECT_EQ(read(), "3;");
}

// More events than the kernel keeps.
TEST_F(LogFollowTest, LosesNoFileWhereEventsWereDropped) {
  std::ifstream limit("/proc/sys/fs/inotify/max_queued_events");
  int events_max = 0;
  limit >> events_max;
  ASSERT_GT(events_max, 0);
  append("log", "1\n");
  follow("log");
  read();
  for (int i = 0; i <= events_max; ++i) {
    append(i % 2 == 0 ? "a" : "b", "");
    std::filesystem::remove(path(i % 2 == 0 ? "b" : "a"));
  }
  append("log", "2\n");
  std::filesystem::rename(path("log"), path("log.1"));
  append("log", "3\n");
  std::filesystem::rename(path("log"), path("log.2"));
  append("log", "4\n");
  std::string said = read() + read();
  std::ranges::sort(said);
  EXPECT_EQ(said, "234;;;");
}

// Its lines are not confirmed: the next feeder counts them again rather than never.
TEST_F(LogFollowTest, KeepsThePositionOfAFileWhoseLinesAreNotConfirmed) {
  append("log", "1\n");
  auto kept = positions();
  follow("log", From::kStart, &kept);
  read();
  confirms_ = false;
  std::filesystem::rename(path("log"), path("log.1"));
  EXPECT_EQ(read() + read(11s) + read(), "");
  EXPECT_EQ(counts_.files, 0U);
  bool is_followed = false;
  kept.each([&](const PositionRecord& record) { is_followed |= record.is_followed(); });
  EXPECT_TRUE(is_followed);
}

TEST_F(LogFollowTest, KeepsThePlacesOfFilesThatWereLetGoAsLongAsThereIsRoom) {
  Positions kept = Positions::in_memory();
  for (std::uint64_t i = 0; i < 256; ++i) {
    PositionRecord* const record = kept.add({1, i}, "x", first_checkpoint());
    ASSERT_TRUE(record);
    if (i != 7) kept.let_go(*record);
  }
  ASSERT_TRUE(kept.add({1, 256}, "x", first_checkpoint()));
  EXPECT_FALSE(kept.find({1, 0})) << "it was let go first";
  EXPECT_TRUE(kept.find({1, 1}));
  for (std::uint64_t i = 257; i < 511; ++i) ASSERT_TRUE(kept.add({1, i}, "x", first_checkpoint()));
  EXPECT_FALSE(kept.add({1, 511}, "x", first_checkpoint()));
  EXPECT_TRUE(kept.find({1, 7}));
}

TEST_F(LogFollowTest, BeginsAgainWhereTheFileOfPositionsIsBlank) {
  { auto kept = positions(); }
  const auto bytes = std::filesystem::file_size(path("positions"));
  std::filesystem::resize_file(path("positions"), 0);
  std::filesystem::resize_file(path("positions"), bytes);
  {
    auto kept = positions();
    EXPECT_TRUE(kept.was_blank());
    EXPECT_TRUE(kept.was_made());
  }
  auto kept = positions();
  EXPECT_FALSE(kept.was_blank());
}

TEST_F(LogFollowTest, SaysOnceThatFilesAreLeftOut) {
  for (int i = 0; i < 1'500; ++i) append("f" + std::to_string(i) + ".log", "x\n");
  follow("*.log", From::kStart);
  read();
  read();
  EXPECT_EQ(std::ranges::count(reports_, '\n'), 1) << reports_;
  EXPECT_EQ(follower_->missing().size(), 1'244U);
}

TEST_F(LogFollowTest, MissesAPatternThatFindsNothing) {
  follow("*.log", From::kStart);
  EXPECT_EQ(follower_->missing().size(), 1U);
  EXPECT_NE(reports_.find("waits for "), std::string::npos);
}

TEST_F(LogFollowTest, FollowsNoLinkThatAStrangerPutOnTheWay) {
  std::filesystem::create_directories(path("open/ours"));
  append("open/ours/log", "x\n");
  ASSERT_EQ(::chmod(path("open").c_str(), 0777), 0);
  EXPECT_TRUE(open_log(path("open/ours/log"), Found::kByPattern));
  ASSERT_EQ(::symlink(path("open/ours").c_str(), path("open/theirs").c_str()), 0);
  EXPECT_FALSE(open_log(path("open/theirs/log"), Found::kByPattern));
  EXPECT_TRUE(open_log(path("open/theirs/log"), Found::kByName));
  ASSERT_EQ(::symlink(path("open/ours").c_str(), path("link").c_str()), 0);
  EXPECT_TRUE(open_log(path("link/log"), Found::kByPattern)) << "ours";
}

}  // namespace
}  // namespace tallyfs::logs
