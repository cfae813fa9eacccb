#include "exporters/web/span.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/past/store_model.h"
#include "tests/unit/temporary_directory.h"

namespace tallyfs::web {
namespace {

using past::kBeginUs;
using past::kSecondUs;
using past::Span;

view::Statistic array_of(const std::string& name, std::vector<Int128> counts = {0, 0, 0, 0, 0}) {
  view::Statistic made{.name = name, .on = true, .type = "array"};
  made.values = view::Array{.bounds = {1, 2, 4, 8}, .counts = std::move(counts)};
  return made;
}

// The seconds from `first` to 40 of a statistic, with one sample in each.
void keep(Followed& followed, const std::string& name, std::uint64_t first) {
  followed.now.statistics.push_back(array_of(name));
  for (std::uint64_t second = first; second < 40; ++second) {
    view::Change change{.micros = kSecondUs, .samples = 1};
    change.counted = array_of(name, {1, 0, 0, 0, 0});
    followed.pasts[name].add(array_of(name), change, {kBeginUs + (second + 1) * kSecondUs});
  }
}

constexpr Span kSpan{kBeginUs + 10 * kSecondUs, kBeginUs + 40 * kSecondUs};

// A store with 60 seconds of `us`.
class SpanTest : public testing::Test {
 protected:
  SpanTest() {
    const auto writer = past::write_to(store_);
    past::Model(*writer).write(kBeginUs, 60);
    EXPECT_TRUE(writer->end());
  }

  void damage() {
    std::ofstream file(past::file_of(store_), std::ios::trunc);
    file << std::string(10'000, 'x');
    file.close();
    for (const char* more : {"-wal", "-shm"}) std::filesystem::remove(past::file_of(store_) + more);
  }

  TemporaryDirectory directory_;
  const std::string store_ = directory_ / "store";
};

TEST_F(SpanTest, AStatisticsOwnPastDecidesWhetherItIsReadFromTheStore) {
  Followed followed;
  keep(followed, "older", 0);
  keep(followed, "us", 35);
  const KeptSpan kept = kept_span(followed, kSpan);
  const auto past = read_past(kept, store_, "web", "us", {kSpan, 300});
  ASSERT_TRUE(past);
  for (const PastColumn& each : past.value().past.columns()) EXPECT_TRUE(each.is_known());
  EXPECT_EQ(past.value().past.columns().size(), 30u);
  using From = SpanReading::From;
  EXPECT_EQ(read_span(kept, store_, "web", "us", kSpan).value().from, From::kStore);
  EXPECT_EQ(read_span(kept, store_, "web", "older", kSpan).value().from, From::kKept);
}

TEST_F(SpanTest, AColumnHasWhatItsSecondCounted) {
  const std::string store = directory_ / "seconds";
  const auto writer = past::write_to(store);
  past::Model model(*writer);
  model.write(kBeginUs, 60);
  ASSERT_TRUE(writer->end());
  const auto past = read_past({}, store, "web", "us", {kSpan, 300});
  ASSERT_TRUE(past);
  ASSERT_EQ(past.value().past.columns().size(), 30u);
  for (const PastColumn& each : past.value().past.columns()) {
    const view::Statistic made = with_column(past.value().statistic, each);
    EXPECT_EQ(std::get<view::Array>(made.values).counts,
              model.counts({each.begin_us(), each.interval.end_us}))
        << model.seed();
  }
}

TEST_F(SpanTest, AStatisticWithoutAPastIsReadFromTheStore) {
  Followed followed;
  keep(followed, "older", 0);
  EXPECT_EQ(read_span(kept_span(followed, kSpan), store_, "web", "", kSpan).value().from,
            SpanReading::From::kKept);
  followed.now.statistics.push_back(array_of("us"));
  const auto read = read_span(kept_span(followed, kSpan), store_, "web", "", kSpan);
  EXPECT_EQ(read.value().from, SpanReading::From::kStore);
  EXPECT_TRUE(read.value().interface.find("us"));
}

TEST_F(SpanTest, DamagedBlocksOfTheStoreAreNamedInThePast) {
  const std::string store = directory_ / "minutes";
  const auto writer = past::write_to(store);
  past::Model(*writer).write(kBeginUs, 180);
  ASSERT_TRUE(writer->end());
  const Span second{kBeginUs + 60 * kSecondUs, kBeginUs + 120 * kSecondUs};
  auto database = past::Database::open_to_write(past::file_of(store));
  ASSERT_TRUE(database);
  ASSERT_TRUE(database.value().run(
      "UPDATE block SET data=substr(data,1,length(data)-3) WHERE tier=0 AND begin_us=" +
      std::to_string(second.begin_us)));
  const Span all{kBeginUs, kBeginUs + 180 * kSecondUs};
  const auto past = read_past({}, store, "web", "us", {all, 300});
  ASSERT_TRUE(past) << past.error().reason;
  ASSERT_EQ(past.value().damaged.size(), 1u);
  EXPECT_EQ(past.value().damaged.front().span, second);
}

TEST_F(SpanTest, ADamagedStoreIsNotATimeWithoutAnything) {
  damage();
  EXPECT_EQ(read_span({}, store_, "web", "us", kSpan).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(read_past({}, store_, "web", "us", {kSpan, 300}).error().code, ErrorCode::kInvalid);
  const std::string none = directory_ / "none";
  EXPECT_EQ(read_span({}, none, "web", "us", kSpan).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace tallyfs::web
