#include "fs/daemon/kernel_feeder/feeder_supervisor.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>

namespace tallyfs {
namespace {

TEST(FeederSupervisorTest, SaysThatASocketWithoutAPathWillNotDo) {
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const std::string name = "tallyfs-test-" + std::to_string(::getpid());
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  const auto socket = FeedSocket::adopt(fd);
  ASSERT_TRUE(socket);
  const auto started = start_feeder_supervisor(socket.value(), FeederLog::kStderr,
                                               [] { return Result<void>(); });
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, ErrorCode::kInvalid);
  EXPECT_NE(started.error().reason.find("a socket with a path"), std::string::npos);
}

}  // namespace
}  // namespace tallyfs
