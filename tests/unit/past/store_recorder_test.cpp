// The moments that a recorder reads, of a mount that is played here.
#include "tools/ctl/store_recorder.h"

#include <gtest/gtest.h>

#include "tests/unit/temporary_directory.h"
#include "tools/ctl/commands.h"
#include "tools/tree/json.h"

namespace tallyfs {
namespace {

// A mount without interfaces. The recorder is interrupted while it reads moment `at`.
class InterruptingMount : public Source {
 public:
  InterruptingMount(int at, bool& is_interrupted, int& moments)
      : at_(at), is_interrupted_(is_interrupted), moments_(moments) {}

  Result<Json> tree() override {
    is_interrupted_ |= moments_++ == at_;
    return parse_json(R"({"format":1,"epoch":"e","interfaces":[]})");
  }
  Result<Json> interface(const std::string&) override { return Error{ErrorCode::kNotFound, ""}; }
  Result<Next> next(std::chrono::microseconds) override { return Next::kMoment; }
  std::chrono::microseconds period() const override { return {}; }
  const std::string& mount() const override { return mount_; }

 private:
  const int at_;
  bool& is_interrupted_;
  int& moments_;
  const std::string mount_;
};

class StoreRecorderTest : public testing::Test {
 protected:
  // How many moments were read.
  int run(int interrupted_in, std::uint64_t count) {
    TemporaryDirectory directory;
    const auto writer = past::StoreWriter::open(
        directory / "store", {.tiers = past::parse_tiers(past::kDefaultTiers).value()});
    Session session;
    session.options.count = count;
    int moments = 0;
    bool is_interrupted = false;
    session.source = std::make_unique<InterruptingMount>(interrupted_in, is_interrupted, moments);
    EXPECT_EQ(
        StoreRecorder(session, *writer.value(), [&] { return is_interrupted; }).run(), kDone);
    return moments;
  }
};

TEST_F(StoreRecorderTest, ReadsOneMoreMomentAfterAnInterruptionWithinAReading) {
  EXPECT_EQ(run(0, 0), 2);
  EXPECT_EQ(run(1, 0), 3);
}

TEST_F(StoreRecorderTest, ReadsItsCountOfMomentsAfterTheFirst) { EXPECT_EQ(run(-1, 1), 2); }

}  // namespace
}  // namespace tallyfs
