#include "feeders/tracefs/page_format.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/kernel_formats.h"

namespace tallyfs {
namespace {

TEST(PageFormatTest, ReadsTheHeaderOfAPage) {
  const auto page = parse_page_format(kHeaderPage).value();
  EXPECT_EQ(page.commit.offset, 8u);
  EXPECT_EQ(page.commit.size, 8u);
  EXPECT_EQ(page.data.offset, 16u);
  EXPECT_EQ(page.page_bytes(), 4096u);
}

TEST(PageFormatTest, RefusesPagesThatItCouldNotRead) {
  const std::string good = kHeaderPage;
  EXPECT_FALSE(parse_page_format(kBlockRqIssue));
  EXPECT_FALSE(parse_page_format(without(good, "timestamp")));
  EXPECT_FALSE(parse_page_format(without(good, "data")));
  EXPECT_FALSE(parse_page_format(replaced(good, "size:8", "size:4")));
  EXPECT_FALSE(parse_page_format(replaced(good, "offset:16", "offset:12")));
}

}  // namespace
}  // namespace tallyfs
