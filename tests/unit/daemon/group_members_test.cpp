// Members of a group, as /proc says of real processes.
#include "fs/daemon/group_members.h"

#include <grp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

namespace tallyfs {
namespace {

constexpr gid_t kAsked = 4242;
constexpr gid_t kOther = 4343;

// A process with these groups, which ends with this object.
class Process {
 public:
  Process(gid_t real, gid_t effective, gid_t supplementary) {
    std::array<int, 2> ready{};
    EXPECT_EQ(::pipe(ready.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      const bool is_set = ::setgroups(1, &supplementary) == 0 &&
                          ::setresgid(real, effective, effective) == 0 &&
                          ::write(ready[1], "r", 1) == 1;
      if (is_set) ::pause();
      ::_exit(1);
    }
    ::close(ready[1]);
    char said = 0;
    EXPECT_EQ(::read(ready[0], &said, 1), 1);
    ::close(ready[0]);
  }
  ~Process() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  Sender sender() const { return Sender(::getuid(), pid_); }

 private:
  pid_t pid_ = 0;
};

TEST(GroupMembersTest, HaveTheGroupAsTheRealOneOrAsAnother) {
  if (::getuid() != 0) GTEST_SKIP() << "root alone sets groups";
  EXPECT_TRUE(is_member(Process(kAsked, kOther, kOther).sender(), kAsked));
  EXPECT_TRUE(is_member(Process(kOther, kOther, kAsked).sender(), kAsked));
  EXPECT_FALSE(is_member(Process(kOther, kOther, kOther).sender(), kAsked));
  // As a set-gid program has it, which a sender may execute after its request.
  EXPECT_FALSE(is_member(Process(kOther, kAsked, kOther).sender(), kAsked));
}

TEST(GroupMembersTest, AProcessOfAnotherUidIsNone) {
  if (::getuid() != 0) GTEST_SKIP() << "root alone sets groups";
  const Process process(kAsked, kAsked, kAsked);
  EXPECT_FALSE(is_member(Sender(::getuid() + 1, process.sender().pid), kAsked));
  EXPECT_FALSE(is_member(Sender(::getuid(), 0), kAsked));
}

}  // namespace
}  // namespace tallyfs
