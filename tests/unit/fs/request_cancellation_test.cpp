#include "fs/request_cancellation.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace tallyfs {
namespace {

// A process that has stopped, and takes no signal until it goes on; it handles all that it is sent.
class InterruptionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    child_ = ::fork();
    ASSERT_GE(child_, 0);
    if (child_ == 0) be_stopped();
    int status = 0;
    ASSERT_EQ(::waitpid(child_, &status, WUNTRACED), child_);
    ASSERT_TRUE(WIFSTOPPED(status));
  }
  void TearDown() override {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

  [[noreturn]] static void be_stopped() {
    for (const int each : {SIGINT, SIGCHLD, SIGALRM, SIGTERM}) ::signal(each, [](int) {});
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
    for (;;) ::raise(SIGSTOP);
  }

  pid_t child_ = -1;
};

TEST_F(InterruptionTest, OneWhoseChildHasEndedOrWhoseTimerRangGoesOnWaiting) {
  ASSERT_EQ(::kill(child_, SIGCHLD), 0);
  ASSERT_EQ(::kill(child_, SIGALRM), 0);
  EXPECT_FALSE(is_told_to_end(child_));
}

TEST_F(InterruptionTest, CtrlCEndsIt) {
  ASSERT_EQ(::kill(child_, SIGINT), 0);
  EXPECT_TRUE(is_told_to_end(child_));
}

TEST_F(InterruptionTest, ASignalThatIsBlockedDoesNot) {
  ASSERT_EQ(::kill(child_, SIGTERM), 0);
  EXPECT_FALSE(is_told_to_end(child_));
}

TEST(AbsentThreadTest, OfAThreadThatIsNotThereNothingIsLearnt) { EXPECT_FALSE(is_told_to_end(0)); }

}  // namespace
}  // namespace tallyfs
