// Spans of time as people write them.
#include "tools/ctl/time_span.h"

#include <gtest/gtest.h>

#include <optional>

namespace tallyfs {
namespace {

constexpr std::uint64_t kSecondOfSpanUs = 1'000'000;
// 2026-11-27 12:00:00 UTC, a Friday.
constexpr std::uint64_t kNoonUs = 1'795'780'800 * kSecondOfSpanUs;

struct Seconds {
  std::int64_t begin = 0;  // after noon
  std::int64_t end = 0;
  bool operator==(const Seconds&) const = default;
};

// Nothing if it is refused.
std::optional<Seconds> span_of(std::string_view text) {
  const auto span = parse_span(text, {.realtime_us = kNoonUs, .utc = true});
  if (!span) return std::nullopt;
  const auto after_noon = [](std::uint64_t moment) {
    return (static_cast<std::int64_t>(moment) - static_cast<std::int64_t>(kNoonUs)) / 1'000'000;
  };
  return Seconds{after_noon(span.value().begin_us), after_noon(span.value().end_us)};
}

TEST(TimeSpanTest, EachFormIsUnderstood) {
  EXPECT_EQ(span_of("5m"), (Seconds{-300, 0}));
  EXPECT_EQ(span_of("1d"), (Seconds{-86'400, 0}));
  EXPECT_EQ(span_of("11:58"), (Seconds{-120, -60}));
  EXPECT_EQ(span_of("@11:58"), (Seconds{-120, -60}));
  EXPECT_EQ(span_of("11:58:20"), (Seconds{-100, -99}));
  EXPECT_EQ(span_of("11:50..11:55"), (Seconds{-600, -300}));
  EXPECT_EQ(span_of("11:50+2m"), (Seconds{-600, -480}));
  EXPECT_EQ(span_of("yesterday 23:00..00:30"), (Seconds{-13 * 3600, -41'400}));
  EXPECT_EQ(span_of("yesterday 23:00..23:30"), (Seconds{-13 * 3600, -45'000}));
  EXPECT_EQ(span_of("2026-11-26T12:00+1h"), (Seconds{-86'400, -82'800}));
  EXPECT_EQ(span_of("2026-11-26 12:00..2026-11-27 11:00"), (Seconds{-86'400, -3600}));
}

TEST(TimeSpanTest, ASpanEndsNowAndNoneBeginsLater) {
  EXPECT_EQ(span_of("11:58..12:30"), (Seconds{-120, 0}));
  EXPECT_FALSE(span_of("12:00"));
  EXPECT_FALSE(span_of("2026-11-28 11:00"));
  const auto later = parse_span("23:50", {.realtime_us = kNoonUs, .utc = true});
  EXPECT_EQ(later.error().reason,
            "'23:50' has not come yet; \"yesterday 23:50\" is the day before");
}

TEST(TimeSpanTest, AllElseIsRefused) {
  for (const char* wrong :
       {"", "5", "m", "5y", "noon", "25:00", "11:60", "11", "11:5x", "..", "11:50..", "..11:50",
        "11:50+", "11:50+0s", "11:50..11:50..11:51", "2026-13-01 11:00", "2026-11-26",
        "99999999d", "1:2:3:4", "tomorrow 11:00", "@", "11:50+1h+1h"}) {
    EXPECT_FALSE(span_of(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace tallyfs
