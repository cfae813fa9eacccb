#include "fs/write_transaction.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fs/protocol.h"
#include "tests/unit/fs/line_fixture.h"

namespace tallyfs {
namespace {

class WriteTransactionTest : public LineFixture {
 protected:
  Result<void> write(std::string_view text, std::uint64_t offset, bool append = false) {
    return transaction_.write(text, {offset, append}, sink_);
  }

  WriteTransaction transaction_;
};

TEST_F(WriteTransactionTest, TakesWritesThatFollowEachOther) {
  ASSERT_TRUE(write("on=", 0));
  ASSERT_TRUE(write("1\n", 3));
  EXPECT_EQ(lines_, std::vector<std::string>{"on=1"});
}

TEST_F(WriteTransactionTest, RefusesAnOffsetThatDoesNotFollowAndChangesNothing) {
  ASSERT_TRUE(write("on=", 0));
  EXPECT_EQ(write("junk\n", 7).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(reports_.size(), 1u);
  ASSERT_TRUE(write("1\n", 3));
  EXPECT_EQ(lines_, std::vector<std::string>{"on=1"});
}

TEST_F(WriteTransactionTest, BackAtTheStartWhatWasLeftIsALine) {
  ASSERT_TRUE(write("on=1", 0));
  ASSERT_TRUE(write("on=0\n", 0));
  EXPECT_EQ(lines_, (std::vector<std::string>{"on=1", "on=0"}));
}

TEST_F(WriteTransactionTest, IgnoresOffsetsOfAppends) {
  ASSERT_TRUE(write("on=", 500, true));
  ASSERT_TRUE(write("1\n", 500, true));
  EXPECT_EQ(lines_, std::vector<std::string>{"on=1"});
}

TEST_F(WriteTransactionTest, TheWriterOfALongWriteHearsTheErrorOfALaterPiece) {
  std::string good;
  while (good.size() < protocol::kMaxWriteBytes) good += "on=1\n";
  good.resize(protocol::kMaxWriteBytes);
  ASSERT_TRUE(write(good, 0));
  const std::string rest = "\nbad\ngood\n";
  EXPECT_FALSE(write(rest, good.size()));
  const auto tried = lines_.size();
  // write(2) returned the length of the first piece; the writer goes on from there.
  EXPECT_EQ(write(rest, good.size()).error().reason, "bad");
  EXPECT_EQ(lines_.size(), tried);
  EXPECT_TRUE(write("on=0\n", good.size()));
}

TEST_F(WriteTransactionTest, WhatEndsARefusedWriteIsALineAndNotTheStartOfTheNext) {
  EXPECT_FALSE(write("bad\nname=a", 0));
  ASSERT_TRUE(write("name=b\n", 0));
  EXPECT_EQ(lines_, (std::vector<std::string>{"bad", "name=a", "name=b"}));
}

TEST_F(WriteTransactionTest, TheRestOfALineThatWasTooLongIsNeverALineOfItsOwn) {
  const std::string start = "name=a" + std::string(60'000, ' ');
  ASSERT_TRUE(write(start, 0));
  EXPECT_EQ(write(std::string(10'000, ' '), start.size()).error().code, ErrorCode::kTooBig);
  EXPECT_TRUE(transaction_.finish(sink_));  // a child of the shell closes its copy
  EXPECT_EQ(write("on=0\n", start.size()).error().code, ErrorCode::kTooBig);
  EXPECT_TRUE(lines_.empty());
  ASSERT_TRUE(write("on=1\n", start.size()));
  EXPECT_EQ(lines_, std::vector<std::string>{"on=1"});
}

TEST_F(WriteTransactionTest, ATruncationForgetsWhatWasLeft) {
  ASSERT_TRUE(write("on=", 0));
  transaction_.restart();
  ASSERT_TRUE(write("data=reset\n", 0));
  EXPECT_EQ(lines_, std::vector<std::string>{"data=reset"});
}

}  // namespace
}  // namespace tallyfs
