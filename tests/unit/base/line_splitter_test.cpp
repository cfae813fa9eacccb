#include "core/base/line_splitter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tallyfs {
namespace {

class LineSplitterTest : public testing::Test {
 protected:
  // Lines as NUMBER:TEXT, with a '+' where the line is longer.
  void feed(std::string_view bytes) {
    splitter_.feed(bytes);
    while (const auto line = splitter_.next()) note(*line);
  }
  void end() {
    if (const auto line = splitter_.last()) note(*line);
  }
  void note(const NumberedLine& line) {
    lines_.push_back(std::to_string(line.number) + ":" + std::string(line.text) +
                     (line.too_long ? "+" : ""));
  }

  LineSplitter splitter_{4};
  std::vector<std::string> lines_;
};

TEST_F(LineSplitterTest, NumbersLinesHoweverTheirBytesArrive) {
  for (const char c : std::string("a\n\nbcd\n")) feed({&c, 1});
  feed("e\nf\ng");
  EXPECT_EQ(splitter_.begun(), "g");
  end();
  end();
  EXPECT_EQ(lines_, (std::vector<std::string>{"1:a", "2:", "3:bcd", "4:e", "5:f", "6:g"}));
}

TEST_F(LineSplitterTest, CutsLinesThatAreTooLong) {
  feed("abcd\nabcde\n");
  feed("abcd");
  EXPECT_FALSE(splitter_.begun_is_too_long());
  feed("efg");
  EXPECT_TRUE(splitter_.begun_is_too_long());
  EXPECT_EQ(splitter_.begun(), "abcd");
  feed("h\nok\n");
  EXPECT_FALSE(splitter_.begun_is_too_long());
  EXPECT_EQ(lines_, (std::vector<std::string>{"1:abcd", "2:abcd+", "3:abcd+", "4:ok"}));
}

TEST_F(LineSplitterTest, ForgetsTheLineThatHasBegun) {
  feed("abc");
  splitter_.restart();
  feed("d\n");
  EXPECT_EQ(lines_, std::vector<std::string>{"1:d"});
}

TEST_F(LineSplitterTest, BeginsAnewAfterTheLastLine) {
  feed("a");
  end();
  EXPECT_EQ(splitter_.begun(), "");
  feed("b\n");
  EXPECT_EQ(lines_, (std::vector<std::string>{"1:a", "2:b"}));
}

TEST(NumberedLineTest, IsEmptyOrAComment) {
  EXPECT_TRUE((NumberedLine{.text = ""}.is_empty_or_comment()));
  EXPECT_TRUE((NumberedLine{.text = " \t"}.is_empty_or_comment()));
  EXPECT_TRUE((NumberedLine{.text = "  # a"}.is_empty_or_comment()));
  EXPECT_FALSE((NumberedLine{.text = "a # b"}.is_empty_or_comment()));
  EXPECT_FALSE((NumberedLine{.text = "   ", .too_long = true}.is_empty_or_comment()));
}

}  // namespace
}  // namespace tallyfs
