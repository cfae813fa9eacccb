// What does not fit, or is out of its range, makes the rest not to be trusted.
#include "core/base/bytes.h"

#include <gtest/gtest.h>

namespace tallyfs {
namespace {

TEST(BytesTest, AFlagIsZeroOrOne) {
  ByteReader in(std::string_view("\0\1\2\1", 4));
  EXPECT_FALSE(in.get_flag());
  EXPECT_TRUE(in.get_flag());
  EXPECT_TRUE(in.ok());
  EXPECT_FALSE(in.get_flag());
  EXPECT_FALSE(in.ok());
  EXPECT_FALSE(in.get_flag()) << "behind a failure there are zeros";
}

TEST(BytesTest, BehindTheEndAreZeros) {
  ByteReader in(std::string_view("\1", 1));
  EXPECT_EQ(in.get<std::uint16_t>(), 0u);
  EXPECT_FALSE(in.ok());
  EXPECT_FALSE(in.get_flag());
  EXPECT_EQ(in.get_text(), "");
}

}  // namespace
}  // namespace tallyfs
