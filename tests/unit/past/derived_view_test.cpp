// Views in a store: each is read as if it were stored itself, and costs next to nothing where its
// source has all of it.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "tests/unit/past/store_model.h"
#include "tests/unit/temporary_directory.h"
#include "tools/past/derived_point.h"
#include "tools/past/store_reader.h"

namespace tallyfs::past {
namespace {

constexpr unsigned kPrecision = 5;
using Stored = std::map<std::pair<std::uint64_t, std::uint64_t>, Point>;  // series, moment

Point any_quantiles(Random& random) {
  Point made{.known = 1};
  std::set<std::int64_t> keys;
  for (std::uint64_t i = random.below(6); i > 0; --i) {
    keys.insert(static_cast<std::int64_t>(random.below(200) * 4 + 1));
  }
  for (const std::int64_t key : keys) {
    made.cells.push_back({key, random.below(50) + 1});
    made.samples += made.cells.back().count;
  }
  made.number = made.samples;
  made.total = static_cast<Int128>(made.samples * (random.below(900) + 1));
  if (made.samples > 0 && random.below(40) == 0) {
    made.max = static_cast<std::int64_t>(random.below(9000));
  }
  if (random.below(30) == 0) made.out_of_range = random.below(5);
  return made;
}

// Two stores with the same points: in one views are derived, in the other each has its columns.
class Twins {
 public:
  Twins() { open(); }

  // Without end(), as after a kill.
  void kill() {
    derived_.reset();
    whole_.reset();
    open();
  }
  std::uint64_t series(const std::string& name, const std::string& shape = kShape) {
    const std::uint64_t made = derived_->series("web", name, shape);
    EXPECT_EQ(whole_->series("web", name, shape), made);
    return made;
  }
  void go_to(std::uint64_t moment_us) {
    derived_->go_to(moment_us);
    whole_->go_to(moment_us);
  }
  void add(std::uint64_t series, const Point& point, const Adding& adding) {
    derived_->add(series, point, adding);
    whole_->add(series, point, {.precision = adding.precision});
  }
  void flush_if_due() {
    EXPECT_TRUE(!derived_->is_due() || derived_->flush());
    EXPECT_TRUE(!whole_->is_due() || whole_->flush());
  }
  void end() {
    EXPECT_TRUE(derived_->end());
    EXPECT_TRUE(whole_->end());
  }

  void expect_same(Random& random, const std::vector<std::uint64_t>& series, const Span& all) {
    auto derived = StoreReader::open(directory_ / "derived").value();
    auto whole = StoreReader::open(directory_ / "whole").value();
    for (int i = 0; i < 30; ++i) {
      StoreReader::Wanted wanted;
      for (const std::uint64_t each : series) {
        if (i < 3 || random.below(4) == 0) wanted[each] = kPrecision;
      }
      Span span = all;
      if (i >= 3) {
        span.begin_us += random.below((all.end_us - all.begin_us) / kSecondUs) * kSecondUs;
        span.end_us = span.begin_us + (random.below(4000) + 1) * kSecondUs;
      }
      const unsigned precision = random.below(2) == 0 ? 0 : kPrecision;
      EXPECT_EQ(derived.sums(derived.cover(span, precision).value(), wanted).value(),
                whole.sums(whole.cover(span, precision).value(), wanted).value())
          << random.seed();
      const TierSpan part{random.below(3), span};
      EXPECT_EQ(points(derived, part, wanted), points(whole, part, wanted)) << random.seed();
    }
    for (std::size_t tier = 0; tier < 3; ++tier) {
      EXPECT_EQ(all_points(derived, {tier, all}), all_points(whole, {tier, all}));
    }
  }

  std::uint64_t bytes(const char* which) {
    auto database = Database::open_to_read(file_of(directory_ / which)).value();
    return database.number("SELECT sum(length(data)) FROM block").value();
  }
  std::string directory() const { return directory_ / "derived"; }

 private:
  void open() {
    derived_ = write_to(directory_ / "derived");
    whole_ = write_to(directory_ / "whole");
  }
  static StoreReader::TakePiece into(Stored& made) {
    return [&made](std::uint64_t series, std::uint64_t moment, Point&& point) {
      const auto after = made.upper_bound({series, UINT64_MAX});
      const bool is_first = after == made.begin() || std::prev(after)->first.first != series;
      EXPECT_TRUE(is_first || std::prev(after)->first.second <= moment) << "they ascend";
      add_point(made[{series, moment}], point);
    };
  }
  static void add_point(Point& sum, const Point& more) { past::add(sum, more); }
  static Stored points(StoreReader& store, const TierSpan& part,
                       const StoreReader::Wanted& wanted) {
    Stored made;
    EXPECT_TRUE(store.points(part, wanted, into(made)));
    return made;
  }
  static Stored all_points(StoreReader& store, const TierSpan& part) {
    Stored made;
    EXPECT_TRUE(store.points(part, [](std::uint64_t) { return true; }, into(made)));
    return made;
  }

  TemporaryDirectory directory_;
  std::unique_ptr<StoreWriter> derived_;
  std::unique_ptr<StoreWriter> whole_;
};

struct Viewed {
  std::uint64_t id = 0;
  Derivation how = Derivation::kAll;
  unsigned precision = 0;
};

// A view that is off has no points. Sources are redefined, views have samples of their own, the
// recorder is killed, and two views are made when many other statistics are there already.
TEST(DerivedViewTest, EachViewIsReadAsIfItWereStoredItself) {
  Twins twins;
  Random random;
  std::uint64_t source = twins.series("us");
  std::vector<Viewed> views{{twins.series("copy"), Derivation::kAll, kPrecision},
                            {twins.series("coarse"), Derivation::kAll, 2},
                            {twins.series("range"), Derivation::kRange, 0}};
  std::vector<std::uint64_t> others;
  for (int i = 0; i < 600; ++i) others.push_back(twins.series("other" + std::to_string(i)));
  views.push_back({twins.series("total"), Derivation::kTotal, 0});
  views.push_back({twins.series("number"), Derivation::kNumber, 0});
  std::vector<std::uint64_t> all{source};
  for (const Viewed& each : views) all.push_back(each.id);
  std::size_t off = views.size();
  std::uint64_t at = kBeginUs;
  for (int i = 0; i < 9000; ++i, at += kSecondUs) {
    if (random.below(900) == 0) {
      source = twins.series("us", R"({"type":"quantiles","n":)" + std::to_string(i) + "}");
      all.push_back(source);
    }
    if (random.below(2000) == 0) twins.kill();
    if (random.below(300) == 0) off = random.below(views.size() + 1);
    twins.go_to(at + kSecondUs / 2);
    const Point point = any_quantiles(random);
    const bool is_seen = random.below(500) > 0;
    if (is_seen) twins.add(source, point, {.precision = kPrecision});
    for (std::size_t n = 0; n < views.size(); ++n) {
      const Viewed& view = views[n];
      if (n == off) continue;
      Point own = derived_point(point, view.how, {kPrecision, view.precision});
      if (random.below(1500) == 0) own.samples += 1;
      twins.add(view.id, own,
                {.precision = view.precision, .source = source, .how = view.how});
    }
    if (i % 60 == 0) {
      for (const std::uint64_t each : others) twins.add(each, {.known = 1}, {});
    }
    twins.flush_if_due();
    if (i == 4000) twins.expect_same(random, all, {kBeginUs, at});
  }
  twins.end();
  twins.expect_same(random, all, {kBeginUs, at});
  EXPECT_LT(twins.bytes("derived") * 10, twins.bytes("whole") * 8) << random.seed();
}

TEST(DerivedViewTest, AViewThatItsSourceHasCostsAFewBytesOfABlock) {
  Twins twins;
  Random random;
  std::vector<std::uint64_t> sources;
  std::vector<std::uint64_t> views;
  for (int i = 0; i < 40; ++i) sources.push_back(twins.series("us" + std::to_string(i)));
  // So the views' own columns are in other blocks, which are compressed by themselves.
  std::vector<std::uint64_t> others;
  for (int i = 0; i < 600; ++i) others.push_back(twins.series("other" + std::to_string(i)));
  for (int i = 0; i < 40; ++i) views.push_back(twins.series("view" + std::to_string(i)));
  for (std::uint64_t i = 0; i < 600; ++i) {
    twins.go_to(kBeginUs + i * kSecondUs);
    for (const std::uint64_t each : others) twins.add(each, {.known = 1}, {});
    for (std::size_t n = 0; n < sources.size(); ++n) {
      const Point point = any_quantiles(random);
      twins.add(sources[n], point, {.precision = kPrecision});
      twins.add(views[n], point,
                {.precision = kPrecision, .source = sources[n], .how = Derivation::kAll});
    }
  }
  twins.end();
  EXPECT_LT(twins.bytes("derived") * 100, twins.bytes("whole") * 60) << random.seed();
}

TEST(DerivedViewTest, WhatNoBlockHasAnyMoreIsNoSource) {
  Twins twins;
  const std::uint64_t source = twins.series("us");
  const std::uint64_t view = twins.series("view");
  const std::uint64_t kept = twins.series("kept");
  const auto rows = [&] {
    auto database = Database::open_to_read(file_of(twins.directory())).value();
    return database.number("SELECT count(*) FROM derived").value();
  };
  for (std::uint64_t i = 0; i < 100; ++i) {
    twins.go_to(kBeginUs + i * kSecondUs);
    twins.add(source, {.known = 1, .samples = 3}, {});
    twins.add(view, {.known = 1, .samples = 3}, {.source = source, .how = Derivation::kAll});
  }
  twins.end();
  EXPECT_EQ(rows(), 1u);
  twins.kill();
  twins.go_to(kBeginUs + 40 * 24 * kHourUs);
  twins.add(kept, {.known = 1}, {});
  twins.end();
  EXPECT_EQ(rows(), 0u);
}

TEST(DerivedViewTest, EachPairOfTypesHasItsDerivationOrNone) {
  const auto of = [](view::Values values, const char* mode = "increments") {
    view::Statistic made{.definition = {{"mode", mode}}};
    made.values = std::move(values);
    return made;
  };
  const auto increments = of(view::Value());
  const auto products = of(view::Value(), "products");
  const auto range = of(view::Range());
  const auto list = of(view::List());
  const auto array = of(view::Array());
  const auto quantiles = of(view::Quantiles());
  const auto last = of(view::Last());
  for (const auto& each : {increments, products, range, list, array, quantiles, last}) {
    EXPECT_EQ(derivation_of(each, each), Derivation::kAll);
    EXPECT_EQ(derivation_of(each, of(view::History())), Derivation::kNone);
    EXPECT_EQ(derivation_of(each, of(view::Raw())), Derivation::kNone);
  }
  for (const auto& each : {range, quantiles}) {
    EXPECT_EQ(derivation_of(each, increments), Derivation::kNumber);
    EXPECT_EQ(derivation_of(each, products), Derivation::kTotal);
  }
  for (const auto& each : {array, list}) {
    EXPECT_EQ(derivation_of(each, increments), Derivation::kCount);
    for (const auto& none : {products, range, quantiles, last}) {
      EXPECT_EQ(derivation_of(each, none), Derivation::kNone);
    }
  }
  EXPECT_EQ(derivation_of(quantiles, range), Derivation::kRange);
  for (const auto& none : {list, array, last}) {
    EXPECT_EQ(derivation_of(quantiles, none), Derivation::kNone);
    EXPECT_EQ(derivation_of(increments, none), Derivation::kNone);
  }
  EXPECT_EQ(derivation_of(increments, products), Derivation::kNone);
  EXPECT_EQ(derivation_of(increments, quantiles), Derivation::kNone);
  EXPECT_EQ(derivation_of(range, quantiles), Derivation::kNone);
}

// What a tallyctl of format 2 has written, in which a view has columns of its own.
TEST(DerivedViewTest, AStoreOfFormatTwoIsReadAndGoesOn) {
  TemporaryDirectory directory;
  const auto adding = [](std::uint64_t source) {
    return Adding{.source = source, .how = Derivation::kAll};
  };
  const auto write = [&](std::uint64_t begin_us, bool is_derived) {
    const auto writer = write_to(directory / "store");
    const std::uint64_t source = writer->series("web", "us", kShape);
    const std::uint64_t view = writer->series("web", "view", kShape);
    for (std::uint64_t i = 0; i < 60; ++i) {
      writer->go_to(begin_us + i * kSecondUs);
      writer->add(source, second_of(i % 3, 2), {});
      writer->add(view, second_of(i % 3, 2), is_derived ? adding(source) : Adding());
    }
    ASSERT_TRUE(writer->end());
  };
  const auto samples = [&](std::uint64_t id) {
    auto store = StoreReader::open(directory / "store");
    EXPECT_TRUE(store) << (store ? "" : store.error().reason);
    const Span span{kBeginUs, kBeginUs + 120 * kSecondUs};
    const auto parts = store.value().cover(span, 0).value();
    return store.value().sums(parts, {{id, 0}}).value()[id].samples;
  };
  const auto run = [&](const char* sql) {
    ASSERT_TRUE(Database::open_to_write(file_of(directory / "store")).value().run(sql));
  };
  write(kBeginUs, false);
  run("DROP TABLE derived; PRAGMA user_version=2");
  EXPECT_EQ(samples(1), 120u);
  EXPECT_EQ(samples(2), 120u);
  write(kBeginUs + 60 * kSecondUs, true);
  EXPECT_EQ(samples(1), 240u);
  EXPECT_EQ(samples(2), 240u);
  auto database = Database::open_to_read(file_of(directory / "store")).value();
  EXPECT_EQ(database.number("PRAGMA user_version").value(), kStoreFormat);
  EXPECT_EQ(database.number("SELECT source FROM derived WHERE series=2").value(), 1u);
}

}  // namespace
}  // namespace tallyfs::past
