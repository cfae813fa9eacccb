// When positions are stored: with what they count, and in an order that a kill does not reach.
#include <gtest/gtest.h>

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
  PositionCommitter committer_{positions_, [this] { return is_confirmed_; }, [] { return true; }};
};

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
