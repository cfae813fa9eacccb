// No reader makes more text than it has room for, and none is begun that certainly has none.
#include "tests/unit/allocated.h"
#include "tests/unit/statistics_interface/each_type.h"
#include "tests/unit/statistics_interface/fixture.h"

namespace tallyfs::statistics {
namespace {

Result<std::string> data(Fixture& fixture, std::size_t bytes_max) {
  return fixture.interface->render_data(fixture.clock.now(), bytes_max);
}

Result<std::string> definition(Fixture& fixture, std::size_t bytes_max) {
  return fixture.interface->render_definition(bytes_max);
}

// Either text, with just enough room and with one byte less; and its length without the text.
void expect_bounded(Fixture& fixture) {
  const Timestamp now = fixture.clock.now();
  const std::size_t length = fixture.data().size();
  EXPECT_EQ(fixture.interface->data_length(now, length).value(), length);
  if (length != 0) {
    EXPECT_FALSE(fixture.interface->data_length(now, length - 1));
  }
  for (const auto render : {data, definition}) {
    const std::string text = render(fixture, kAnyLength).value();
    const auto met = render(fixture, text.size());
    ASSERT_TRUE(met);
    EXPECT_EQ(met.value(), text);
    if (text.empty()) continue;
    const auto refused = render(fixture, text.size() - 1);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kNoSpace);
    EXPECT_EQ(refused.error().reason,
              "the text would be longer than " + std::to_string(text.size() - 1) + " bytes");
  }
}

TEST(TextBoundTest, IsMetExactlyByEachTypeFromItsShortestLinesOn) {
  for (const char* text : kEachType) {
    SCOPED_TRACE(text);
    Fixture fixture(text);
    expect_bounded(fixture);
    // From `s [0.000000] 0 0 0` to the longest numbers there are.
    for (const std::int64_t x : {std::int64_t{0}, std::int64_t{-7}, std::int64_t{1} << 62,
                                 std::int64_t{1} << 63, ~(std::int64_t{1} << 63)}) {
      fixture.add(x, 0);
      expect_bounded(fixture);
      fixture.add(x, static_cast<std::uint64_t>(x));
      fixture.clock.advance(std::chrono::nanoseconds(1000));
      expect_bounded(fixture);
    }
  }
}

TEST(TextBoundTest, IsMetExactlyByAllTogether) {
  Fixture fixture;
  expect_bounded(fixture);
  std::size_t count = 0;
  for (const char* text : kEachType) {
    Statistic* const statistic = fixture.create(numbered(count++), text);
    fixture.add(statistic, {{.x = 0}});
  }
  fixture.clock.advance(std::chrono::seconds(3));
  expect_bounded(fixture);
}

TEST(TextBoundTest, ARefusalChangesNothing) {
  Fixture fixture("on=1 units=a");
  fixture.add(5);
  fixture.create("t", "on=1 type=history entries_max=3 mode=increments period=1000000");
  fixture.clock.advance(std::chrono::seconds(1));
  const Timestamp last_change = fixture.last_change();
  const std::string before = fixture.saved();
  EXPECT_FALSE(data(fixture, 3));
  EXPECT_FALSE(definition(fixture, 3));
  EXPECT_EQ(fixture.saved(), before);
  EXPECT_EQ(fixture.last_change(), last_change);
}

TEST(TextBoundTest, WhatCertainlyIsTooLongIsNeitherCopiedNorRendered) {
  Fixture fixture;
  for (std::size_t i = 0; i < 20; ++i) {
    const std::string name = numbered(i).append(250, 'x');
    fixture.create(name, "on=1 type=array base_interval=1 scale=lin range_min=1 range_max=65535");
  }
  const std::size_t before = allocated_bytes();
  EXPECT_FALSE(data(fixture, 1 << 28));
  EXPECT_FALSE(definition(fixture, 6'000));
  EXPECT_LT(allocated_bytes() - before, 2'000u);
}

// 65,535 lines of `s <=4611686018427387905 0` whose shortest would be `s >0 0`.
TEST(TextBoundTest, WhatIsTooLongIsMeasuredAndNotRendered) {
  Fixture fixture(
      "on=1 type=array base_interval=1 scale=lin range_min=4611686018427387904 "
      "range_max=4611686018427453437");
  const std::size_t before = allocated_bytes();
  EXPECT_FALSE(data(fixture, 600'000));
  // The copy of the data.
  EXPECT_LT(allocated_bytes() - before, 65'536 * sizeof(std::uint64_t) + 2'000);
  EXPECT_GT(fixture.data().size(), 1'500'000u);
}

// What is copied of raw samples is shared with the statistic.
TEST(TextBoundTest, LongJsonIsMeasuredBeforeItIsRendered) {
  Fixture fixture("on=1 type=raw entries_max=600000");
  for (std::int64_t i = 0; i < 600'000; ++i) fixture.add(i * 1'000'003 % 600'000);
  const auto json = [&](std::size_t bytes_max) {
    return fixture.interface->render_json("web", 1, fixture.clock.now(), bytes_max);
  };
  const std::size_t length = json(kAnyLength).value().size();
  std::size_t before = allocated_bytes();
  EXPECT_FALSE(json(length / 2));
  EXPECT_LT(allocated_bytes() - before, 100'000u);
  before = allocated_bytes();
  EXPECT_EQ(json(length).value().size(), length);
  EXPECT_LT(allocated_bytes() - before, length + 100'000);
  EXPECT_FALSE(json(length - 1));
}

// A list's table is larger than its entries, and is sorted for its reader.
TEST(TextBoundTest, ReadingTakesAtMostTwiceTheSizeOfTheText) {
  Fixture fixture;
  for (std::size_t i = 0; i < 3; ++i) {
    Statistic* const list =
        fixture.create("a_list_of_things_" + numbered(i), "on=1 type=list entries_max=40000");
    std::vector<Sample> samples;
    for (std::int64_t x = 0; x < 40'000; ++x) samples.push_back({.x = x * 1000});
    fixture.add(list, samples);
  }
  const std::size_t before = allocated_bytes();
  const auto text = data(fixture, 1 << 28);
  const std::size_t taken = allocated_bytes() - before;
  EXPECT_LT(taken, 2 * text.value().size());
}

TEST(TextBoundTest, OfHistogramsIsCopiedWhatIsShown) {
  for (const char* text : {"on=1 type=quantiles precision=8 quantiles=50",
                           "on=1 type=history entries_max=9 mode=quantiles period=1000 precision=8 "
                           "quantiles=50"}) {
    SCOPED_TRACE(text);
    Fixture fixture(text);
    for (std::int64_t x = 1; x < std::int64_t{1} << 60; x += x / 200 + 1) fixture.add(x);
    const std::size_t before = allocated_bytes();
    EXPECT_TRUE(data(fixture, kAnyLength));
    EXPECT_LT(allocated_bytes() - before, 5'000u);
  }
}

TEST(TextBoundTest, StatisticsWithoutLinesAreNotCopied) {
  Fixture fixture;
  for (std::size_t i = 0; i < 1000; ++i) fixture.create(numbered(i), "type=raw entries_max=9");
  const std::size_t before = allocated_bytes();
  EXPECT_EQ(data(fixture, 0).value(), "");
  EXPECT_LT(allocated_bytes() - before, 100u);
}

}  // namespace
}  // namespace tallyfs::statistics
