#include "fs/text_cache.h"

#include <gtest/gtest.h>

namespace tallyfs {
namespace {

TEST(TextCacheTest, GivesOnceWhatItKept) {
  TextCache texts;
  texts.keep(7, 1, "hits 5\n");
  EXPECT_EQ(texts.take(7, 1, 100), "hits 5\n");
  EXPECT_EQ(texts.take(7, 1, 100), std::nullopt);
}

TEST(TextCacheTest, GivesNothingOfAnotherNodeOrVersionOrBeyondTheBound) {
  TextCache texts;
  EXPECT_EQ(texts.take(0, 0, 100), std::nullopt);
  texts.keep(7, 1, "hits 5\n");
  EXPECT_EQ(texts.take(8, 1, 100), std::nullopt);
  EXPECT_EQ(texts.take(7, 2, 100), std::nullopt);
  EXPECT_EQ(texts.take(7, 1, 6), std::nullopt);
  EXPECT_EQ(texts.take(7, 1, 7), "hits 5\n");
}

TEST(TextCacheTest, KeepsTheLastOneAndNoneThatIsTooLong) {
  TextCache texts;
  texts.keep(7, 1, "hits 5\n");
  texts.keep(8, 1, "hits 6\n");
  EXPECT_EQ(texts.take(7, 1, 100), std::nullopt);
  texts.keep(9, 1, std::string(TextCache::kBytesMax + 1, 'x'));
  EXPECT_EQ(texts.take(9, 1, TextCache::kBytesMax * 2), std::nullopt);
  EXPECT_EQ(texts.take(8, 1, 100), std::nullopt);
  texts.keep(7, 1, "hits 5\n");
  texts.clear();
  EXPECT_EQ(texts.take(7, 1, 100), std::nullopt);
}

}  // namespace
}  // namespace tallyfs
