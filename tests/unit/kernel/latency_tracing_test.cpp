#include "feeders/kernel/latency_tracing.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"

namespace tallyfs {
namespace {

// The refusal of an unprivileged process, as an exit status: 0 is as it should be.
int want_without_rights() {
  const SystemClock clock;
  Link link("/nowhere");
  EventShipper shipper(link);
  LatencyTracing tracing(shipper, clock);
  const auto done = tracing.want({.wakeups = true}, {});
  if (done) return 1;
  // A kernel without tracefs says so to everybody.
  const bool is_told =
      done.error().code == ErrorCode::kNoAccess || done.error().code == ErrorCode::kNoDevice;
  return is_told && !done.error().reason.empty() && !tracing.recording() ? 0 : 2;
}

TEST(LatencyTracingTest, TellsAUserOtherThanRootThatItIsForbidden) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) ::_exit(3);
    ::_exit(want_without_rights());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(LatencyTracingTest, WantsNothingWithoutTouchingAnything) {
  const SystemClock clock;
  Link link("/nowhere");
  EventShipper shipper(link);
  LatencyTracing tracing(shipper, clock);
  EXPECT_TRUE(tracing.want({}, {1, 2}));
  EXPECT_EQ(tracing.recording(), nullptr);
}

}  // namespace
}  // namespace tallyfs
