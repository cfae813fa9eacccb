// Playing the past in `top`: the pace that is shown, and a place that cannot be opened.
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <string>

#include "core/base/json.h"
#include "tools/ctl/top_past.h"
#include "tools/ctl/top_reader.h"

namespace tallyfs {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

// Moments of one epoch without interfaces, one after each second.
class PastOfNothing : public Source {
 public:
  explicit PastOfNothing(std::uint64_t begin_us) : now_us_(begin_us) {}

  Result<Json> tree() override {
    const std::string now = std::to_string(now_us_);
    return parse_json(R"({"format":1,"epoch":"e","time_us":)" + now + R"(,"realtime_us":)" + now +
                      R"(,"interfaces":[]})");
  }
  Result<Json> interface(const std::string& /*name*/) override {
    return Error{ErrorCode::kNotFound, "it has none"};
  }
  Result<Next> next(microseconds /*every*/) override {
    now_us_ += 1'000'000;
    return Next::kMoment;
  }
  microseconds period() const override { return 1s; }
  const std::string& mount() const override { return no_mount_; }

 private:
  std::uint64_t now_us_;
  const std::string no_mount_;
};

TopMoment next_moment(TopReader& reader) {
  for (;;) {
    pollfd polled{.fd = reader.wake_fd(), .events = POLLIN, .revents = 0};
    ::poll(&polled, 1, -1);
    if (auto moment = reader.take()) return *std::move(moment);
  }
}

TEST(TopReaderTest, APlaceThatCannotBeOpenedShowsItsFaultUntilItCan) {
  constexpr std::uint64_t kPlaceUs = 1'000'000'000'000;
  std::atomic<bool> is_damaged = true;
  const auto open_at = [&](std::uint64_t realtime_us) -> Result<TopSource> {
    if (is_damaged) return invalid("the store is damaged");
    return TopSource{std::make_unique<PastOfNothing>(realtime_us)};
  };
  TopReader reader({std::make_unique<PastOfNothing>(1)}, 1ms, open_at);
  reader.order({.period = 1ms, .place = {.number = 1, .realtime_us = kPlaceUs}});
  TopMoment moment = next_moment(reader);
  while (moment.place == 0) moment = next_moment(reader);
  for (int i = 0; i < 3; ++i, moment = next_moment(reader)) {
    EXPECT_EQ(moment.fault, "the store is damaged");
    EXPECT_FALSE(moment.tree);
  }
  is_damaged = false;
  while (!moment.tree) moment = next_moment(reader);
  EXPECT_EQ(moment.place, 1u);
  EXPECT_GE(moment.tree->time_us, kPlaceUs);
}

TEST(TopPastTest, TheSpeedIsThatOfTheTimeThatPasses) {
  const view::Look look{.clock = [](std::uint64_t) { return "12:00:00"; }};
  const auto position = [&](const TopPast& past, microseconds period) {
    return past.position(100'000'000, period, {}, look);
  };
  TopPast fine("store", {0, 3'600'000'000}, false, 1s);
  EXPECT_NE(position(fine, 1s).find(" x1 "), std::string::npos);
  EXPECT_NE(position(fine, 2s).find(" x0.5 "), std::string::npos);
  TopPast coarse("store", {0, 3'600'000'000}, false, 60s);
  EXPECT_NE(position(coarse, 1s).find(" x60 "), std::string::npos);
  coarse.take('>', 0, 1s);
  EXPECT_NE(position(coarse, 1s).find(" x120 "), std::string::npos);
  TopPast recording("", {}, false, 10s);
  EXPECT_EQ(recording.take('>', 0, 1s), "speed x20");
}

TEST(TopPastTest, NotesTakeThePlaceOfTheKeysAndTheOtherSpanIsNeverCut) {
  const view::Look look{.clock = [](std::uint64_t) { return "12:00:00"; }};
  const TopPast::Notes versus{.versus = "before: 1"};
  const TopPast::Notes both{.versus = "before: 1", .fault = "11:00:00: damaged in the store"};
  const TopPast recording("", {}, false, 10s);
  EXPECT_EQ(recording.position(1, 1s, versus, look), "before: 1");
  const TopPast stored("store", {0, 3'600'000'000}, false, 1s);
  EXPECT_NE(stored.position(1, 1s, {}, look).find("t T a minute"), std::string::npos);
  const std::string noted = stored.position(1, 1s, versus, look);
  EXPECT_TRUE(noted.ends_with("] 12:00:00  at 12:00:00  x1  before: 1")) << noted;
  const auto at_width = [&](int width, const TopPast::Notes& notes) {
    return stored.position(1, 1s, notes,
                           {.width = width, .charset = view::Charset::kAscii, .clock = look.clock});
  };
  const std::string wide = at_width(140, both);
  EXPECT_TRUE(wide.ends_with("] 12:00:00  at 12:00:00  x1  before: 1  " + both.fault)) << wide;
  EXPECT_EQ(at_width(60, versus), "at 12:00:00  x1  before: 1");
  EXPECT_EQ(at_width(50, both), "at 12:00:00  x1  before: 1  11:00:00: ~the store");
  EXPECT_EQ(at_width(60, {.fault = both.fault}), "at 12:00:00  x1  " + both.fault);
}

}  // namespace
}  // namespace tallyfs
