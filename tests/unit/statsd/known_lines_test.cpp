// Lines that were seen before: what they do must not depend on that.
#include "feeders/statsd/series/known_lines.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>

#include "tests/unit/statsd/recording_outlet.h"

namespace tallyfs::statsd {
namespace {

Series* series_numbered(std::uintptr_t number) {
  return reinterpret_cast<Series*>(number * alignof(Series));
}
const KnownLine* find_line(const KnownLines& known, const LineKey& key) {
  return known.find(key, KnownLines::hash_of(key));
}

TEST(StatsdKnownLinesTest, FindsLinesByBothTheirTexts) {
  KnownLines known;
  known.add({"a", "|c|#x:1"}, {.series = series_numbered(1)});
  known.add({"a", "|ms|#x:1"}, {.series = series_numbered(2), .kind = Kind::kTimer});
  known.add({"a", "|c|#x:1"}, {.series = series_numbered(3)});
  // The newest: the series of the first may be gone.
  EXPECT_EQ(find_line(known, {"a", "|c|#x:1"})->series, series_numbered(3));
  EXPECT_EQ(find_line(known, {"a", "|ms|#x:1"})->kind, Kind::kTimer);
  EXPECT_EQ(find_line(known, {"a|", "c|#x:1"}), nullptr);
  EXPECT_EQ(find_line(known, {"|c|#x:1", "a"}), nullptr);
  EXPECT_EQ(find_line(known, {"", ""}), nullptr);
}

TEST(StatsdKnownLinesTest, KeepsNoLongTexts) {
  KnownLines known;
  known.add({"a", std::string(511, 'x')}, {.series = series_numbered(1)});
  known.add({"a", std::string(512, 'x')}, {.series = series_numbered(1)});
  EXPECT_NE(find_line(known, {"a", std::string(511, 'x')}), nullptr);
  EXPECT_EQ(find_line(known, {"a", std::string(512, 'x')}), nullptr);
}

// By the number of lines, and by their bytes.
TEST(StatsdKnownLinesTest, ForgetsAllWhenThereIsNoRoom) {
  for (const std::size_t bytes : {1u, 500u}) {
    KnownLines known;
    const std::string rest(bytes, '|');
    std::size_t added = 0;
    do {
      ASSERT_LE(added, KnownLines::kLinesMax);
      known.add({std::to_string(added++), rest}, {.series = series_numbered(1)});
    } while (find_line(known, {std::to_string(added - 1), rest}));
    EXPECT_NE(find_line(known, {"0", rest}), nullptr);
    known.make_room();
    EXPECT_EQ(find_line(known, {"0", rest}), nullptr);
    known.add({"0", rest}, {.series = series_numbered(2)});
    known.make_room();
    EXPECT_EQ(find_line(known, {"0", rest})->series, series_numbered(2));
  }
}

template <std::size_t kCount>
std::string piece_of(std::mt19937& random, const std::array<const char*, kCount>& texts) {
  return texts[random() % kCount];
}

// Nothing that one line leaves for the next: no decimals of counters, no rates with a rest, no
// changes of gauges, and a name of its own for each type.
std::string line_without_state(std::mt19937& random) {
  constexpr std::array kTypes{"c", "g", "ms", "h", "d", "x", "s"};
  constexpr std::array kValues{"1", "20", "-3", "1e3", "x", "", "9223372036854775807", "1:2",
                               "1::x", "7:8:9", "184467440737095516150", "0"};
  constexpr std::array kRates{"", "", "|@0.5", "|@0.1", "|@2", "|@0.25"};
  constexpr std::array kFields{"", "", "|#b,a:1", "|#a:1,b", "|#", "|c:in-1", "|T1656581400", "|T0",
                               "|e:x", "|m:y", "|#q:9|@0.5", "|card:low|#b"};
  constexpr std::array kEnds{"", "", "", " ", "\r", ":5|c", ":6|g|@0.5"};
  const std::string type = piece_of(random, kTypes);
  std::string line = "n" + std::to_string(random() % 3) + type + ":";
  line.append(piece_of(random, kValues)).append("|").append(type).append(piece_of(random, kRates));
  line.append(piece_of(random, kFields)).append(piece_of(random, kFields));
  return line.append(piece_of(random, kEnds));
}

TEST(StatsdKnownLinesTest, LinesDoTheSameWhenTheyAreKnown) {
  const Settings settings{.gauge_sign = GaugeSign::kAbsolute, .has_container_tag = true};
  std::mt19937 random(20'220);
  Fixture knowing(settings);
  for (int i = 0; i < 20'000; ++i) {
    const std::string line = line_without_state(random);
    Fixture fresh(settings);
    // Its series may have got another name by another type before; the fresh one learns of that.
    const std::string known = knowing.take(line);
    if (known.find('~') != known.npos) continue;
    const std::string said = fresh.take(line);
    if (said.find('~') != said.npos) continue;
    ASSERT_EQ(known, said) << line;
  }
}

TEST(StatsdKnownLinesTest, LinesOfSeveralPacketsAreTakenInTheirOrder) {
  Fixture fixture;
  const auto take = [&](std::string_view packet, std::size_t sender) {
    fixture.arrival.sender = sender;
    fixture.translator.take_packet(packet, fixture.arrival);
  };
  for (int round = 0; round < 2; ++round) {
    fixture.outlet.said.clear();
    take("a:1|c\nb:2|g", 1);
    take("a:x|c", 2);
    take("a:3|c\n", 3);
    EXPECT_EQ(fixture.outlet.said, "");
    fixture.translator.finish();
    EXPECT_EQ(fixture.outlet.said, "a c 1x1, b g 2000x1, value, a c 3x1");
    EXPECT_EQ(fixture.refused_sender, 2u);
    EXPECT_EQ(fixture.refused_line, "a:x|c");
  }
  // More than are read ahead.
  fixture.outlet.said.clear();
  for (int i = 0; i < 1'000; ++i) take("a:1|c", 1);
  fixture.translator.finish();
  EXPECT_EQ(fixture.translator.counts().metrics, 6u + 1'000u);
}

}  // namespace
}  // namespace tallyfs::statsd
