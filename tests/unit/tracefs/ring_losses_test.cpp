#include "feeders/tracefs/ring_losses.h"

#include <gtest/gtest.h>

namespace tallyfs {
namespace {

TEST(RingLossesTest, AreWhatGaveWayAndWhatWasDropped) {
  EXPECT_EQ(parse_ring_losses("entries: 7\noverrun: 339252\ncommit overrun: 5\nbytes: 1224\n"
                              "oldest event ts:   989.731069\nnow ts:   991.000000\n"
                              "dropped events: 11\nread events: 60\n"),
            339'263u);
  EXPECT_EQ(parse_ring_losses("overrun: 0\ndropped events: 0"), 0u);
}

TEST(RingLossesTest, AreNotInOtherTexts) {
  for (const char* const text :
       {"", "overrun: 7\n", "dropped events: 7\n", "overrun: x\ndropped events: 7\n", "overrun"}) {
    EXPECT_FALSE(parse_ring_losses(text)) << text;
  }
}

}  // namespace
}  // namespace tallyfs
