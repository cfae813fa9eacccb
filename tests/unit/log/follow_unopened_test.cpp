// Files that are there at the start, and can be opened later only.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/unit/log/follow_fixture.h"

namespace tallyfs::logs {
namespace {

class LogUnopenedTest : public LogFollowTest {
 protected:
  // Beside those that are open now.
  template <typename Do>
  void with_descriptors(rlim_t more, Do what) {
    follower_.reset();
    const Fd lowest(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    rlimit limit{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
    const rlimit few{static_cast<rlim_t>(lowest.get()) + 1 + more, limit.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    what();
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  }
};

// Its end at the start, not that of the moment at which it is opened.
TEST_F(LogUnopenedTest, BeginsAtTheEndOfAFileThatCouldNotBeOpenedAtTheStart) {
  append("log", "old\n");
  with_descriptors(0, [&] { follow("log"); });
  EXPECT_NE(reports_.find("Too many open files"), std::string::npos) << reports_;
  append("log", "new\n");
  EXPECT_EQ(read(), "new;");
}

TEST_F(LogUnopenedTest, BeginsAtTheEndOfFilesForWhichThereWasNoRoomAtTheStart) {
  for (int i = 0; i < 300; ++i) append("f" + std::to_string(i) + ".log", "old\n");
  follow("*.log");
  EXPECT_EQ(read(), "");
  for (int i = 0; i < 300; ++i) append("f" + std::to_string(i) + ".log", "new\n");
  std::string said = read();
  EXPECT_EQ(said.size(), 256 * 4U);
  for (const auto& file : std::filesystem::directory_iterator(path("."))) {
    const std::string name = file.path().filename();
    const bool is_read = !follower_->missing().contains(path(name));
    if (name.ends_with(".log") && is_read) std::filesystem::remove(file.path());
  }
  said += read();
  said += read(11s) + read();
  EXPECT_EQ(said.size(), 300 * 4U) << said;
  EXPECT_EQ(said.find("old"), std::string::npos);
}

TEST_F(LogUnopenedTest, ContinuesInAFileThatCouldNotBeOpenedAtTheStart) {
  append("log", "1\n");
  follow_for_a_while("log", From::kStart, [&](Positions&) { EXPECT_EQ(read(), "1;"); });
  append("log", "2\n");
  auto kept = positions();
  // The folder can be read, and the file cannot: inotify has one of the two.
  with_descriptors(2, [&] { follow("log", From::kEnd, &kept); });
  EXPECT_EQ(read(), "2;") << reports_;
  EXPECT_EQ(counts_.missed, 0U) << reports_;
}

}  // namespace
}  // namespace tallyfs::logs
