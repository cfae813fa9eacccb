// When positions are stored: with what they count, and in an order that a kill does not reach.
#include <gtest/gtest.h>

#include "core/base/clock.h"
#include "feeders/log/position_committer.h"
#include "tests/unit/temporary_directory.h"

namespace tallyfs::logs {
namespace {

class LogCommitterTest : public testing::Test {
 protected:
  LogCommitterTest() {
    record_->store(1'000);
    record_->store(Checkpoint{900, 7});
    // The next line waits for the second one.
    committer_.store(record_, 1'000, true);
    is_confirmed_ = false;
  }

  static Positions open(const std::string& path) {
    auto opened = Positions::open(path);
    EXPECT_TRUE(opened.has_value());
    return std::move(opened.value());
  }

  TemporaryDirectory directory_;
  Positions positions_ = open(directory_ / "positions");
  PositionRecord* const record_ = positions_.add({1, 2}, "log", first_checkpoint());
  bool is_confirmed_ = true;
  bool holds_ = true;
  int asked_ = 0;
  PositionCommitter committer_{positions_,
                               [this] {
                                 asked_ += 1;
                                 return is_confirmed_;
                               },
                               [this] { return holds_; }};
};

TEST_F(LogCommitterTest, StoresNoOffsetWhoseLinesAreNotConfirmed) {
  committer_.store(record_, 1'100, true);
  committer_.store(record_, 1'200, false);
  EXPECT_EQ(record_->offset(), 1'000U);
  EXPECT_EQ(positions_.lines_ahead(), 2U) << "so many count twice after a kill";
  is_confirmed_ = true;
  EXPECT_TRUE(committer_.commit());
  EXPECT_EQ(record_->offset(), 1'200U);
  EXPECT_EQ(positions_.lines_ahead(), 0U);
}

TEST_F(LogCommitterTest, StoresAtOnceWhatLibtallyDoesNotHold) {
  holds_ = false;
  asked_ = 0;
  committer_.store(record_, 1'100, true);
  EXPECT_EQ(record_->offset(), 1'100U);
  EXPECT_EQ(positions_.lines_ahead(), 0U);
  EXPECT_EQ(asked_, 0);
}

// The first line of the stand was one by itself.
TEST_F(LogCommitterTest, ConfirmsAThousandLinesAtATimeAtMost) {
  is_confirmed_ = true;
  std::uint64_t offset = 1'000;
  for (const int lines : {2, 4, 8, 16, 32, 64, 128, 256, 512, 1'000, 1'000}) {
    asked_ = 0;
    for (int i = 1; i < lines; ++i) committer_.store(record_, ++offset, true);
    EXPECT_EQ(asked_, 0) << lines;
    committer_.store(record_, ++offset, true);
    EXPECT_EQ(asked_, 1) << lines;
    EXPECT_EQ(record_->offset(), offset);
  }
}

TEST_F(LogCommitterTest, ConfirmsAfterATenthOfASecond) {
  EXPECT_FALSE(committer_.is_due());
  const auto begun = SystemClock::monotonic();
  committer_.store(record_, 1'100, true);
  while (!committer_.is_due()) {
  }
  EXPECT_GE(SystemClock::monotonic() - begun, std::chrono::milliseconds(100));
}

TEST_F(LogCommitterTest, StoresTheCheckpointOfACutFileWithItsOffset) {
  committer_.begin_again(*record_, {.checkpoint = first_checkpoint()});
  committer_.keep(*record_, first_checkpoint(), "");
  committer_.store(record_, 200, true);
  committer_.keep(*record_, {200, 8}, "");
  EXPECT_EQ(record_->offset(), 1'000U);
  EXPECT_EQ(record_->checkpoint(), (Checkpoint{900, 7})) << "that of the offset that is stored";
  is_confirmed_ = true;
  EXPECT_TRUE(committer_.commit());
  EXPECT_EQ(record_->offset(), 200U);
  EXPECT_EQ(record_->checkpoint(), (Checkpoint{200, 8}));
}

TEST_F(LogCommitterTest, KeepsNoCheckpointBeyondItsOffset) {
  committer_.store(record_, 1'100, true);
  committer_.keep(*record_, {1'200, 8}, "");
  is_confirmed_ = true;
  EXPECT_TRUE(committer_.commit());
  EXPECT_EQ(record_->offset(), 1'100U);
  EXPECT_EQ(record_->checkpoint(), (Checkpoint{900, 7}));
  committer_.keep(*record_, {1'200, 8}, "");
  EXPECT_EQ(record_->checkpoint(), (Checkpoint{900, 7}));
  committer_.keep(*record_, {1'100, 9}, "");
  EXPECT_EQ(record_->checkpoint(), (Checkpoint{1'100, 9}));
}

}  // namespace
}  // namespace tallyfs::logs
