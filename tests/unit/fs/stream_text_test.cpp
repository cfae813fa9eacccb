// What a reader of a stream is given at a time. (That it waits, and is interrupted, is tested on a
// mount: tests/shell/tracing/buffers.sh.)
#include "fs/waiting_readers.h"

#include <gtest/gtest.h>

#include <utility>

namespace tallyfs {
namespace {

class Lines final : public File {
 public:
  Result<std::string> render(const CallContext&, std::size_t) const override {
    return std::string();
  }
  Moment last_change(Moment) const override { return {}; }
  bool is_stream() const override { return true; }
  std::string next(Moment) override { return std::exchange(lines, {}); }
  bool is_over() const override { return over; }

  std::string lines;
  bool over = false;
};

class StreamTextTest : public testing::Test {
 protected:
  std::optional<std::string> read(std::size_t bytes) { return next_piece(open_, bytes, {}); }

  std::shared_ptr<Lines> file_ = std::make_shared<Lines>();
  OpenFile open_{.file = file_};
};

TEST_F(StreamTextTest, GivesWholeLinesWhereTheyFit) {
  file_->lines = "one\ntwo\nthree\n";
  EXPECT_EQ(read(10), "one\ntwo\n");
  EXPECT_EQ(read(4), "thre");
  EXPECT_EQ(read(4), "e\n");
  EXPECT_EQ(read(4), std::nullopt);
  file_->lines = "four\n";
  EXPECT_EQ(read(5), "four\n");
}

TEST_F(StreamTextTest, EndsForAReaderThatHasReadSomethingWhenNothingComes) {
  file_->over = true;
  EXPECT_EQ(read(10), std::nullopt) << "it may come yet";
  file_->lines = "one\n";
  EXPECT_EQ(read(10), "one\n");
  EXPECT_EQ(read(10), "");
  file_->over = false;
  EXPECT_EQ(read(10), std::nullopt);
}

}  // namespace
}  // namespace tallyfs
