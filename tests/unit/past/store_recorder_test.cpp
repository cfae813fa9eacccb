// The moments that a recorder reads, of a mount that is played here.
#include "tools/ctl/store_recorder.h"

#include <gtest/gtest.h>

#include "tests/unit/temporary_directory.h"
#include "tools/ctl/commands.h"
#include "tools/tree/json.h"

namespace tallyfs {
namespace {

// A mount without interfaces. The recorder is interrupted while it reads moment `at`. The first
// moments cannot be read, for these reasons.
class InterruptingMount : public Source {
 public:
  InterruptingMount(int at, std::vector<ErrorCode> errors, bool& is_interrupted, int& moments)
      : at_(at), errors_(std::move(errors)), is_interrupted_(is_interrupted), moments_(moments) {}

  Result<Json> tree() override {
    const auto moment = static_cast<std::size_t>(moments_);
    is_interrupted_ |= moments_++ == at_;
    if (moment < errors_.size()) return Error{errors_[moment], "no answer"};
    return parse_json(R"({"format":1,"epoch":"e","interfaces":[]})");
  }
  Result<Json> interface(const std::string&) override { return Error{ErrorCode::kNotFound, ""}; }
  Result<Next> next(std::chrono::microseconds) override { return Next::kMoment; }
  std::chrono::microseconds period() const override { return {}; }
  const std::string& mount() const override { return mount_; }

 private:
  const int at_;
  const std::vector<ErrorCode> errors_;
  bool& is_interrupted_;
  int& moments_;
  const std::string mount_;
};

class StoreRecorderTest : public testing::Test {
 protected:
  // Returns the status, after so many moments.
  int run(int interrupted_in, std::uint64_t count, std::vector<ErrorCode> errors, int& moments) {
    TemporaryDirectory directory;
    const auto writer = past::StoreWriter::open(
        directory / "store", {.tiers = past::parse_tiers(past::kDefaultTiers).value()});
    Session session;
    session.options.count = count;
    bool is_interrupted = false;
    moments = 0;
    session.source = std::make_unique<InterruptingMount>(interrupted_in, std::move(errors),
                                                         is_interrupted, moments);
    return StoreRecorder(session, *writer.value(), [&] { return is_interrupted; }).run();
  }
  // How many moments were read.
  int moments(int interrupted_in, std::uint64_t count) {
    int made = 0;
    EXPECT_EQ(run(interrupted_in, count, {}, made), kDone);
    return made;
  }
};

TEST_F(StoreRecorderTest, ReadsOneMoreMomentAfterAnInterruptionWithinAReading) {
  EXPECT_EQ(moments(0, 0), 2);
  EXPECT_EQ(moments(1, 0), 3);
}

TEST_F(StoreRecorderTest, ReadsItsCountOfMomentsAfterTheFirst) { EXPECT_EQ(moments(-1, 1), 2); }

TEST_F(StoreRecorderTest, GoesOnWhereTheDaemonDoesNotAnswerInTime) {
  int moments = 0;
  EXPECT_EQ(run(-1, 2, {ErrorCode::kTimedOut}, moments), kDone);
  EXPECT_EQ(moments, 3);
  EXPECT_EQ(run(0, 0, {ErrorCode::kTimedOut, ErrorCode::kNoDevice}, moments), kNoAnswer);
  EXPECT_EQ(moments, 2);
}

TEST_F(StoreRecorderTest, EndsWhereThereIsNoMountAtTheStart) {
  int moments = 0;
  EXPECT_EQ(run(-1, 2, {ErrorCode::kNotFound}, moments), kNoAnswer);
  EXPECT_EQ(moments, 1);
}

}  // namespace
}  // namespace tallyfs
