// What the keeper says, and that it needs no memory for that.
#include "fs/daemon/keeper_log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <regex>
#include <string>

#include "tests/unit/allocated.h"

namespace tallyfs {
namespace {

// What is written to stderr meanwhile; a pipe has room for it.
std::string said_by(const std::function<void()>& say) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const int before = ::dup(STDERR_FILENO);
  ::dup2(ends[1], STDERR_FILENO);
  ::close(ends[1]);
  const std::size_t allocated = allocated_bytes();
  say();
  EXPECT_EQ(allocated_bytes(), allocated);
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  std::string text(4096, '\0');
  const ssize_t size = ::read(ends[0], text.data(), text.size());
  ::close(ends[0]);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

TEST(KeeperLogTest, NeedsNoMemoryInTheJournal) {
  set_keeper_log(LogPlace::kJournal);
  EXPECT_EQ(said_by([] { log_end("each server crashes"); }), "<3>the end: each server crashes\n");
  EXPECT_EQ(said_by([] { log_refused_program("it ended with status 3"); }),
            "<3>reload: the program on disk refuses: it ended with status 3; this one goes on\n");
  EXPECT_EQ(said_by([] { log_no_program(ENOENT); }),
            "<3>reload: cannot execute: No such file or directory\n");
}

TEST(KeeperLogTest, HasTheFormOfOtherLinesOnATerminal) {
  set_keeper_log(LogPlace::kTerminal);
  const std::string line = said_by([] { log_end("x"); });
  const std::regex form(
      R"(\[20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\] \[tallyfs\] \[error\] the end: x\n)");
  EXPECT_TRUE(std::regex_match(line, form)) << line;
}

TEST(KeeperLogTest, ALongLineIsCutAndWithoutALogThereIsNone) {
  set_keeper_log(LogPlace::kJournal);
  const std::string reason(2 * kKeeperLineMax, 'x');
  EXPECT_EQ(said_by([&] { log_end(reason.c_str()); }).size(), kKeeperLineMax + 1);
  set_keeper_log(LogPlace::kNowhere);
  EXPECT_EQ(said_by([] { log_refused_program("x"); }).size(), 0u);
}

}  // namespace
}  // namespace tallyfs
