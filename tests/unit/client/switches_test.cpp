#include "feeders/client/switches.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "switch_page.h"

namespace tallyfs {
namespace {

constexpr std::uint64_t number_of(std::uint32_t slot, std::uint32_t generation) {
  return std::uint64_t{generation} << 32 | slot;
}

TEST(SwitchesTest, AreNoneUntilAPageIsMapped) {
  const Switches switches;
  EXPECT_FALSE(switches.has_page());
  EXPECT_EQ(switches.find(0), nullptr);
  EXPECT_FALSE(switches.is_void(number_of(0, 1)));
}

TEST(SwitchesTest, ASwitchIsWhereTheNumberSays) {
  SwitchPage page(4096);
  page.set(0, 1, 1);
  page.set(3, 7, 0);
  Switches switches;
  ASSERT_TRUE(switches.map(page.fd(), 4096));
  EXPECT_TRUE(switches.has_page());
  ASSERT_TRUE(switches.find(number_of(0, 1)));
  ASSERT_TRUE(switches.find(number_of(3, 7)));
  EXPECT_EQ(*switches.find(number_of(0, 1)), 1u);
  EXPECT_EQ(*switches.find(number_of(3, 7)), 0u);
}

TEST(SwitchesTest, WhatTheDaemonSwitchesIsSeenAtOnce) {
  SwitchPage page(4096);
  Switches switches;
  ASSERT_TRUE(switches.map(page.fd(), 4096));
  const std::uint32_t* const on = switches.find(number_of(5, 1));
  ASSERT_TRUE(on);
  EXPECT_EQ(*on, 0u);
  page.set(5, 1, 1);
  EXPECT_EQ(*on, 1u);
}

TEST(SwitchesTest, AnUnsealedPageIsRefused) {
  const SwitchPage page(4096, SwitchPage::Sealed::kNo);
  Switches switches;
  const auto done = switches.map(page.fd(), 4096);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kInvalid);
  EXPECT_FALSE(switches.has_page());
  EXPECT_EQ(switches.find(0), nullptr);
}

TEST(SwitchesTest, WhatIsNoMemfdIsRefused) {
  Switches switches;
  EXPECT_FALSE(switches.map(Fd(), 4096));
  EXPECT_FALSE(switches.map(Fd(::open("/dev/zero", O_RDONLY | O_CLOEXEC)), 4096));
  EXPECT_FALSE(switches.map(Fd(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC)), 4096));
  EXPECT_FALSE(switches.has_page());
}

TEST(SwitchesTest, APageThatIsShorterThanSaidIsRefused) {
  const SwitchPage page(4096);
  Switches switches;
  EXPECT_FALSE(switches.map(page.fd(), 4097));
  EXPECT_FALSE(switches.map(page.fd(), 8192));
  EXPECT_FALSE(switches.map(page.fd(), UINT64_MAX));
  EXPECT_FALSE(switches.map(page.fd(), 0));
  EXPECT_FALSE(switches.has_page());
}

// Not the next daemon's, where the slot may be another statistic's.
TEST(SwitchesTest, ThePageBeforeStaysWhereItWas) {
  SwitchPage first(4096);
  SwitchPage second(8192);
  first.set(2, 1, 1);
  second.set(2, 9, 0);
  Switches switches;
  ASSERT_TRUE(switches.map(first.fd(), 4096));
  const std::uint32_t* const on = switches.find(number_of(2, 1));
  ASSERT_TRUE(on);
  ASSERT_EQ(*on, 1u);
  ASSERT_TRUE(switches.map(second.fd(), 8192));
  EXPECT_EQ(*on, 1u);
  ASSERT_TRUE(switches.find(number_of(2, 9)));
  EXPECT_EQ(*switches.find(number_of(2, 9)), 0u);
  EXPECT_TRUE(switches.is_void(number_of(2, 1)));
  EXPECT_FALSE(switches.is_void(number_of(2, 9)));
  EXPECT_TRUE(switches.find(number_of(1023, 1)));
}

TEST(SwitchesTest, AfterAShorterPageOldSwitchesCanStillBeLookedAt) {
  SwitchPage first(8192);
  first.set(1000, 1, 1);
  const SwitchPage second(4096);
  Switches switches;
  ASSERT_TRUE(switches.map(first.fd(), 8192));
  const std::uint32_t* const on = switches.find(number_of(1000, 1));
  ASSERT_TRUE(on);
  ASSERT_TRUE(switches.map(second.fd(), 4096));
  EXPECT_EQ(*on, 1u);
  EXPECT_EQ(switches.find(number_of(1000, 1)), nullptr);
}

TEST(SwitchesTest, WhatIsForgottenCanStillBeLookedAt) {
  SwitchPage page(4096);
  page.set(1, 1, 1);
  Switches switches;
  ASSERT_TRUE(switches.map(page.fd(), 4096));
  const std::uint32_t* const on = switches.find(number_of(1, 1));
  ASSERT_TRUE(on);
  switches.forget();
  EXPECT_FALSE(switches.has_page());
  EXPECT_EQ(switches.find(number_of(1, 1)), nullptr);
  EXPECT_FALSE(switches.is_void(number_of(1, 2)));
  EXPECT_EQ(*on, 1u);
}

TEST(SwitchesTest, ARefusedPageLeavesTheOneBefore) {
  SwitchPage page(4096);
  page.set(1, 1, 1);
  Switches switches;
  ASSERT_TRUE(switches.map(page.fd(), 4096));
  EXPECT_FALSE(switches.map(SwitchPage(4096, SwitchPage::Sealed::kNo).fd(), 4096));
  EXPECT_TRUE(switches.has_page());
  EXPECT_EQ(*switches.find(number_of(1, 1)), 1u);
}

TEST(SwitchesTest, ANumberOfAnotherGenerationIsVoid) {
  SwitchPage page(4096);
  page.set(4, 3, 1);
  Switches switches;
  ASSERT_TRUE(switches.map(page.fd(), 4096));
  EXPECT_FALSE(switches.is_void(number_of(4, 3)));
  EXPECT_TRUE(switches.is_void(number_of(4, 2)));
  EXPECT_TRUE(switches.is_void(number_of(4, 4)));
  page.set(4, 4, 1);
  EXPECT_TRUE(switches.is_void(number_of(4, 3)));
  EXPECT_FALSE(switches.is_void(number_of(4, 4)));
}

TEST(SwitchesTest, BeyondThePageThereIsNoSwitchAndNothingIsVoid) {
  const SwitchPage page(4096);
  Switches switches;
  ASSERT_TRUE(switches.map(page.fd(), 4096));
  EXPECT_TRUE(switches.find(number_of(511, 1)));
  EXPECT_EQ(switches.find(number_of(512, 1)), nullptr);
  EXPECT_EQ(switches.find(number_of(UINT32_MAX, 1)), nullptr);
  EXPECT_FALSE(switches.is_void(number_of(512, 1)));
}

TEST(SwitchesTest, ASwitchThatThePageEndsInIsNone) {
  const SwitchPage page(4096);
  Switches switches;
  ASSERT_TRUE(switches.map(page.fd(), 20));
  EXPECT_TRUE(switches.find(number_of(1, 1)));
  EXPECT_EQ(switches.find(number_of(2, 1)), nullptr);
}

TEST(SwitchesTest, OfALargerPageTheFirst2097152StatisticsHaveTheirs) {
  SwitchPage page(Switches::kBytesMax + 4096);
  page.set(2'097'151, 1, 1);
  Switches switches;
  ASSERT_TRUE(switches.map(page.fd(), Switches::kBytesMax + 4096));
  ASSERT_TRUE(switches.find(number_of(2'097'151, 1)));
  EXPECT_EQ(*switches.find(number_of(2'097'151, 1)), 1u);
  EXPECT_EQ(switches.find(number_of(2'097'152, 1)), nullptr);
}

}  // namespace
}  // namespace tallyfs
