#include "feeders/tracefs/ring_page.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/kernel_formats.h"
#include "tests/unit/tracefs/page_maker.h"

namespace tallyfs {
namespace {

using Events = std::vector<std::pair<std::uint64_t, std::string>>;

const PageFormat& format() {
  static const PageFormat page = parse_page_format(kHeaderPage).value();
  return page;
}

Events read_all(RingPage& page) {
  Events events;
  while (const auto record = page.next()) {
    events.emplace_back(record->time_ns,
                        std::string(record->payload.begin(), record->payload.end()));
  }
  return events;
}

Events read_all(const std::string& bytes) {
  auto page = RingPage::open(format(), bytes).value();
  Events events = read_all(page);
  EXPECT_FALSE(page.broken());
  return events;
}

TEST(RingPageTest, AddsUpTheTimesOfRecords) {
  const auto bytes = PageMaker(1000).record(0, "aaaa").record(5, "bbbbbbbb").page();
  EXPECT_EQ(read_all(bytes), (Events{{1000, "aaaa"}, {1005, "bbbbbbbb"}}));
}

TEST(RingPageTest, HasNothingToSayOfAnEmptyPage) {
  EXPECT_EQ(read_all(PageMaker(1000).page()), Events{});
}

TEST(RingPageTest, ReadsRecordsThatAreTooLongForTheirHeader) {
  const std::string text(300, 'x');
  const auto bytes = PageMaker(1000).long_record(1, text).record(1, "next").page();
  EXPECT_EQ(read_all(bytes), (Events{{1001, text}, {1002, "next"}}));
}

TEST(RingPageTest, ExtendsDeltasBeyond27Bits) {
  const auto bytes = PageMaker(1000).word(30, 7).number(3).record(1, "late").page();
  EXPECT_EQ(read_all(bytes), (Events{{1000 + (3ull << 27) + 7 + 1, "late"}}));
}

TEST(RingPageTest, TakesAbsoluteTimesAndKeepsTheBitsThatTheyLack) {
  const std::uint64_t top = 1ull << 60;
  const auto bytes = PageMaker(top + 1000).word(31, 9).number(2).record(1, "then").page();
  EXPECT_EQ(read_all(bytes), (Events{{top + (2ull << 27) + 9 + 1, "then"}}));
}

TEST(RingPageTest, PassesOverDiscardedEvents) {
  const auto bytes = PageMaker(1000).word(29, 4).number(8).number(0xDEAD).record(1, "kept").page();
  EXPECT_EQ(read_all(bytes), (Events{{1005, "kept"}}));
}

TEST(RingPageTest, EndsAtThePaddingThatFillsAPage) {
  const auto bytes = PageMaker(1000).record(0, "kept").word(29, 0).record(0, "not.").page();
  EXPECT_EQ(read_all(bytes), (Events{{1000, "kept"}}));
}

TEST(RingPageTest, TellsHowManyEventsWereLostBefore) {
  const auto lost = [](const std::string& bytes) {
    return RingPage::open(format(), bytes).value().lost();
  };
  const PageMaker page = PageMaker(1000).record(0, "kept");
  std::string count;
  ByteWriter(count).put(std::uint64_t{12345});
  EXPECT_EQ(lost(page.page()), 0u);
  EXPECT_EQ(lost(page.page(0x80000000u)), 1u) << "some, but the kernel had no room to say";
  EXPECT_EQ(lost(page.page(0xC0000000u, count)), 12345u);
  EXPECT_EQ(read_all(page.page(0xC0000000u, count)), (Events{{1000, "kept"}}));
}

TEST(RingPageTest, RefusesPagesThatContradictTheirLength) {
  EXPECT_FALSE(RingPage::open(format(), std::string()));
  EXPECT_FALSE(RingPage::open(format(), std::string(15, '\0')));
  const auto maker = PageMaker(1000).record(0, "aaaa");
  EXPECT_TRUE(RingPage::open(format(), maker.page().substr(0, maker.used())));
  EXPECT_FALSE(RingPage::open(format(), maker.page().substr(0, maker.used() - 1)));
}

TEST(RingPageTest, StopsAtLengthsThatMakeNoSense) {
  const std::string broken[] = {
      PageMaker(1).word(28, 0).page(),            // beyond the end
      PageMaker(1).word(0, 1).page(),             // no size
      PageMaker(1).word(0, 1).number(0).page(),   // a size that does not hold itself
      PageMaker(1).word(29, 1).number(3).page(),  // likewise
      PageMaker(1).word(0, 1).number(0xFFFFFFFF).page(),
      PageMaker(1).word(30, 1).page(),
      PageMaker(1).word(31, 1).page(),
  };
  for (const std::string& bytes : broken) {
    auto page = RingPage::open(format(), bytes).value();
    EXPECT_EQ(read_all(page), Events{});
    EXPECT_TRUE(page.broken());
  }
}

// A page that says it is as long as what there is of it, at every length.
TEST(RingPageTest, YieldsAPrefixOfTheEventsForEveryPrefixOfAPage) {
  const std::string text(200, 'x');
  const std::string whole = PageMaker(1000)
                                .record(1, "aaaa")
                                .long_record(2, text)
                                .word(30, 1)
                                .number(1)
                                .record(3, "bbbbbbbb")
                                .word(29, 4)
                                .number(8)
                                .number(0)
                                .record(5, "cccc")
                                .page();
  const Events all = read_all(whole);
  ASSERT_EQ(all.size(), 4u);
  for (std::uint64_t used = 0; used < 300; ++used) {
    std::string bytes = whole.substr(0, 16 + used);
    bytes.replace(8, 8, reinterpret_cast<const char*>(&used), 8);
    auto page = RingPage::open(format(), bytes).value();
    const Events events = read_all(page);
    ASSERT_LE(events.size(), all.size());
    EXPECT_TRUE(std::equal(events.begin(), events.end(), all.begin())) << used;
  }
}

TEST(RingPageTest, SurvivesRandomBytes) {
  const auto seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes(random() % 256, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    if (bytes.size() >= 16) bytes.replace(9, 7, 7, '\0');  // mostly lengths that fit
    auto page = RingPage::open(format(), bytes);
    if (!page) continue;
    std::size_t total = 0;
    for (const auto& [time, payload] : read_all(page.value())) total += payload.size();
    EXPECT_LE(total, bytes.size());
  }
}

}  // namespace
}  // namespace tallyfs
