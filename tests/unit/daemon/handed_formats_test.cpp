#include "fs/daemon/transfer_formats.h"

#include <gtest/gtest.h>

namespace tallyfs {
namespace {

TEST(TransferFormatsTest, ThisVersionReadsItsOwnAndThoseOfOneThatLeavesLess) {
  EXPECT_TRUE(check_handed_formats(transfer_formats()));
  EXPECT_TRUE(check_handed_formats("32:1"));
  EXPECT_TRUE(check_handed_formats(""));
}

TEST(TransferFormatsTest, AnotherFormatOrKindIsRefused) {
  for (const char* const others : {"32:2", "32:1 63:1", "16:1", "64:1", "9999999999:1", "32", "32:",
                                   "32:1x", "nonsense", "32:-1"}) {
    EXPECT_FALSE(check_handed_formats(others)) << others;
  }
  EXPECT_NE(check_handed_formats("35:9").error().reason.find("35:9"), std::string::npos);
}

}  // namespace
}  // namespace tallyfs
