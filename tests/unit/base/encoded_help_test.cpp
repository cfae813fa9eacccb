#include <gtest/gtest.h>

#include "core/base/encoded_name.h"

namespace tallyfs {
namespace {

TEST(EncodedHelpTest, ATextBecomesOneWordFromWhichItComesBack) {
  EXPECT_EQ(encoded_help("Time in queue"), "Time%20in%20queue");
  EXPECT_EQ(encoded_help("a=b/{c}, 50 % \"x\"~|"), "a=b/{c},%2050%20%25%20%22x%22~|");
  EXPECT_EQ(encoded_help("caf\xC3\xA9"), "caf\xC3\xA9");
  EXPECT_EQ(encoded_help("\n\x1b\x7f\xff"), "%0A%1B%7F%FF");
  // A blank that is none of ASCII's, and a mark that turns the direction of text.
  EXPECT_EQ(encoded_help("\xC2\xA0\xE2\x80\xAE"), "%C2%A0%E2%80%AE");
  EXPECT_EQ(encoded_help("-"), "%2D");
  EXPECT_EQ(encoded_help(""), "");
  for (const char* const text : {"Time in queue", "50 %20", "-", "\n\xff"}) {
    EXPECT_EQ(without_escapes(encoded_help(text)), text);
  }
}

TEST(HexDigitTest, HasBothCasesAndNothingElse) {
  EXPECT_EQ(hex_digit('7'), 7u);
  EXPECT_EQ(hex_digit('a'), 10u);
  EXPECT_EQ(hex_digit('F'), 15u);
  for (const char each : {'g', 'G', '/', ':', '@', '`', '\0', '\xff'}) EXPECT_FALSE(is_hex(each));
}

}  // namespace
}  // namespace tallyfs
