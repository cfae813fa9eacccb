// Files that are cut while the feeder runs, and the copies that copytruncate makes before.
#include "core/base/clock.h"
#include "tests/unit/log/follow_fixture.h"

namespace tallyfs::logs {
namespace {

TEST_F(LogFollowTest, ReadsOnInTheCopyWhatItHadNotReadBeforeACut) {
  append("log", kLong);
  follow("log", From::kStart);
  read();
  append("log", "5\n");
  copy_and_cut("log.1");
  append("log", "6\n");
  std::string said = read() + read();
  std::ranges::sort(said);
  EXPECT_EQ(said, "56;;");
  EXPECT_EQ(counts_.unread, 0U);
}

TEST_F(LogFollowTest, ReadsOnInTheCopiesOfCutsThatCameTogether) {
  append("log", "1\n");
  follow("log", From::kStart);
  read();
  for (int i = 2; i <= 4; ++i) {
    append("log", std::to_string(i) + "\n");
    copy_and_cut("log." + std::to_string(i));
    wait_for_the_clock_of_births();
  }
  append("log", "5\n");
  std::string said = read() + read();
  std::ranges::sort(said);
  EXPECT_EQ(said, "2345;;;;");
}

TEST_F(LogFollowTest, ReadsTheCopyOfALogOfWhichNothingWasRead) {
  append("log", "1\n");
  follow("log", From::kStart);
  follower_->look(now_);
  copy_and_cut("log.1");
  append("log", "a longer line\n");
  std::string said = read() + read();
  EXPECT_NE(said.find("1;"), said.npos) << said;
  EXPECT_NE(said.find("a longer line;"), said.npos) << said;
}

// The log was empty before, and is empty again.
TEST_F(LogFollowTest, ReadsTheCopyOfALogThatWasWrittenAndCutBetweenTwoLooks) {
  append("log", "");
  follow("log", From::kStart);
  EXPECT_EQ(read(), "");
  append("log", "1\n");
  copy_and_cut("log.1");
  append("log", "2\n");
  std::filesystem::copy(path("log"), path("log.2"));  // its cut is still to come
  append("log.errors", "no log\n");
  std::string said = read() + read();
  std::ranges::sort(said);
  EXPECT_EQ(said, "12;;");
}

// Names are looked at when they change, and copies once a second.
TEST_F(LogFollowTest, ReadsACopyAfterAKillThatCameBeforeTheLookForCopies) {
  append("log", "");
  follow_for_a_while("log", From::kStart, [&](Positions&) {
    EXPECT_EQ(read(), "");
    append("log", "1\n");
    copy_and_cut("log.1");
    const auto made = SystemClock::realtime();
    while (SystemClock::realtime() < made + 200ms) {
    }
    append("other", "");
    EXPECT_EQ(read(10ms), "");
  });
  auto kept = positions();
  follow("log", From::kEnd, &kept);
  EXPECT_EQ(read(), "1;");
}

// gunzip gives a file the time at which its log was written last.
TEST_F(LogFollowTest, DoesNotCountAnOldLogThatIsUnpacked) {
  for (const char* const text : {kLong, ""}) {
    SCOPED_TRACE(text);
    std::filesystem::remove(path("log.2"));
    std::filesystem::remove(path("log"));
    append("log", text);
    follow("log", From::kStart);
    read();
    wait_for_the_clock_of_births();
    append("log.2", "old\n");
    std::filesystem::last_write_time(path("log.2"),
                                     std::filesystem::file_time_type::clock::now() - 48h);
    EXPECT_EQ(read() + read(), "");
  }
}

TEST_F(LogFollowTest, DoesNotCountAnOldLogBesideAnEmptyOne) {
  append("log", "");
  follow("log", From::kStart);
  EXPECT_EQ(read(), "");
  wait_for_the_clock_of_births();
  append("log.2", "old\n");
  EXPECT_EQ(read() + read(), "");
  append("log", "1\n");
  EXPECT_EQ(read() + read(), "1;");
}

TEST_F(LogFollowTest, DoesNotCountAnOldLogThatIsUnpackedWhileItDoesNotRun) {
  for (const char* const text : {kLong, ""}) {
    SCOPED_TRACE(text);
    for (const char* const each : {"log", "log.2", "positions"}) {
      std::filesystem::remove(path(each));
    }
    append("log", text);
    follow_for_a_while("log", From::kStart, [&](Positions&) { read(); });
    wait_for_the_clock_of_births();
    append("log.2", "old\n");
    auto kept = positions();
    follow("log", From::kEnd, &kept);
    EXPECT_EQ(read() + read(), "");
  }
}

// It has the time of now while it is unpacked.
TEST_F(LogFollowTest, DoesNotCountAnOldLogBesideOneThatHasOnlyGrown) {
  append("log", kLong);
  follow("log");
  append("log", "1\n");
  EXPECT_EQ(read(), "1;");
  wait_for_the_clock_of_births();
  append("log.2", "old\n");
  EXPECT_EQ(read() + read(), "");
}

TEST_F(LogFollowTest, CountsWhatWasCutOffUnread) {
  append("log", kLong);
  follow("log", From::kStart);
  read();
  append("log", "5\n");
  now_ += 2s;
  follower_->look(now_);  // it sees that there is more
  std::filesystem::resize_file(path("log"), 0);
  append("log", "6\n");
  EXPECT_EQ(read() + read(), "6;");
  EXPECT_EQ(counts_.unread, 2U);
  EXPECT_NE(reports_.find("lost: " + path("log") + ": was cut before 2 bytes"), reports_.npos)
      << reports_;
}

TEST_F(LogFollowTest, ContinuesInACopyAfterAKill) {
  append("log", kLong);
  follow_for_a_while("log", From::kStart, [&](Positions&) {
    read();
    append("log", "5\n");
    copy_and_cut("log.1");
    now_ += 2s;
    follower_->look(now_);  // sees the cut and opens the copy
  });
  append("log", "6\n");
  auto kept = positions();
  kept.set_scanned(SystemClock::realtime() + 1s);
  follow("log", From::kEnd, &kept);
  std::string said = read() + read();
  std::ranges::sort(said);
  EXPECT_EQ(said, "56;;");
}

TEST_F(LogFollowTest, DoesNotCountACopyAgainThatWasMadeJustBeforeAKill) {
  for (const char* const text : {"1\n", kLong}) {
    SCOPED_TRACE(text);
    std::filesystem::remove(path("log.1"));
    std::filesystem::remove(path("positions"));
    std::filesystem::remove(path("log"));
    append("log", text);
    follow_for_a_while("log", From::kStart, [&](Positions&) {
      read();
      copy_and_cut("log.1");
      append("log", "5\n");
      EXPECT_EQ(read(), "5;");
    });
    append("log", "6\n");
    auto kept = positions();
    follow("log", From::kEnd, &kept);
    EXPECT_EQ(read() + read(), "6;");
  }
}

TEST_F(LogFollowTest, ReadsTheRestInACopyThatWasMadeBeforeAStart) {
  append("log", kLong);
  follow_for_a_while("log", From::kStart, [&](Positions&) { read(); });
  append("log", "5\n");
  std::filesystem::copy(path("log"), path("log.1"));
  auto kept = positions();
  follow("log", From::kEnd, &kept);
  std::filesystem::resize_file(path("log"), 0);
  append("log", "6\n");
  std::string said = read() + read();
  std::ranges::sort(said);
  EXPECT_EQ(said, "56;;");
}

// More than are held at a time.
TEST_F(LogFollowTest, FindsTheCopyAmongManyThatWereMadeBeforeAStart) {
  for (int i = 0; i < 200; ++i) append("log." + std::to_string(i), std::to_string(i) + "\n");
  wait_for_the_clock_of_births();
  append("log", kLong);
  follow("log", From::kStart);
  read();
  append("log", "5\n");
  copy_and_cut("log.200");
  EXPECT_EQ(read() + read(), "5;");
}

TEST_F(LogFollowTest, DoesNotCountAShortCopyAgainThatWasNotCutYet) {
  append("log", "1\n");
  follow_for_a_while("log", From::kStart, [&](Positions&) { read(); });
  std::filesystem::copy(path("log"), path("log.1"));
  auto kept = positions();
  follow("log", From::kEnd, &kept);
  EXPECT_EQ(read() + read(), "");
}

TEST_F(LogFollowTest, DoesNotCountACopyAgainThatIsMadeDuringAStart) {
  const std::string text = std::string(kLong) + "5\n";
  for (const std::size_t bytes : {0U, 100U, 270U, 282U}) {
    SCOPED_TRACE(bytes);
    for (const char* const each : {"log", "log.1", "positions"}) {
      std::filesystem::remove(path(each));
    }
    append("log", kLong);
    follow_for_a_while("log", From::kStart, [&](Positions&) { read(); });
    append("log", "5\n");
    ASSERT_LT(bytes, text.size());
    append("log.1", text.substr(0, bytes));
    auto kept = positions();
    follow("log", From::kEnd, &kept);
    append("log.1", text.substr(bytes));
    std::filesystem::resize_file(path("log"), 0);
    append("log", "6\n");
    std::string said = read() + read();
    std::ranges::sort(said);
    EXPECT_EQ(said, "56;;");
  }
}

TEST_F(LogFollowTest, CountsALogOnceOfWhichNothingWasCountedAndThatWasCopied) {
  append("log", kLong);
  follow_for_a_while("log", From::kStart, [&](Positions&) {
    read();
    copy_and_cut("log.1");
    EXPECT_EQ(read(), "");
  });
  append("log", "5\n");
  std::filesystem::copy(path("log"), path("log.2"));
  auto kept = positions();
  follow("log", From::kEnd, &kept);
  EXPECT_EQ(read(), "5;");
  std::filesystem::resize_file(path("log"), 0);
  EXPECT_EQ(read() + read(), "");
}

// A kill after the cut was found, and before its copy was opened.
TEST_F(LogFollowTest, ContinuesInACopyThatHasNoPositionYet) {
  append("log", kLong);
  follow_for_a_while("log", From::kStart, [&](Positions& kept) {
    read();
    append("log", "5\n");
    copy_and_cut("log.1");
    kept.each([](PositionRecord& record) { record.begin_again(record.counted()); });
  });
  append("log", "6\n");
  auto kept = positions();
  kept.set_scanned(SystemClock::realtime() + 1s);
  follow("log", From::kEnd, &kept);
  std::string said = read() + read();
  std::ranges::sort(said);
  EXPECT_EQ(said, "56;;");
}

TEST_F(LogFollowTest, ContinuesInACopyAfterAKillWhileAPositionBeganAgain) {
  append("log", kLong);
  follow_for_a_while("log", From::kStart, [&](Positions& kept) {
    read();
    append("log", "5\n");
    copy_and_cut("log.1");
    kept.each([](PositionRecord& record) { record.store(0); });
  });
  append("log", "6\n");
  auto kept = positions();
  follow("log", From::kEnd, &kept);
  std::string said = read() + read();
  std::ranges::sort(said);
  EXPECT_EQ(said, "56;;");
}

// Each time a log begins with the same lines.
TEST_F(LogFollowTest, ReadsACopyThatBeginsAsTheLogDoes) {
  append("log", "head\n");
  follow_for_a_while("log", From::kStart, [&](Positions&) { read(); });
  append("log", "5\n");
  copy_and_cut("log.1");
  append("log", "head\n");
  auto kept = positions();
  follow("log", From::kEnd, &kept);
  EXPECT_EQ(read() + read(), "head;5;");
}

// What a program writes between the copy and the cut is in no copy.
TEST_F(LogFollowTest, CountsOnceWhatACopyHasThatWasMadeBeforeTheLastLines) {
  for (const char* const text : {"1\n", kLong}) {
    SCOPED_TRACE(text);
    std::filesystem::remove(path("log"));
    std::filesystem::remove(path("log.1"));
    append("log", text);
    follow("log", From::kStart);
    read();
    std::filesystem::copy(path("log"), path("log.1"));
    append("log", "5\n");
    EXPECT_EQ(read(10ms), "5;");
    std::filesystem::resize_file(path("log"), 0);
    append("log", "6\n");
    EXPECT_EQ(read() + read(), "6;");
    EXPECT_EQ(counts_.unread, 0U);
  }
}

TEST_F(LogFollowTest, CountsOnceWhatSuchACopyHasAfterAKill) {
  for (const char* const text : {"1\n", kLong}) {
    SCOPED_TRACE(text);
    for (const char* const each : {"log", "log.1", "positions"}) {
      std::filesystem::remove(path(each));
    }
    append("log", text);
    follow_for_a_while("log", From::kStart, [&](Positions&) {
      read();
      std::filesystem::copy(path("log"), path("log.1"));
      append("log", "5\n");
      EXPECT_EQ(read(10ms), "5;");
    });
    std::filesystem::resize_file(path("log"), 0);
    append("log", "6\n");
    auto kept = positions();
    follow("log", From::kEnd, &kept);
    EXPECT_EQ(read() + read(), "6;");
  }
}

TEST_F(LogFollowTest, ReadsTheRestInEachCopyOverTheCopyBefore) {
  append("log", kLong);
  follow("log", From::kStart);
  read();
  for (int i = 1; i <= 4; ++i) {
    append("log", "a line of round " + std::to_string(i) + "\n");
    EXPECT_EQ(read(10ms), "a line of round " + std::to_string(i) + ";");
    append("log", "unread\n");
    std::filesystem::copy(path("log"), path("log.1"),
                          std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(path("log"), 0);
    EXPECT_EQ(read(i % 2 == 0 ? 2s : 20s) + read(), "unread;");
  }
}

// Also while no file is read, as where the daemon has not said yet which events are wanted.
TEST_F(LogFollowTest, ReadsOnInACopyOverAnOlderOneThatIsCompressedAtOnce) {
  append("log.1", "old\n");
  append("log", kLong);
  follow("log", From::kStart);
  read();
  append("log", "5\n");
  std::filesystem::copy(path("log"), path("log.1"),
                        std::filesystem::copy_options::overwrite_existing);
  std::filesystem::resize_file(path("log"), 0);
  follower_->look_at_names(now_ += 1s);
  std::filesystem::remove(path("log.1"));
  EXPECT_EQ(read() + read(), "5;");
}

TEST_F(LogFollowTest, ReadsOnInACopyThatIsCompressedAtOnce) {
  append("log", kLong);
  follow("log", From::kStart);
  read();
  append("log", "5\n");
  copy_and_cut("log.1");
  follower_->look_at_names(now_);
  std::filesystem::remove(path("log.1"));
  EXPECT_EQ(read() + read(), "5;");
}

}  // namespace
}  // namespace tallyfs::logs
