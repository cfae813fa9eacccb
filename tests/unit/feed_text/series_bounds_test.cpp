#include "feeders/text/series_bounds.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "feeders/text/series_log.h"

namespace tallyfs {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

TEST(SeriesBoundsTest, AdmitsInterfacesUpToItsBound) {
  SeriesBounds bounds({10, 5});
  for (std::size_t i = 0; i < SeriesBounds::kInterfacesMax; ++i) {
    EXPECT_TRUE(bounds.admit_interface("i" + std::to_string(i)));
  }
  EXPECT_FALSE(bounds.admit_interface("another"));
  EXPECT_TRUE(bounds.admit_interface("i0")) << "it is there";
}

TEST(SeriesBoundsTest, HasRoomInAllAndOfAName) {
  SeriesBounds bounds({2, 1});
  EXPECT_TRUE(bounds.has_room(0));
  EXPECT_FALSE(bounds.has_room(1));
  bounds.add();
  bounds.add();
  EXPECT_FALSE(bounds.has_room(0));
  bounds.remove(1);
  EXPECT_TRUE(bounds.has_room(0));
}

TEST(SeriesBoundsTest, HasRoomForNamesUpToItsBound) {
  SeriesBounds bounds({2, 1});
  for (std::size_t i = 0; i < SeriesBounds::kNamesMax; ++i) bounds.add_name();
  EXPECT_FALSE(bounds.has_room_for_name());
  bounds.remove_name();
  EXPECT_TRUE(bounds.has_room_for_name());
}

TEST(SeriesLogTest, SaysOnceAMinuteWhatGaveWayAndWhatOverflowed) {
  SeriesBounds bounds({2, 1});
  SeriesLog log("names");
  EXPECT_EQ(log.take(bounds, 0, 0s), Lines());
  bounds.note_given_up("first");
  bounds.note_given_up("last\x1b");
  EXPECT_EQ(log.take(bounds, 0, 1s),
            Lines{"2 names that were unused for an hour gave way to new ones; "
                  "the last: last\\x1b"});
  bounds.note_overflow("web/requests", SeriesBounds::Overflow::kNoRoom);
  const std::string overflowed =
      " samples went to NAME{*}: --series-per-name-max or --series-max statistics are in use; the "
      "last NAME: web/requests";
  EXPECT_EQ(log.take(bounds, 7, 2s), Lines{"7" + overflowed});
  EXPECT_EQ(log.take(bounds, 9, 3s), Lines());
  EXPECT_EQ(log.take(bounds, 9, 62s), Lines{"2" + overflowed});
  bounds.note_overflow("web/requests", SeriesBounds::Overflow::kLongName);
  EXPECT_EQ(log.take(bounds, 10, 122s),
            Lines{"1 samples went to NAME{*}: with their labels names have over 255 bytes; "
                  "the last NAME: web/requests"});
}

}  // namespace
}  // namespace tallyfs
