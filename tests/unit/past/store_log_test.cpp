#include "tools/past/store_log.h"

#include <gtest/gtest.h>

namespace tallyfs::past {
namespace {

// Byte 128 is locked by each connection; a lock that is waited for is none. The writer has 120, and
// reads in its transaction, too.
TEST(StoreLogTest, ReadersInATransactionHoldTheLog) {
  const std::string locks =
      "1: POSIX  ADVISORY  READ  100 08:01:4711 128 128\n"
      "2: POSIX  ADVISORY  READ  101 08:01:4711 124 124\n"
      "3: POSIX  ADVISORY  READ  101 08:01:4711 127 128\n"
      "4: POSIX  ADVISORY  READ  102 08:01:4711 125 125\n"
      "4: POSIX  ADVISORY  WRITE 102 08:01:4711 120 120\n"
      "5: POSIX  ADVISORY  READ  103 08:01:47111 124 124\n"
      "6: FLOCK  ADVISORY  WRITE 104 08:01:4711 0 EOF\n"
      "6: -> POSIX  ADVISORY  WRITE 105 08:01:4711 124 124\n"
      "7: POSIX  ADVISORY  READ  0 08:01:4711 124 124\n"
      "8: POSIX  ADVISORY  READ  106 fd:00:4711 123 127\n";
  EXPECT_EQ(log_holders_of(locks, 4711),
            (std::vector<LogHolder>{{101, 124}, {101, 127}, {106, 123}}));
  EXPECT_EQ(log_holders_of("", 4711), std::vector<LogHolder>());
}

}  // namespace
}  // namespace tallyfs::past
