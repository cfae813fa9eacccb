// What `top` computes; what it draws is tested in a terminal, tests/shell/ctl/top.sh.
#include <gtest/gtest.h>

#include <chrono>
#include <clocale>
#include <cmath>

#include "tools/ctl/line_editor.h"
#include "tools/ctl/top_draw.h"
#include "tools/ctl/top_model.h"
#include "tools/display/heat_panel.h"

namespace tallyfs {
namespace {

using namespace std::chrono_literals;

view::Tree tree_at(std::uint64_t seconds, std::vector<view::InterfaceSummary> interfaces) {
  return {.version = "1",
          .epoch = "e",
          .time_us = seconds * 1'000'000,
          .realtime_us = seconds * 1'000'000,
          .interfaces = std::move(interfaces)};
}
view::InterfaceSummary with_samples(const std::string& name, std::uint64_t samples) {
  return {.name = name, .statistics = 1, .on = 1, .samples = samples};
}
std::string names_of(const TopModel& model) {
  std::string made;
  for (const TopRow* row : model.rows()) made += row->name + " ";
  return made;
}

TEST(TopModelTest, OrdersBySmoothedRatesAndKeepsEqualOnesInPlace) {
  TopModel model;
  model.take(tree_at(1, {with_samples("b", 0), with_samples("a", 0), with_samples("c", 0)}));
  model.take(tree_at(2, {with_samples("b", 10), with_samples("a", 10), with_samples("c", 99)}));
  EXPECT_EQ(names_of(model), "c b a ");
  EXPECT_EQ(model.rows()[0]->recent.smooth(), 99.0);
  // One quiet second takes a part of the rate only.
  model.take(tree_at(3, {with_samples("b", 20), with_samples("a", 20), with_samples("c", 99)}));
  EXPECT_NEAR(*model.rows()[0]->recent.smooth(), 99 * std::exp(-1 / 3.0), 1e-9);
  model.set_order(TopOrder::kName);
  EXPECT_EQ(names_of(model), "a b c ");
}

TEST(TopModelTest, BesideAnotherSpanRowsAreSortedByChangeToo) {
  TopModel model;
  model.take(tree_at(1, {with_samples("busy", 0), with_samples("quiet", 0), with_samples("new", 0),
                         with_samples("slow", 0), with_samples("nothing", 0)}));
  model.take(tree_at(2, {with_samples("busy", 110), with_samples("quiet", 0),
                         with_samples("new", 1), with_samples("slow", 10),
                         with_samples("nothing", 0)}));
  model.set_next_order();
  EXPECT_EQ(model.order(), TopOrder::kName);
  model.set_next_order();
  EXPECT_EQ(model.order(), TopOrder::kRate);
  model.compare_with({{"busy", 100}, {"new", 0}, {"quiet", 5}, {"slow", 80}, {"gone", 3}});
  model.set_next_order();
  model.set_next_order();
  EXPECT_EQ(model.order(), TopOrder::kChange);
  EXPECT_EQ(names_of(model), "quiet new slow busy nothing ");
  EXPECT_EQ(model.other_rate_of(*model.rows()[1]), 0.0);
  model.set_next_order();
  EXPECT_EQ(model.order(), TopOrder::kRate);
}

TEST(TopModelTest, RowsWhoseRateIsNotKnownComeAfterAllThatAreOn) {
  TopModel model;
  view::InterfaceSummary off = with_samples("off", 0);
  off.on = 0;
  model.take(tree_at(1, {with_samples("more", 0), with_samples("same", 0), off}));
  model.take(tree_at(2, {with_samples("came", 5), with_samples("more", 20),
                         with_samples("same", 10), off}));
  model.compare_with({{"came", 3}, {"more", 10}, {"same", 10}, {"off", 10}});
  model.set_order(TopOrder::kChange);
  EXPECT_EQ(names_of(model), "more same came off ");
  model.set_order(TopOrder::kRate);
  EXPECT_EQ(names_of(model), "more same came off ");
}

TEST(TopModelTest, WhatTheOtherSpanDoesNotKnowIsNotNew) {
  TopModel model;
  model.take(tree_at(1, {with_samples("a", 0), with_samples("raw", 0)}));
  model.take(tree_at(2, {with_samples("a", 10), with_samples("raw", 10)}));
  model.compare_with({{"a", 10}});
  model.set_order(TopOrder::kChange);
  EXPECT_EQ(names_of(model), "a raw ");
  EXPECT_FALSE(model.other_rate_of(*model.rows()[1]));
}

TEST(TopModelTest, EqualRatesOfTwoSpansAreEqualWhenTheyAreShown) {
  TopModel model;
  const std::vector<view::InterfaceSummary> none = {with_samples("a", 0), with_samples("rare", 0)};
  model.take(tree_at(1, none));
  model.take(tree_at(301, {with_samples("a", 10), with_samples("rare", 0)}));
  model.compare_with({{"a", 10 / 300.0}, {"rare", 1 / 300.0}});
  for (const TopRow* row : model.rows()) {
    EXPECT_EQ(TopModel::rate_of(*row), model.other_rate_of(*row)) << row->name;
  }
}

TEST(TopModelTest, TheSelectionFollowsTheNameOnceThereIsOne) {
  TopModel model;
  model.take(tree_at(1, {with_samples("a", 0), with_samples("b", 0)}));
  model.take(tree_at(2, {with_samples("a", 0), with_samples("b", 50)}));
  EXPECT_EQ(model.selected(), "b");
  model.take(tree_at(3, {with_samples("a", 5000), with_samples("b", 50)}));
  EXPECT_EQ(model.selected(), "b");
  EXPECT_EQ(model.selected_row(), 1u);
  model.move(-1);
  EXPECT_EQ(model.selected(), "a");
  model.move(-1);
  EXPECT_EQ(model.selected(), "a");
  model.take(tree_at(4, {with_samples("b", 50)}));
  EXPECT_EQ(model.selected(), "b");
}

TEST(TopModelTest, TheFirstRowsAreSelectedUntilTheUserSelectsOne) {
  TopModel model;
  model.take(tree_at(1, {with_samples("a", 0), with_samples("b", 0), with_samples("c", 0)}));
  model.take(tree_at(2, {with_samples("a", 90), with_samples("b", 50), with_samples("c", 9)}));
  EXPECT_EQ(model.selected(), "a");
  model.take(tree_at(99, {with_samples("a", 90), with_samples("b", 5000), with_samples("c", 900)}));
  EXPECT_EQ(names_of(model), "b c a ");
  model.keep_selected_within(3);
  EXPECT_EQ(model.selected(), "a");
  model.keep_selected_within(2);
  EXPECT_EQ(model.selected(), "b");
  model.move(2);
  model.keep_selected_within(2);
  EXPECT_EQ(model.selected(), "a");
}

TEST(TopModelTest, TheDaemonsOwnNumbersAreNotSelectedFirst) {
  TopModel model;
  model.take(tree_at(1, {with_samples("tallyfs", 0), with_samples("a", 0)}));
  model.take(tree_at(2, {with_samples("tallyfs", 90), with_samples("a", 10)}));
  EXPECT_EQ(names_of(model), "tallyfs a ");
  EXPECT_EQ(model.selected(), "a");
  EXPECT_EQ(model.rate(), 10);
}

TEST(TopModelTest, AFilterHidesAndSelects) {
  TopModel model;
  model.take(tree_at(1, {with_samples("web", 0), with_samples("db", 0)}));
  model.set_filter("d");
  EXPECT_EQ(names_of(model), "db ");
  EXPECT_EQ(model.selected(), "db");
  model.set_filter("nothing");
  EXPECT_EQ(names_of(model), "");
}

TEST(TopModelTest, AMomentThatIsReadTwiceKeepsRatesAndTheirOrder) {
  TopModel model;
  model.take(tree_at(1, {with_samples("a", 0), with_samples("b", 0)}));
  for (int i = 0; i < 2; ++i) {
    model.take(tree_at(2, {with_samples("a", 3), with_samples("b", 50)}));
    EXPECT_EQ(names_of(model), "b a ");
    EXPECT_EQ(model.rate(), 53);
  }
  EXPECT_EQ(model.rows()[0]->recent.minute().size(), 1u);
}

TEST(TopModelTest, ARestartOfTheDaemonForgetsRates) {
  TopModel model;
  model.take(tree_at(1, {with_samples("a", 0)}));
  model.take(tree_at(2, {with_samples("a", 10)}));
  auto anew = tree_at(3, {with_samples("a", 1)});
  anew.epoch = "f";
  model.take(anew);
  EXPECT_FALSE(model.rows()[0]->recent.smooth());
  EXPECT_EQ(model.rate(), 0);
}

view::Interface interface_at(std::uint64_t seconds, Int128 count) {
  view::Statistic array{.name = "us", .on = true, .type = "array"};
  array.samples = static_cast<std::uint64_t>(count);
  array.values = view::Array{.bounds = {0, 10}, .counts = {0, count, 0}};
  view::Statistic value{.name = "hits", .on = true, .type = "value"};
  return {.name = "a",
          .epoch = "e",
          .serial = 1,
          .time_us = seconds * 1'000'000,
          .realtime_us = seconds * 1'000'000,
          .statistics = {value, array}};
}

TEST(TopModelTest, ColumnsAreIntervalsAndMissedOnesAreMarked) {
  TopModel model;
  model.take(tree_at(1, {with_samples("a", 0)}));
  model.take(interface_at(1, 5), 1'000'000);
  ASSERT_TRUE(model.statistic());
  EXPECT_EQ(model.statistic()->name, "us");
  model.take(interface_at(2, 8), 1'000'000);
  ASSERT_EQ(model.columns().size(), 1u);
  EXPECT_EQ(std::get<view::Array>(model.columns()[0].counted->values).counts[1], 3);
  model.take(interface_at(5, 9), 1'000'000);
  ASSERT_EQ(model.columns().size(), 4u);
  EXPECT_TRUE(model.columns()[1].is_missed);
  EXPECT_TRUE(model.columns()[2].is_missed);
  EXPECT_FALSE(model.columns()[3].is_missed);
  model.move_statistic(1);
  EXPECT_EQ(model.statistic()->name, "hits");
  EXPECT_TRUE(model.columns().empty());
}

// A second before each of these.
MapPast past_of(const std::string& interface, const std::string& statistic,
                const std::vector<std::uint64_t>& seconds) {
  MapPast past{interface, statistic, 1s};
  for (const std::uint64_t second : seconds) {
    past.columns.push_back({.realtime_us = second * 1'000'000,
                            .counted = interface_at(second, 1).statistics[1]});
  }
  return past;
}

TEST(TopModelTest, ThePastOfAStoreIsBeforeWhatWasSeen) {
  TopModel model;
  model.take(tree_at(100, {with_samples("a", 0)}));
  model.take(interface_at(100, 5), 1'000'000);
  model.take_past(past_of("a", "hits", {97, 98}), 1s);
  model.take_past(past_of("b", "us", {97, 98}), 1s);
  EXPECT_TRUE(model.columns().empty());
  model.take_past(past_of("a", "us", {97, 98}), 1s);
  // What was counted after the last point is not known.
  ASSERT_EQ(model.columns().size(), 4u);
  EXPECT_FALSE(model.columns()[1].is_missed);
  EXPECT_TRUE(model.columns()[2].is_missed);
  EXPECT_TRUE(model.columns()[3].is_missed);
  model.take(interface_at(101, 8), 1'000'000);
  model.take_past(past_of("a", "us", {97, 98, 99, 100, 101}), 1s);
  ASSERT_EQ(model.columns().size(), 5u);
  for (const view::HeatColumn& each : model.columns()) EXPECT_FALSE(each.is_missed);
  EXPECT_EQ(std::get<view::Array>(model.columns()[4].counted->values).counts[1], 3);
  model.move_statistic(1);
  EXPECT_TRUE(model.columns().empty());
}

TEST(TopModelTest, APastOfAnotherPeriodAndAnEmptyOneReplaceNone) {
  TopModel model;
  model.take(tree_at(100, {with_samples("a", 0)}));
  model.take(interface_at(100, 5), 1'000'000);
  // It was ordered before the period became 2 s.
  model.take_past(past_of("a", "us", {99, 100}), 2s);
  EXPECT_TRUE(model.columns().empty());
  MapPast past = past_of("a", "us", {98, 100});
  past.period = 2s;
  model.take_past(past, 2s);
  ASSERT_EQ(model.columns().size(), 2u);
  EXPECT_EQ(model.columns()[0].realtime_us, 98'000'000u);
  model.take_past(past_of("a", "us", {99, 100}), 2s);
  past.columns.clear();
  model.take_past(past, 2s);
  ASSERT_EQ(model.columns().size(), 2u);
  EXPECT_EQ(model.columns()[0].realtime_us, 98'000'000u);
}

TEST(TopModelTest, ThePastEndsWhereMissedColumnsBegin) {
  TopModel model;
  model.take(tree_at(100, {with_samples("a", 0)}));
  model.take(interface_at(100, 5), 1'000'000);
  model.take(interface_at(104, 8), 1'000'000);
  ASSERT_EQ(model.columns().size(), 4u);
  model.take_past(past_of("a", "us", {99, 100, 101, 102, 103, 104}), 1s);
  ASSERT_EQ(model.columns().size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(model.columns()[i].realtime_us, (99 + i) * 1'000'000);
    EXPECT_EQ(model.columns()[i].is_missed, i >= 2 && i < 5) << i;
  }
}

TEST(TopModelTest, WhatIsReadAtOnceIsNoColumn) {
  TopModel model;
  model.take(tree_at(1, {with_samples("a", 0)}));
  model.take(interface_at(1, 5), 1'000'000);
  view::Interface soon = interface_at(1, 7);
  soon.time_us += 100'000;
  model.take(soon, 1'000'000);
  EXPECT_TRUE(model.columns().empty());
  EXPECT_EQ(model.statistic()->samples, 7u);
  model.take(interface_at(2, 9), 1'000'000);
  ASSERT_EQ(model.columns().size(), 1u);
  EXPECT_EQ(std::get<view::Array>(model.columns()[0].counted->values).counts[1], 4);
}

TEST(SparklineTest, WhatIsAboveZeroIsSeenAndTheNewestStayOnTheRight) {
  EXPECT_EQ(view::sparkline({0, 0.001, 8}, 10, view::Charset::kUtf8), " ▁█");
  EXPECT_EQ(view::sparkline({8, 1, 2}, 2, view::Charset::kAscii), "-#");
  EXPECT_EQ(view::sparkline({}, 10, view::Charset::kUtf8), "");
}

TEST(LineEditorTest, LettersAreEditedAtTheCursor) {
  if (!std::setlocale(LC_CTYPE, "C.UTF-8")) GTEST_SKIP() << "no locale C.UTF-8";
  LineEditor editor("> ", "type=延", view::Charset::kUtf8);
  editor.take({Input::Key::kBackspace});
  editor.take({Input::Key::kLetter, U'迟'});
  editor.take({Input::Key::kHome});
  editor.take({Input::Key::kRight});
  editor.take({Input::Key::kLetter, U'X'});
  EXPECT_EQ(editor.text(), "tXype=迟");
  EXPECT_EQ(editor.shown(40), "> tX▏ype=迟");
  editor.take({Input::Key::kEnd});
  EXPECT_EQ(editor.shown(7), "> e=迟▏");
}

TEST(LineEditorTest, ACaretIsBelowTheFirstWordThatChanged) {
  const auto caret = [](std::string_view before, std::string_view after) {
    return caret_below_change(before, after, view::Charset::kAscii);
  };
  EXPECT_EQ(caret("name=us on=1 type=value", "name=us on=0 type=range"), "\n        ^");
  EXPECT_EQ(caret("name=us on=1", "name=us on=1 type=list"), "\n             ^");
  EXPECT_EQ(caret("name=us on=1", "name=us"), "");
}

std::string drawn_at_80(const TopModel& model, TopScreen screen) {
  const view::Look look{.width = 80,
                        .charset = view::Charset::kAscii,
                        .clock = [](std::uint64_t) { return "03:13:42"; }};
  view::Grid grid(80, view::Charset::kAscii);
  draw_top(grid, model, screen, view::Colours::kNone, look);
  return grid.text();
}

TEST(TopDrawTest, WhatACaretIsBelowIsOnTheScreen) {
  TopModel model;
  model.take(tree_at(1, {with_samples("a", 0)}));
  const std::string line = "name=us " + std::string(200, 'x') + " range_max=9 on=1";
  const std::string shown =
      drawn_at_80(model, {.message = "why\n" + line + "\n" + std::string(209, ' ') + "^"});
  const std::size_t last = shown.rfind('\n', shown.size() - 2) + 1;
  const std::size_t above = shown.rfind('\n', last - 2) + 1;
  EXPECT_NE(shown.find("\n why\n"), shown.npos) << shown;
  const std::size_t column = shown.find("range_max=9", above);
  ASSERT_LT(column, last) << shown;
  EXPECT_EQ(shown[last + (column - above)], '^') << shown;
  EXPECT_EQ(shown.substr(above, 3), " ~x") << shown;
}

TEST(TopDrawTest, TheFilterIsInTheHeader) {
  TopModel model;
  model.take(tree_at(1, {with_samples("web", 0), with_samples("db", 0)}));
  model.set_filter("we");
  const std::string shown = drawn_at_80(model, {.every = "1s"});
  EXPECT_NE(shown.find("  filter we  03:13:42  1s\n"), shown.npos) << shown;
}

TEST(TopDrawTest, ASmallGridIsTold) {
  view::Grid grid(59);
  TopModel model;
  TopScreen screen;
  draw_top(grid, model, screen, view::Colours::kNone, view::Look());
  EXPECT_EQ(grid.text(), "The window is too small.\ntop needs 60 columns, 12 rows.\n");
}

}  // namespace
}  // namespace tallyfs
