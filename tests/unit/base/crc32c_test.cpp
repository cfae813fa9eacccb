// The checksum of saved state.
#include "core/base/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace tallyfs {
namespace {

// From RFC 3720, B.4, and the check value that every catalogue of checksums has.
TEST(Crc32cTest, EqualsThePublishedValues) {
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  std::string ascending;
  for (char byte = 0; byte < 32; ++byte) ascending.push_back(byte);
  EXPECT_EQ(crc32c(ascending), 0x46dd794eu);
}

TEST(Crc32cTest, IsTheSameInParts) {
  const std::string text = "one checksum of two parts, wherever they meet";
  for (std::size_t at = 0; at <= text.size(); ++at) {
    EXPECT_EQ(crc32c(text.substr(at), crc32c(text.substr(0, at))), crc32c(text)) << at;
  }
}

}  // namespace
}  // namespace tallyfs
