// What a reader of a stream is given at a time. (That it waits, and is interrupted, is tested on a
// mount: tests/shell/tracing/buffers.sh.)
#include "fs/waiting_readers.h"

#include <gtest/gtest.h>

#include <functional>
#include <utility>

namespace tallyfs {
namespace {

class Lines final : public File, public Stream {
 public:
  Result<std::string> render(const CallContext&, std::size_t) const override {
    return std::string();
  }
  Timestamp last_change(Timestamp) const override { return {}; }
  Stream* stream() override { return this; }
  std::string next(const CallContext&) override {
    if (at_next) at_next();
    return std::exchange(lines, {});
  }
  bool has_some(Timestamp) const override { return !lines.empty(); }
  bool is_over() const override { return over; }

  std::string lines;
  bool over = false;
  std::function<void()> at_next;
};

class StreamTextTest : public testing::Test {
 protected:
  std::optional<std::string> read(std::size_t bytes) {
    return next_piece(open_, *file_, bytes, Timestamp{});
  }

  std::shared_ptr<Lines> file_ = std::make_shared<Lines>();
  OpenFile open_{.file = HandleFile(file_)};
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

// The text may take its time; another read of the handle waits without blocking a thread.
TEST_F(StreamTextTest, HasNothingForAReadWhileAnotherTakesText) {
  int reads = 0;
  file_->lines = "one\n";
  file_->at_next = [&] {
    reads += 1;
    EXPECT_EQ(read(10), std::nullopt);
  };
  EXPECT_EQ(read(10), "one\n");
  EXPECT_EQ(reads, 1);
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
