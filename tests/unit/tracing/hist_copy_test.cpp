// What a copy of a histogram shows while the histogram goes on.
#include "core/tracing/hist/hist_copy.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "tests/unit/tracing/fixture.h"

namespace tallyfs::tracing {
namespace {

class HistCopyTest : public EventFixture {
 protected:
  void alloc(std::int64_t site, std::uint64_t time_us = 1) {
    feed(kmalloc, time_us, {{"call_site", site}});
  }
  static std::string line(int site, int hits) {
    char text[80];
    std::snprintf(text, sizeof text, "{ call_site: %10d } hitcount: %10d\n", site, hits);
    return text;
  }
  static bool has(const HistCopy& copy, const std::string& text) {
    return copy.render(NoSymbols()).find(text) != std::string::npos;
  }
};

TEST_F(HistCopyTest, ShowsWhatWasCountedWhenItWasTaken) {
  trigger(kmalloc, "hist:keys=call_site");
  alloc(1);
  const HistCopy copy = set.hists.copy(kmalloc);
  alloc(1);
  alloc(2);
  EXPECT_TRUE(has(copy, line(1, 1)));
  EXPECT_TRUE(has(copy, "    Entries: 1\n"));
  EXPECT_EQ(entries(kmalloc), line(2, 1) + line(1, 2));
}

TEST_F(HistCopyTest, StaysWhenTheHistogramIsClearedAndFilledAnew) {
  trigger(kmalloc, "hist:keys=call_site");
  alloc(1);
  const HistCopy copy = set.hists.copy(kmalloc);
  trigger(kmalloc, "hist:keys=call_site:clear");
  alloc(2);
  EXPECT_TRUE(has(copy, line(1, 1)));
  EXPECT_EQ(entries(kmalloc), line(2, 1));
}

TEST_F(HistCopyTest, StaysWhenAnEntryGivesUpItsPlace) {
  trigger(kmalloc, "hist:keys=call_site:ts=common_timestamp.usecs:size=128:expire=1s");
  for (int site = 1; site <= 128; ++site) alloc(site, 1);
  const HistCopy copy = set.hists.copy(kmalloc);
  alloc(500, 10'000'000);
  EXPECT_TRUE(has(copy, line(2, 1)));
  EXPECT_FALSE(has(copy, line(500, 1)));
  EXPECT_NE(entries(kmalloc).find(line(500, 1)), std::string::npos);
}

TEST_F(HistCopyTest, EachOfManyCopiesShowsItsOwnMoment) {
  trigger(kmalloc, "hist:keys=call_site:size=1024");
  const char* const given = std::getenv("TALLY_SEED");
  const unsigned seed = given ? static_cast<unsigned>(std::atoi(given)) : std::random_device()();
  SCOPED_TRACE("TALLY_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  std::vector<std::pair<HistCopy, std::string>> taken;
  for (int round = 0; round < 50; ++round) {
    for (auto i = random() % 100; i > 0; --i) alloc(static_cast<std::int64_t>(1 + random() % 700));
    HistCopy copy = set.hists.copy(kmalloc);
    std::string text = copy.render(NoSymbols());
    taken.emplace_back(std::move(copy), std::move(text));
    if (taken.size() > 5) taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(random() % 5));
    for (const auto& [each, then] : taken) ASSERT_EQ(each.render(NoSymbols()), then);
  }
}

TEST_F(HistCopyTest, IsRenderedWhileTheHistogramGoesOn) {
  trigger(kmalloc, "hist:keys=call_site:vals=bytes_req.p99:size=512");
  for (int site = 1; site <= 400; ++site) alloc(site);
  const HistCopy copy = set.hists.copy(kmalloc);
  const std::string then = copy.render(NoSymbols());
  std::atomic<bool> is_over = false;
  std::atomic<int> counted = 0;
  std::thread reader([&] {
    for (int i = 0; i < 20 || counted < 400; ++i) EXPECT_EQ(copy.render(NoSymbols()), then);
    is_over = true;
  });
  for (std::int64_t site = 1; !is_over; site = site % 512 + 1, ++counted) alloc(site);
  reader.join();
  EXPECT_NE(hist(kmalloc), then);
}

TEST_F(HistCopyTest, NoTextIsShorterThanItSays) {
  for (const std::string command :
       {"hist:keys=call_site:vals=bytes_req:nohitcount", "hist:keys=call_site:limit=3",
        "hist:keys=call_site:vals=bytes_req"}) {
    trigger(kmalloc, command);
    for (int site = 1; site <= 100; ++site) alloc(site);
    const HistCopy copy = set.hists.copy(kmalloc);
    EXPECT_LE(copy.text_bytes_min(), copy.render(NoSymbols()).size()) << command;
    EXPECT_LE(copy.text_bytes_min(), copy.render_json(NoSymbols(), {}).size()) << command;
    trigger(kmalloc, "!" + command);
  }
}

}  // namespace
}  // namespace tallyfs::tracing
