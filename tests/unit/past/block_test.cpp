// Points as bytes of a block, and what becomes of bytes that are damaged.
#include "tools/past/block.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

#include "tests/unit/random.h"

namespace tallyfs::past {
namespace {

using Points = std::map<std::uint64_t, std::map<unsigned, Point>>;
constexpr std::uint64_t kPieces = 10;

std::string pack(const Points& points, const std::map<std::uint64_t, DerivedViews>& views = {}) {
  BlockBuilder builder(kPieces, kBlockSeries);
  for (const auto& [series, at] : points) {
    Column column;
    for (const auto& [number, point] : at) column.add(number, point, kPieces);
    const auto found = views.find(series);
    builder.add(series, static_cast<unsigned>(series % 9), column, nullptr,
                found == views.end() ? DerivedViews() : found->second);
  }
  return builder.take(Effort::kFast);
}

// Nothing if the block is damaged.
std::optional<Points> unpack(
    const std::string& block,
    const std::function<bool(std::uint64_t)>& has = [](std::uint64_t) { return true; }) {
  Points made;
  const WantedSeries all{~std::uint64_t{0}, has};
  const bool is_whole =
      read_block(block, kPieces, all, [&](std::uint64_t series, unsigned at, Point&& point) {
        made[series][at] = std::move(point);
      });
  return is_whole ? std::optional(made) : std::nullopt;
}

std::int64_t any_signed(Random& random) {
  const auto value = static_cast<std::int64_t>(random.any());
  return random.below(2) == 0 ? value : value % 1000;
}

Point any_point(Random& random) {
  Point made{.known = random.below(4) == 0 ? random.below(kPieces) + 1 : kPieces};
  if (random.below(4) == 0) return made;
  for (std::uint64_t i = random.below(5); i > 0; --i) {
    made.cells.push_back({any_signed(random), random.below(1000) + 1});
  }
  std::ranges::sort(made.cells, {}, &Cell::key);
  const auto is_same = [](const Cell& a, const Cell& b) { return a.key == b.key; };
  made.cells.erase(std::unique(made.cells.begin(), made.cells.end(), is_same), made.cells.end());
  for (const Cell& each : made.cells) made.samples += each.count;
  if (random.below(3) == 0) made.samples = random.any();
  made.number = random.below(3) == 0 ? random.any() : made.samples;
  made.total = random.below(3) == 0 ? static_cast<Int128>(made.samples)
                                    : Int128{any_signed(random)} * any_signed(random);
  if (random.below(3) == 0) made.last = any_signed(random);
  if (random.below(3) == 0) made.min = any_signed(random);
  if (random.below(3) == 0) made.max = any_signed(random);
  if (random.below(3) == 0) made.out_of_range = random.any();
  if (random.below(3) == 0) made.missed = random.below(10);
  return made;
}

Points any_points(Random& random) {
  Points made;
  for (std::uint64_t i = random.below(20) + 1; i > 0; --i) {
    auto& at = made[random.below(1000)];
    for (unsigned number = 0; number < kBlockPoints; ++number) {
      if (random.below(3) > 0) at[number] = any_point(random);
    }
    if (at.empty()) at[0] = any_point(random);
  }
  return made;
}

TEST(BlockTest, PointsOfEachKindComeBackExactly) {
  Random random;
  for (int i = 0; i < 200; ++i) {
    const Points points = any_points(random);
    EXPECT_TRUE(unpack(pack(points)) == points) << random.seed();
  }
}

// Views have ids from 1,000 on, their sources those below.
TEST(BlockTest, ViewsHaveThePointsOfTheirSources) {
  Random random;
  for (int i = 0; i < 100; ++i) {
    Points points = any_points(random);
    std::map<std::uint64_t, DerivedViews> views;
    Points of_views;
    std::int64_t next = 1000;
    for (const auto& [series, at] : points) {
      for (std::uint64_t n = random.below(3); n > 0; --n) {
        DerivedView view{.distance = next++ - static_cast<std::int64_t>(series), .points = 0};
        view.how = static_cast<Derivation>(random.below(kDerivationMax) + 1);
        view.precision = static_cast<unsigned>(random.below(9));
        for (const auto& [number, point] : at) {
          if (random.below(4) == 0) continue;
          view.points |= std::uint64_t{1} << number;
          of_views[series + static_cast<std::uint64_t>(view.distance)][number] = derived_point(
              point, view.how, {static_cast<unsigned>(series % 9), view.precision});
        }
        views[series].push_back(view);
      }
    }
    const std::string block = pack(points, views);
    EXPECT_TRUE(unpack(block, [](std::uint64_t id) { return id >= 1000; }) == of_views)
        << random.seed();
    EXPECT_TRUE(unpack(block, [](std::uint64_t id) { return id < 1000; }) == points)
        << random.seed();
    points.merge(of_views);
    EXPECT_TRUE(unpack(block) == points) << random.seed();
  }
}

// FORMAT.md has this example.
TEST(BlockTest, TheExampleOfTheFormatHasItsBytes) {
  Column column;
  Point point{.known = kPieces, .samples = 5, .number = 5, .total = 40};
  point.cells = {{1, 3}, {4, 2}};
  column.add(2, point, kPieces);
  ColumnPacker packer;
  packer.pack(column, nullptr, kPieces, 0);
  const Parts parts = packer.take();
  EXPECT_EQ(parts[kHeads], std::string("\x04\x04\x00\x02\x07", 5));
  EXPECT_EQ(parts[kMarks], "\x08");
  EXPECT_EQ(parts[kKeys], "\x02\x02");
  EXPECT_EQ(parts[kKinds], "\x07\x05");
  EXPECT_EQ(parts[kCounts + 3], "\x03");
  EXPECT_EQ(parts[kCounts + 2], "\x02");
  EXPECT_EQ(parts[kClasses], std::string("\x00", 1));
  EXPECT_EQ(parts[kBits], "\x10");
  packer.pack(column, nullptr, kPieces, 0,
              {{.distance = 1, .points = 4, .how = Derivation::kCount, .precision = 0}});
  EXPECT_EQ(packer.take()[kHeads], std::string("\x04\x04\x10\x02\x04\x50\x02\x07", 8));
}

TEST(BlockTest, AViewOfPointsThatAreNotKnownIsDamage) {
  Column column;
  column.add(2, {.known = kPieces, .samples = 5}, kPieces);
  const auto read = [&](const DerivedView& view) {
    BlockBuilder builder(kPieces, kBlockSeries);
    builder.add(7, 0, column, nullptr, {view});
    return unpack(builder.take(Effort::kFast)).has_value();
  };
  EXPECT_TRUE(read({.distance = 1, .points = 4, .how = Derivation::kAll}));
  EXPECT_FALSE(read({.distance = 1, .points = 6, .how = Derivation::kAll}));
  EXPECT_FALSE(read({.distance = 0, .points = 4, .how = Derivation::kAll}));
  EXPECT_FALSE(read({.distance = 1, .points = 4, .how = Derivation::kNone}));
  EXPECT_FALSE(read({.distance = 1, .points = 4, .how = static_cast<Derivation>(6)}));
  EXPECT_FALSE(read({.distance = 1, .points = 4, .how = Derivation::kAll, .precision = 9}));
}

TEST(BlockTest, TheEndsOfEachNumberComeBack) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  constexpr auto kCountMax = std::numeric_limits<std::uint64_t>::max();
  Point point{.known = kPieces, .samples = 1, .number = kCountMax};
  point.total = static_cast<Int128>(~UInt128{0} >> 1);
  point.cells = {{kMin, kCountMax}, {kMax, 1}};
  point.min = kMin;
  point.max = kMax;
  Points points{{1, {{0, point}}}};
  points[kCountMax][59] = point;
  points[kCountMax][59].total = -point.total - 1;
  EXPECT_TRUE(unpack(pack(points)) == points);
}

TEST(BlockTest, AFewBytesDoNotBecomeManyPoints) {
  const WantedSeries all{~std::uint64_t{0}, [](std::uint64_t) { return true; }};
  std::size_t taken = 0;
  const TakeStored count = [&](std::uint64_t, unsigned, Point&& point) {
    taken += 1 + point.cells.size();
  };
  // The same series again and again: sixty points without bytes, then without rows.
  Parts again;
  for (int i = 0; i < 100'000; ++i) {
    const bool is_first = i == 0;
    put_number(again[kHeads], is_first ? 1 : 0);
    put_number(again[kHeads], (std::uint64_t{1} << kBlockPoints) - 1);
    again[kHeads].append(3, '\0');
  }
  EXPECT_FALSE(read_parts(again, kPieces, all, count));
  EXPECT_LE(taken, kBlockPoints);
  // Rows of counts that are all 0.
  Parts rows;
  put_number(rows[kHeads], 1);
  for (int i = 0; i < 2; ++i) put_number(rows[kHeads], (std::uint64_t{1} << kBlockPoints) - 1);
  put_number(rows[kHeads], 0);
  put_number(rows[kHeads], 100'000);
  rows[kHeads].append(100'000, '\0');
  rows[kMarks].append(kBlockPoints, '\0');
  rows[kKeys].append(100'000, '\0');
  rows[kKinds].append(100'000, '\0');
  EXPECT_FALSE(read_parts(rows, kPieces, all, count));
}

TEST(BlockTest, DamageIsFoundAndNeverCrashes) {
  Random random;
  const Points points = any_points(random);
  const std::string block = pack(points);
  std::size_t found = 0;
  for (std::size_t at = 0; at < block.size(); ++at) {
    std::string damaged = block;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random.below(8)));
    const auto read = unpack(damaged);
    found += read ? 0 : 1;
    // A bit of a frame's header may say nothing of the content.
    EXPECT_TRUE(!read || *read == points) << random.seed();
  }
  EXPECT_GT(found, block.size() * 9 / 10) << random.seed();
  for (std::size_t size = 0; size < block.size(); ++size) {
    EXPECT_FALSE(unpack(block.substr(0, size))) << size;
  }
}

TEST(BlockTest, BytesAtRandomAreNoColumn) {
  Random random;
  for (int i = 0; i < 20'000; ++i) {
    Parts parts;
    for (std::string& each : parts) {
      for (std::uint64_t n = random.below(40); n > 0; --n) {
        each.push_back(static_cast<char>(random.below(random.below(3) == 0 ? 256 : 8)));
      }
    }
    const WantedSeries odd{~std::uint64_t{0},
                           [](std::uint64_t series) { return series % 2 == 1; }};
    read_parts(parts, kPieces, odd, [&](std::uint64_t series, unsigned at, Point&& point) {
      EXPECT_EQ(series % 2, 1u);
      EXPECT_LT(at, kBlockPoints);
      EXPECT_LE(point.known, kPieces);
    });
  }
}

TEST(BlockTest, ABlockThatPromisesMuchIsNotUnpacked) {
  std::string block("\xff\xff\xff\xff\x7f\x01", 6);
  block.append(6, '\0').append("x");
  EXPECT_FALSE(unpack(block));
}

}  // namespace
}  // namespace tallyfs::past
