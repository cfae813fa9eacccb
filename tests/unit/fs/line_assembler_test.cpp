#include "fs/line_assembler.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/fs/line_fixture.h"

namespace tallyfs {
namespace {

class LineAssemblerTest : public LineFixture {
 protected:
  Result<void> write(std::string_view text) { return assembler_.write(text, sink_); }
  Result<void> finish() { return assembler_.finish(sink_); }

  LineAssembler assembler_;
};

TEST_F(LineAssemblerTest, JoinsALineThatWritesCutAnywhere) {
  for (const char c : std::string("on=1\ndata=reset\n")) ASSERT_TRUE(write({&c, 1}));
  EXPECT_EQ(lines_, (std::vector<std::string>{"on=1", "data=reset"}));
}

TEST_F(LineAssemblerTest, AppliesALastLineWithoutNewlineOnceAtFlush) {
  ASSERT_TRUE(write("on=1"));
  EXPECT_TRUE(lines_.empty());
  ASSERT_TRUE(finish());
  ASSERT_TRUE(finish());
  EXPECT_EQ(lines_, std::vector<std::string>{"on=1"});
}

TEST_F(LineAssemblerTest, AppliesGoodLinesAroundABadOneAndReportsTheFirstError) {
  const auto done = write("a\nbad 1\nb\nbad 2\nc\n");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().reason, "bad 1");
  EXPECT_EQ(lines_.size(), 5u);
  EXPECT_EQ(reports_, (std::vector<std::string>{"bad 1", "bad 2"}));
}

TEST_F(LineAssemblerTest, DropsALineThatOutgrowsItsBoundAndGoesOnAtTheNext) {
  const std::string chunk(40'000, 'x');
  EXPECT_TRUE(write(chunk));
  EXPECT_EQ(write(chunk).error().code, ErrorCode::kTooBig);
  EXPECT_EQ(reports_, std::vector<std::string>{"line longer than 65536 bytes"});
  EXPECT_EQ(write(chunk).error().code, ErrorCode::kTooBig);
  EXPECT_EQ(write("still the same line\non=1\n").error().code, ErrorCode::kTooBig);
  EXPECT_EQ(reports_.size(), 1u);
  EXPECT_EQ(lines_, std::vector<std::string>{"on=1"});
}

TEST_F(LineAssemblerTest, HandsOnAnEmptyLineButNoEmptyRest) {
  ASSERT_TRUE(write("\n"));
  ASSERT_TRUE(finish());
  EXPECT_EQ(lines_, std::vector<std::string>{""});
}

TEST_F(LineAssemblerTest, TakesALineOfExactlyTheBound) {
  const std::string line(LineAssembler::kPendingBytesMax, 'x');
  EXPECT_TRUE(write(line + "\n"));
  EXPECT_EQ(write(line + "x\n").error().code, ErrorCode::kTooBig);
  EXPECT_EQ(lines_, std::vector<std::string>{line});
}

TEST_F(LineAssemblerTest, ForgetsWhatIsPendingOnRestart) {
  ASSERT_TRUE(write("data=re"));
  assembler_.restart();
  ASSERT_TRUE(finish());
  EXPECT_TRUE(lines_.empty());
}

}  // namespace
}  // namespace tallyfs
