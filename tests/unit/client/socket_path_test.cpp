#include "feeders/client/socket_path.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace tallyfs {
namespace {

TEST(SocketPathTest, SaysWhatToDoWhereNoDaemonServesIt) {
  EXPECT_EQ(find_socket_path("/a").hint(), "is that the --socket of a tallyfs that runs?");
  ::setenv("TALLY_SOCKET", "/b", 1);
  EXPECT_EQ(find_socket_path("").hint(),
            "TALLY_SOCKET names it: is that the --socket of a tallyfs that runs?");
  ::unsetenv("TALLY_SOCKET");
  EXPECT_EQ(find_socket_path("").hint(), "start tallyfs, or set TALLY_SOCKET to its --socket");
}

}  // namespace
}  // namespace tallyfs
