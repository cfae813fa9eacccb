// Writer and readers of one store: spans against sums of what was written, what a kill loses, and
// each bound.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <numeric>

#include "tests/unit/past/store_model.h"
#include "tests/unit/temporary_directory.h"
#include "tools/past/span_source.h"
#include "tools/past/store_writer.h"
#include "tools/tree/statistics_json.h"

namespace tallyfs::past {
namespace {

struct Found {
  Span span;
  std::vector<Int128> counts;
  std::uint64_t known_us = 0;
  std::vector<Fact> facts;
};

Found read(const std::string& directory, const Span& span, const char* statistic = "us") {
  Found made;
  auto store = StoreReader::open(directory);
  EXPECT_TRUE(store) << (store ? "" : store.error().reason);
  if (!store) return made;
  auto source = SpanSource::open(std::move(store).value(), span);
  EXPECT_TRUE(source);
  made.span = source.value()->span();
  const auto interface = read_interface(*source.value(), "web");
  EXPECT_TRUE(interface) << (interface ? "" : interface.error().reason);
  const view::Statistic* const found = interface ? interface.value().find(statistic) : nullptr;
  if (found) {
    made.counts = std::get<view::Array>(found->values).counts;
    made.known_us = interface.value().time_us - found->data_us;
  }
  made.facts = source.value()->facts().value();
  return made;
}

TEST(StoreTest, AnySpanIsTheSumOfItsSeconds) {
  TemporaryDirectory directory;
  const auto writer = write_to(directory / "store");
  Model model(*writer);
  model.write(kBeginUs + 17 * kSecondUs, 3 * 3600);
  ASSERT_TRUE(writer->end());
  for (int i = 0; i < 60; ++i) {
    const std::uint64_t begin = kBeginUs + model.random().below(3 * 3600) * kSecondUs;
    const Span span{begin, begin + (model.random().below(7200) + 1) * kSecondUs};
    const Found found = read(directory / "store", span);
    const auto wanted = model.counts(found.span);
    if (found.counts.empty()) {
      EXPECT_EQ(std::accumulate(wanted.begin(), wanted.end(), Int128{0}), 0);
      continue;
    }
    EXPECT_EQ(found.counts, wanted) << model.seed();
    // Ends of the last hour are exact to the second.
    const bool is_fine = begin >= kBeginUs + 2 * kHourUs + 100 * kSecondUs;
    EXPECT_EQ(found.span, is_fine ? span : found.span) << model.seed();
  }
}

TEST(StoreTest, AKillLosesNoMoreThanCameAfterTheLastFlush) {
  TemporaryDirectory directory;
  std::uint64_t flushed = 0;
  {
    const auto writer = write_to(directory / "store");
    Model model(*writer);
    for (std::uint64_t i = 0; i < 95; ++i) {
      model.write(kBeginUs + i * kSecondUs, 1);
      flushed = i / 10 * 10;
    }
    const Found beside = read(directory / "store", {kBeginUs, kBeginUs + flushed * kSecondUs});
    EXPECT_EQ(beside.counts, model.counts({kBeginUs, kBeginUs + flushed * kSecondUs}))
        << model.seed();
    // It is not ended: what it kept in memory goes.
  }
  const Found after = read(directory / "store", {kBeginUs, kBeginUs + kHourUs});
  EXPECT_GE(after.known_us, flushed * kSecondUs);
  const auto again = write_to(directory / "store");
  EXPECT_EQ(again->written_until_us() / kSecondUs, kBeginUs / kSecondUs + flushed + 1);
  Model more(*again);
  more.write(kBeginUs + 200 * kSecondUs, 60);
  ASSERT_TRUE(again->end());
  EXPECT_EQ(
      read(directory / "store", {kBeginUs + 200 * kSecondUs, kBeginUs + 260 * kSecondUs}).counts,
      more.counts({kBeginUs + 200 * kSecondUs, kBeginUs + 260 * kSecondUs}))
      << more.seed();
  EXPECT_EQ(read(directory / "store", {kBeginUs, kBeginUs + kHourUs}).known_us,
            after.known_us + 60 * kSecondUs);
}

TEST(StoreTest, EachTierIsKeptForItsTimeAndTheCoarserOneAnswersBeyond) {
  TemporaryDirectory directory;
  StoreWriter::Settings short_ones{.tiers = parse_tiers("1s:2m,10s:10m,1m:1h").value()};
  const auto writer = write_to(directory / "store", short_ones);
  Model model(*writer);
  model.write(kBeginUs, 2 * 3600 + 200);
  ASSERT_TRUE(writer->flush());
  const Found old =
      read(directory / "store", {kBeginUs + 5000 * kSecondUs, kBeginUs + 5400 * kSecondUs});
  // To the minute: no finer points are there any more.
  EXPECT_EQ(old.span, (Span{kBeginUs + 4980 * kSecondUs, kBeginUs + 5400 * kSecondUs}));
  EXPECT_EQ(old.counts, model.counts(old.span)) << model.seed();
  EXPECT_TRUE(read(directory / "store", {kBeginUs, kBeginUs + 600 * kSecondUs}).counts.empty());
}

TEST(StoreTest, QuantilesOfOldSpansHaveAllSamplesInWiderBuckets) {
  TemporaryDirectory directory;
  StoreWriter::Settings short_ones{.tiers = parse_tiers("1s:2m,10s:10m,1m:1h").value()};
  const auto writer = write_to(directory / "store", short_ones);
  const std::uint64_t id =
      writer->series("web", "us", R"({"name":"us","type":"quantiles","precision":5,"values":{}})");
  for (std::uint64_t i = 0; i < 2000; ++i) {
    writer->go_to(kBeginUs + i * kSecondUs);
    Point point{.known = 1, .samples = 2, .number = 2};
    point.cells = {{4 * static_cast<std::int64_t>(i % 32 + 1) + 1, 2}};
    writer->add(id, point, {.precision = 5});
    ASSERT_TRUE(!writer->is_due() || writer->flush());
  }
  const auto quantiles = [&](std::uint64_t from, std::uint64_t to) {
    auto source = SpanSource::open(StoreReader::open(directory / "store").value(),
                                   {kBeginUs + from * kSecondUs, kBeginUs + to * kSecondUs});
    const auto interface = read_interface(*source.value(), "web").value();
    const view::Statistic& found = interface.statistics.at(0);
    const auto& buckets = std::get<view::Quantiles>(found.values).positive;
    return std::pair(std::string(found.key("precision")), buckets);
  };
  const auto [old_precision, old] = quantiles(120, 420);
  EXPECT_EQ(old_precision, "3");
  EXPECT_EQ(old.indexes, (std::vector<std::int32_t>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(std::accumulate(old.counts.begin(), old.counts.end(), Int128{0}), 2 * 300);
  const auto [new_precision, fresh] = quantiles(1600, 1920);  // ten times 32 s
  EXPECT_EQ(new_precision, "5");
  EXPECT_EQ(fresh.counts, std::vector<Int128>(32, 20));
}

TEST(StoreTest, QuantilesAreMergedOnceHoweverManyTiersAreCoarse) {
  TemporaryDirectory directory;
  const StoreWriter::Settings two_coarse{.tiers = parse_tiers("1s:2m,1m:1h,10m:1d").value()};
  const auto writer = write_to(directory / "store", two_coarse);
  const std::uint64_t id =
      writer->series("web", "us", R"({"name":"us","type":"quantiles","precision":5,"values":{}})");
  for (std::uint64_t i = 0; i < 4 * 3600; ++i) {
    writer->go_to(kBeginUs + i * kSecondUs);
    Point point{.known = 1, .samples = 1, .number = 1};
    point.cells = {{4 * 319 + 1, 1}};
    writer->add(id, point, {.precision = 5});
    ASSERT_TRUE(!writer->is_due() || writer->flush());
  }
  const auto indexes = [&](std::uint64_t from, std::uint64_t to) {
    auto source = SpanSource::open(StoreReader::open(directory / "store").value(),
                                   {kBeginUs + from * kSecondUs, kBeginUs + to * kSecondUs});
    const auto interface = read_interface(*source.value(), "web").value();
    const view::Statistic& found = interface.statistics.at(0);
    EXPECT_EQ(found.key("precision"), "3");
    return std::get<view::Quantiles>(found.values).positive.indexes;
  };
  const auto of_minutes = indexes(4 * 3600 - 1800, 4 * 3600 - 1200);
  EXPECT_EQ(of_minutes.size(), 1u);
  EXPECT_EQ(indexes(600, 1200), of_minutes);
}

TEST(StoreTest, AStoreStaysBelowItsSizeAndLosesTheFinestFirst) {
  TemporaryDirectory directory;
  StoreWriter::Settings small = settings();
  small.bytes_max = 6 << 20;
  const auto writer = write_to(directory / "store", small);
  Random random;
  const std::string file = directory / "store/past.sqlite";
  for (std::uint64_t i = 0; i < 2400; ++i) {
    writer->go_to(kBeginUs + i * kSecondUs);
    for (std::uint64_t k = 0; k < 30; ++k) {
      Point point{.known = 1};
      for (std::int64_t x = 0; x < 60; ++x) point.cells.push_back({x, random.below(60'000) + 1});
      writer->add(writer->series("web", "us" + std::to_string(k), kShape), point);
    }
    ASSERT_TRUE(!writer->is_due() || writer->flush());
  }
  const auto size = std::filesystem::file_size(file) + std::filesystem::file_size(file + "-wal");
  EXPECT_LT(size, small.bytes_max * 3 / 2);
  auto store = StoreReader::open(directory / "store");
  ASSERT_TRUE(store);
  const auto parts = store.value().cover({kBeginUs, kBeginUs + 2400 * kSecondUs}, 8);
  ASSERT_TRUE(parts);
  for (const TierSpan& each : parts.value()) EXPECT_GT(each.tier, 0u);
  EXPECT_EQ(parts.value().back().span.begin_us, kBeginUs);
}

TEST(StoreTest, AReaderThatHoldsTheLogStopsTheWritingAndNothingElse) {
  TemporaryDirectory directory;
  StoreWriter::Settings tight = settings();
  tight.wal_bytes_max = 1 << 20;
  const auto writer = write_to(directory / "store", tight);
  Model model(*writer);
  model.write(kBeginUs, 5);
  ASSERT_TRUE(writer->flush());
  auto reader = Database::open_to_read(file_of(directory / "store"));
  ASSERT_TRUE(reader);
  ASSERT_TRUE(reader.value().run("BEGIN"));
  ASSERT_TRUE(reader.value().number("SELECT count(*) FROM block"));
  Result<void> done;
  for (std::uint64_t i = 0; i < 400 && done; ++i) {
    writer->go_to(kBeginUs + 5 * kSecondUs + i * 10 * kSecondUs);
    writer->add(writer->series("web", "us", kShape), second_of(1, 1));
    done = writer->flush();
  }
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kBusy);
  ASSERT_TRUE(reader.value().run("COMMIT"));
  EXPECT_TRUE(writer->flush());
}

// Of so many statistics that they have two blocks, the second of which the writer replaces while
// the first is read.
void expect_all_points(std::chrono::milliseconds hold_max) {
  constexpr std::size_t kStatistics = 400;
  TemporaryDirectory directory;
  const auto writer = write_to(directory / "store");
  std::vector<std::uint64_t> ids;
  for (std::size_t i = 0; i < kStatistics; ++i) {
    ids.push_back(writer->series("web", "s" + std::to_string(i), kShape));
  }
  for (std::uint64_t second = 0; second < 3; ++second) {
    writer->go_to(kBeginUs + second * kSecondUs + kSecondUs / 2);
    for (const std::uint64_t each : ids) writer->add(each, second_of(1, 1));
  }
  ASSERT_TRUE(writer->flush());
  auto store = StoreReader::open(directory / "store", hold_max).value();
  std::map<std::uint64_t, std::vector<std::uint64_t>> moments;
  const auto take = [&](std::uint64_t id, std::uint64_t moment_us, Point&&) {
    if (moments.empty()) {
      EXPECT_TRUE(writer->flush());
    }
    moments[id].push_back((moment_us - kBeginUs) / kSecondUs);
  };
  const auto all = [](std::uint64_t) { return true; };
  ASSERT_TRUE(store.points({0, {kBeginUs, kBeginUs + 3 * kSecondUs}}, all, take));
  EXPECT_EQ(moments.size(), kStatistics);
  for (const auto& [id, each] : moments) {
    EXPECT_EQ(each, (std::vector<std::uint64_t>{0, 1, 2})) << id;
  }
}

TEST(StoreTest, PointsAreThoseOfOneMomentBesideAWriterThatReplacesBlocks) {
  expect_all_points(StoreReader::kHoldMax);
}

TEST(StoreTest, PointsOfOpenBlocksOutliveTheTransactionThatFoundThem) {
  expect_all_points(std::chrono::milliseconds(0));
}

TEST(StoreTest, ADamagedBlockIsAGapWithItsReason) {
  TemporaryDirectory directory;
  {
    const auto writer = write_to(directory / "store");
    Model(*writer).write(kBeginUs, 180);
    ASSERT_TRUE(writer->end());
  }
  auto database = Database::open_to_write(file_of(directory / "store"));
  ASSERT_TRUE(database);
  ASSERT_TRUE(
      database.value().run("UPDATE block SET data=substr(data,1,length(data)-3) "
                           "WHERE tier=0 AND begin_us=" +
                           std::to_string(kBeginUs + 60 * kSecondUs)));
  const Found found =
      read(directory / "store", {kBeginUs + 61 * kSecondUs, kBeginUs + 119 * kSecondUs});
  ASSERT_FALSE(found.facts.empty());
  EXPECT_EQ(found.facts.back().reason, "damaged in the store");
  EXPECT_EQ(found.facts.back().span, (Span{kBeginUs + 60 * kSecondUs, kBeginUs + 120 * kSecondUs}));
}

TEST(StoreTest, ASecondWriterOtherFormatsAndOtherTiersAreRefused) {
  TemporaryDirectory directory;
  auto writer = write_to(directory / "store");
  const auto second = StoreWriter::open(directory / "store", settings());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kBusy);
  writer.reset();
  const auto others =
      StoreWriter::open(directory / "store", {.tiers = parse_tiers("2s:1h,1m:1d").value()});
  ASSERT_FALSE(others);
  EXPECT_NE(others.error().reason.find("1s:1h,10s:1d,1m:30d"), std::string::npos);
  auto database = Database::open_to_write(file_of(directory / "store"));
  for (const char* format : {"7", "1"}) {
    ASSERT_TRUE(database.value().run(std::string("PRAGMA user_version=") + format));
    const auto reader = StoreReader::open(directory / "store");
    ASSERT_FALSE(reader);
    EXPECT_NE(reader.error().reason.find(std::string("format ") + format), std::string::npos);
    EXPECT_FALSE(StoreWriter::open(directory / "store", settings()));
  }
}

TEST(StoreTest, AMissingStoreSaysWhatMakesOneAndTextIsNone) {
  TemporaryDirectory directory;
  const auto missing = StoreReader::open(directory / "none");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_NE(missing.error().reason.find("tallyctl record --store"), std::string::npos);
  std::filesystem::create_directory(directory / "text");
  std::FILE* const file = std::fopen((directory / "text/past.sqlite").c_str(), "w");
  for (int i = 0; i < 1000; ++i) std::fputs("no database ", file);
  std::fclose(file);
  const auto damaged = StoreReader::open(directory / "text");
  ASSERT_FALSE(damaged);
  EXPECT_NE(damaged.error().reason.find("damaged"), std::string::npos);
}

TEST(StoreTest, ACopyWithoutALogIsRead) {
  TemporaryDirectory directory;
  const auto writer = write_to(directory / "store");
  Model model(*writer);
  model.write(kBeginUs, 30);
  ASSERT_TRUE(writer->end());
  std::filesystem::create_directory(directory / "copy");
  std::filesystem::copy(directory / "store/past.sqlite", directory / "copy/past.sqlite");
  EXPECT_EQ(read(directory / "copy", {kBeginUs, kBeginUs + 30 * kSecondUs}).counts,
            model.counts({kBeginUs, kBeginUs + 30 * kSecondUs}));
  struct stat status {};
  ASSERT_EQ(::stat((directory / "store/past.sqlite").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0640u);
}

TEST(StoreTest, AClockThatGoesBackLosesNothing) {
  TemporaryDirectory directory;
  const auto writer = write_to(directory / "store");
  Model first(*writer);
  first.write(kBeginUs + 600 * kSecondUs, 100);
  Model second(*writer);
  second.write(kBeginUs, 100);
  ASSERT_TRUE(writer->end());
  EXPECT_EQ(read(directory / "store", {kBeginUs, kBeginUs + 100 * kSecondUs}).counts,
            second.counts({kBeginUs, kBeginUs + 100 * kSecondUs}));
  EXPECT_EQ(
      read(directory / "store", {kBeginUs + 600 * kSecondUs, kBeginUs + 700 * kSecondUs}).counts,
      first.counts({kBeginUs + 600 * kSecondUs, kBeginUs + 700 * kSecondUs}));
}

TEST(TiersTest, AreReadAndWrittenAndRefused) {
  EXPECT_EQ(tiers_text(parse_tiers("1s:1h,10s:1d,1m:30d").value()), "1s:1h,10s:1d,1m:30d");
  for (const char* wrong : {"", "1s", "1s:1h,", "2s:1h,3s:1d", "1s:1h,1s:1d", "0s:1h", "10s:1s",
                            "1s:1h,2s:1h,4s:1h,8s:1h,16s:1h", "1x:1h", "1s:99999d"}) {
    EXPECT_FALSE(parse_tiers(wrong)) << wrong;
  }
}

TEST(CoverTest, TheMiddleIsOfTheCoarsestTierAndTheEndsOfFinerOnes) {
  const Tiers tiers = parse_tiers("1s:1h,10s:1d,50s:30d").value();
  const auto at = [](std::uint64_t seconds) { return kBeginUs + seconds * kSecondUs; };
  const auto found = cover({at(3), at(245)}, tiers, {0, 0, 0}, 0);
  EXPECT_EQ(found.front(), (TierSpan{0, {at(240), at(245)}}));
  EXPECT_EQ(found.back(), (TierSpan{0, {at(3), at(10)}}));
  EXPECT_EQ(std::ranges::max(found, {}, &TierSpan::tier).tier, 2u);
}

TEST(CoverTest, ALowerPrecisionIsForWhatNoOtherTierHas) {
  const Tiers tiers = parse_tiers(kDefaultTiers).value();
  const auto at = [](std::uint64_t seconds) { return kBeginUs + seconds * kSecondUs; };
  const std::vector<TierSpan> fine = {
      {0, {at(250), at(255)}}, {1, {at(10), at(250)}}, {0, {at(3), at(10)}}};
  EXPECT_EQ(cover({at(3), at(255)}, tiers, {0, 0, 0}, 5), fine);
  // All else is as exact in coarse points, of which there are fewer.
  EXPECT_EQ(cover({at(3), at(255)}, tiers, {0, 0, 0}, 3),
            (std::vector<TierSpan>{{0, {at(250), at(255)}},
                                   {1, {at(240), at(250)}},
                                   {2, {at(60), at(240)}},
                                   {1, {at(10), at(60)}},
                                   {0, {at(3), at(10)}}}));
  const std::vector<TierSpan> old = {{2, {at(0), at(240)}}};
  EXPECT_EQ(cover({at(3), at(255)}, tiers, {at(3600), at(3600), 0}, 5), old);
  const std::vector<TierSpan> older = {
      {0, {at(250), at(255)}}, {1, {at(240), at(250)}}, {2, {at(0), at(240)}}};
  EXPECT_EQ(cover({at(3), at(255)}, tiers, {at(200), at(100), 0}, 5), older);
}

}  // namespace
}  // namespace tallyfs::past
