#include "exporters/web/target.h"

#include <gtest/gtest.h>

#include "exporters/web/filter.h"
#include "exporters/web/listen.h"

namespace tallyfs::web {
namespace {

TEST(TargetTest, TakesPathAndQueryApart) {
  const auto target = parse_target("/api/1/heat/a%2Fb/c%20d?seconds=60&filter=x+y&empty");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, (std::vector<std::string>{"api", "1", "heat", "a/b", "c d"}));
  EXPECT_EQ(target->number("seconds", 1, 1000), 60u);
  EXPECT_EQ(target->number("seconds", 1, 30), 30u);
  EXPECT_EQ(target->number("absent", 7, 1000), 7u);
  EXPECT_EQ(target->number("filter", 7, 1000), 7u);
  EXPECT_EQ(*target->find("filter"), "x y");
  EXPECT_EQ(*target->find("empty"), "");
  EXPECT_EQ(target->find("absent"), nullptr);
}

TEST(TargetTest, TheRootHasNoPath) {
  const auto target = parse_target("/");
  ASSERT_TRUE(target);
  EXPECT_TRUE(target->path.empty());
}

TEST(TargetTest, RefusesWhatItCannotRead) {
  for (const char* text : {"", "api", "*", "/%", "/%4", "/%zz", "/a%00", "/?a=%f"}) {
    EXPECT_FALSE(parse_target(text)) << text;
  }
}

TEST(FilterTest, NamesAreFoundAsTheyAreStoredAndAsTheyAreShown) {
  EXPECT_TRUE(Filter("route:/cart").matches("web/us{route:%2Fcart}"));
  EXPECT_TRUE(Filter("route:%2fcart").matches("web/us{route:%2Fcart}"));
  EXPECT_FALSE(Filter("route:/card").matches("web/us{route:%2Fcart}"));
}

TEST(FilterTest, CapitalAndSmallLettersAreTheSame) {
  EXPECT_TRUE(Filter("WEB Code:2").matches("http{code:200,host:Web-1}"));
  EXPECT_FALSE(Filter("web code:4").matches("http{code:200,host:Web-1}"));
  EXPECT_TRUE(Filter("").matches("any"));
}

TEST(ListenTest, AnAddressIsJudgedBeforeItIsUsed) {
  for (const char* good : {"127.0.0.1:0", "localhost:1", "[::1]:8255", "unix:/run/http"}) {
    EXPECT_EQ(fault_of_address(good), "") << good;
  }
  for (const char* wrong :
       {"", "nonsense", "127.0.0.1", "127.0.0.1:70000", "localhost", "host:1", "unix:"}) {
    EXPECT_NE(fault_of_address(wrong), "") << wrong;
  }
}

}  // namespace
}  // namespace tallyfs::web
