#include "tools/past/store_log.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

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
  EXPECT_EQ(log_holders_of(locks, 4711, ""),
            (std::vector<LogHolder>{{101, 124}, {101, 127}, {106, 123}}));
  EXPECT_EQ(log_holders_of("", 4711, ""), std::vector<LogHolder>());
}

TEST(StoreLogTest, AReaderIsBehindWhereMoreWasCommittedSinceItBegan) {
  const std::string locks =
      "1: POSIX  ADVISORY  READ  101 08:01:4711 123 123\n"
      "2: POSIX  ADVISORY  READ  102 08:01:4711 124 124\n"
      "3: POSIX  ADVISORY  READ  103 08:01:4711 127 127\n";
  std::array<std::uint32_t, 34> index{};
  index[4] = 900;                  // mxFrame
  index[24] = 700;                 // nBackfill
  index[26] = 900, index[29] = 800;  // aReadMark[1] and [4]
  const std::string_view bytes(reinterpret_cast<const char*>(index.data()), sizeof index);
  EXPECT_EQ(log_holders_of(locks, 4711, bytes),
            (std::vector<LogHolder>{
                {101, 123, 700, true}, {102, 124, 900, false}, {103, 127, 800, true}}));
}

}  // namespace
}  // namespace tallyfs::past
