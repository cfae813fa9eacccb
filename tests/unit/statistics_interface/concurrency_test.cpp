// Many threads on one interface; ThreadSanitizer looks on.
#include <array>
#include <atomic>
#include <thread>

#include "tests/unit/statistics_interface/fixture.h"

namespace tallyfs::statistics {
namespace {

constexpr int kThreads = 4;
constexpr int kBatches = 2000;
constexpr int kSamples = 16;

// Runs work in kThreads threads and `watch` in this one until they are done.
template <typename Work, typename Watch>
void run_threads(Work work, Watch watch) {
  std::atomic<int> working = kThreads;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      work();
      working.fetch_sub(1);
    });
  }
  while (working.load() != 0) watch();
  for (std::thread& thread : threads) thread.join();
}

TEST(ConcurrencyTest, TotalsAreExactAndTwoStatisticsFedAlikeAreAlwaysEqual) {
  Fixture fixture;
  Statistic* const a = fixture.create("a", "on=1");
  Statistic* const b = fixture.create("b", "on=1 mode=products");
  const std::vector<Sample> samples(kSamples, Sample{.x = 1, .y = 1});
  const std::array runs{statistics::Run{a, samples}, statistics::Run{b, samples}};
  run_threads(
      [&] {
        for (int i = 0; i < kBatches; ++i) fixture.interface->add(runs, fixture.clock.now());
      },
      [&] {
        const std::string text = fixture.data();
        const auto newline = text.find('\n');
        const std::string first = text.substr(2, newline - 2);
        EXPECT_EQ(text, "a " + first + "\nb " + first + "\n");
      });
  const std::string total = std::to_string(kThreads * kBatches * kSamples);
  EXPECT_EQ(fixture.data(), "a " + total + "\nb " + total + "\n");
}

// Statistics go and come between its steps.
TEST(ConcurrencyTest, WhatIsSavedOfALargeInterfaceCanBeLoaded) {
  constexpr std::size_t kMany = 2 * Interface::kLineAtOnce + 500;
  Fixture fixture;
  for (std::size_t i = 0; i < kMany; ++i) fixture.create(numbered(i), "on=1");
  std::atomic<std::size_t> next = 0;
  run_threads(
      [&] {
        for (int i = 0; i < 100; ++i) {
          // One that is saved already may come to the place of the last one.
          const std::size_t first = next.fetch_add(1) % kMany;
          for (const std::size_t each : {first, kMany - 1 - first}) {
            (void)fixture.interface->remove_statistic(numbered(each), fixture.clock.now());
          }
          for (const std::size_t each : {first, kMany - 1 - first}) {
            const std::string name = numbered(each);
            EXPECT_TRUE(fixture.interface->create_statistic(name, "on=1", fixture.clock.now()));
          }
          if (i % 10 == 0) {
            EXPECT_EQ(fixture.define("data=reset"), "");
          }
        }
      },
      [&] {
        const std::string bytes = fixture.saved();
        ByteReader in(bytes);
        Ledger ledger{{}};
        const auto loaded = Interface::load(in, ledger);
        ASSERT_TRUE(loaded) << loaded.error().reason;
        EXPECT_EQ(in.left(), 0u);
        EXPECT_GT(loaded.value()->size(), kMany - 2 * kThreads * 100);
      });
}

TEST(ConcurrencyTest, ReadersWritersAndFeedersOfAllTypesGetAlong) {
  Fixture fixture;
  const char* const texts[] = {
      "on=1 type=range", "on=1 type=list entries_max=8",
      "on=1 type=array base_interval=1 scale=log2 range_min=0 range_max=99",
      "on=1 type=history entries_max=4 mode=range period=1", "on=1 type=raw entries_max=20"};
  std::vector<Statistic*> fed;
  for (const char* text : texts) fed.push_back(fixture.create(numbered(fed.size()), text));
  const std::vector<Sample> samples(kSamples, Sample{.x = 3, .y = 1});
  run_threads(
      [&] {
        for (int i = 0; i < kBatches; ++i) {
          for (Statistic* statistic : fed) fixture.add(statistic, samples);
          fixture.define(i % 2 ? "data=reset" : "on=1 entries_max=9");
        }
      },
      [&] {
        fixture.data();
        fixture.definition();
        fixture.saved();
        fixture.last_change();
        fixture.create("short", "");
        EXPECT_TRUE(fixture.interface->remove_statistic("short", fixture.clock.now()));
      });
  EXPECT_EQ(fixture.interface->statistics(), fed);
}

// A reader of a switch sees a state that held at some moment, and in the end the present state.
TEST(ConcurrencyTest, SwitchesAreFlippedWhileOthersLookAndFeed) {
  Fixture fixture("");
  Statistic* const fed = fixture.interface->find("s");
  Switch at{};
  fixture.interface->publish_at(fed, {.on = &at});
  const std::vector<Sample> samples(kSamples, Sample{.x = 1});
  run_threads(
      [&] {
        for (int i = 0; i < kBatches; ++i) {
          fixture.define(i % 2 ? "on=0" : "on=1");
          fixture.add(fed, samples);
        }
      },
      [&] {
        const std::uint32_t on = at.on.load(std::memory_order_acquire);
        EXPECT_LE(on, 1u);
      });
  EXPECT_EQ(std::to_string(at.on), fixture.attribute("on"));
  fixture.define("on=1");
  EXPECT_EQ(at.on, 1u);
  fixture.interface->publish_at(fed, {});
  fixture.define("on=0");
  EXPECT_EQ(at.on, 1u) << "it is another statistic's now";
}

}  // namespace
}  // namespace tallyfs::statistics
