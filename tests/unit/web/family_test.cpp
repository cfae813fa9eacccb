#include "exporters/web/family.h"

#include <gtest/gtest.h>

#include "exporters/web/interface_json.h"
#include "exporters/web/shown_names.h"
#include "tests/unit/past/store_model.h"
#include "tests/unit/temporary_directory.h"
#include "tools/tree/json.h"

namespace tallyfs::web {
namespace {

constexpr std::uint64_t kMicros = 1'000'000;

view::Statistic value_of(const std::string& name, Int128 total, std::uint64_t data_us = 0) {
  view::Statistic made{.name = name, .on = true, .type = "value", .data_us = data_us};
  made.samples = static_cast<std::uint64_t>(total);
  made.values = view::Value{total};
  return made;
}

view::Change growth(Int128 total) {
  view::Change made{.micros = kMicros, .samples = static_cast<std::uint64_t>(total)};
  made.counted = value_of("n", total);
  return made;
}

view::Interface shop() {
  view::Interface made{.name = "shop", .epoch = {}, .time_us = 100, .realtime_us = 1'000'100};
  made.statistics = {value_of("n{code:200,route:%2Fa}", 3, 40),
                     value_of("n{code:500,route:%2Fa}", 4, 60), value_of("n{route:b}", 5, 70)};
  view::Statistic last = value_of("n{code:404,route:b}", 1);
  last.type = "last";
  last.values = view::Last{};
  made.statistics.push_back(last);
  return made;
}

TEST(FamilyTest, AnInterfaceHasSumsInPlaceOfItsStatistics) {
  const auto family = family_of(shop(), "route");
  ASSERT_TRUE(family);
  const Family& made = family.value();
  EXPECT_EQ(made.labels, (std::vector<std::string>{"code", "route"}));
  ASSERT_EQ(made.interface.statistics.size(), 2u);
  EXPECT_EQ(std::get<view::Value>(made.interface.statistics[0].values).total, 7);
  EXPECT_EQ(made.interface.statistics[0].data_us, 60u);
  EXPECT_EQ(made.oldest_us, (std::vector<std::uint64_t>{40, 70}));
  EXPECT_EQ(made.find("n{route:b}"), 1u);
  EXPECT_FALSE(made.find("n{route:c}"));
  const auto of_span = family_of(shop(), "route", view::Begin::kOfOldest);
  EXPECT_EQ(of_span.value().interface.statistics[0].data_us, 40u);
}

TEST(FamilyTest, ALabelThatIsNotThereIsRefusedWithThoseThatAre) {
  const auto family = family_of(shop(), "host");
  ASSERT_FALSE(family);
  EXPECT_EQ(family.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(family.error().reason, "there is no label 'host'; the labels are code route");
  view::Interface none = shop();
  none.statistics = {value_of("n", 1)};
  EXPECT_EQ(family_of(none, "host").error().reason, "there is no label 'host', nor another one");
}

TEST(FamilyTest, ThePastOfASumIsThatOfItsParts) {
  KeptSpan kept{.now = shop()};
  Past& first = kept.pasts["n{code:200,route:%2Fa}"];
  Past& second = kept.pasts["n{code:500,route:%2Fa}"];
  for (std::uint64_t i = 1; i <= 4; ++i) {
    if (i > 1) first.add(kept.now.statistics[0], growth(10), {i * kMicros});
    if (i == 3)
      second.add(kept.now.statistics[1], {}, {i * kMicros});  // a reset
    else
      second.add(kept.now.statistics[1], growth(1), {i * kMicros});
  }
  second.add_missing({9 * kMicros, 5});
  const Family family = family_of(kept.now, "route").value();
  const auto reading = past_of_sum(kept, family, 0);
  ASSERT_TRUE(reading);
  const auto& columns = reading.value().past.columns();
  ASSERT_EQ(columns.size(), 4u);
  EXPECT_EQ(columns[0].sum, 1);
  EXPECT_EQ(columns[1].sum, 11);
  EXPECT_EQ(columns[1].samples, 11u);
  EXPECT_FALSE(columns[2].is_known());
  EXPECT_EQ(columns[3].sum, 11);
  EXPECT_EQ(reading.value().parts.all, 2u);
  EXPECT_EQ(reading.value().parts.read, 2u);
  kept.pasts.erase("n{code:500,route:%2Fa}");
  EXPECT_EQ(past_of_sum(kept, family, 0).value().parts.read, 1u);
}

// Seconds 10 to 40 of two statistics, of which one is kept for all of it, and one for its end.
// Readings are 300 ms after full seconds; `store`: it has two samples of each in each second.
Result<PastReading> half_kept_sum(const std::string& store) {
  const std::string names[] = {"us{code:1,route:a}", "us{code:2,route:a}"};
  Followed followed;
  followed.now.name = "web";
  for (const std::string& name : names) {
    view::Statistic like{.name = name, .on = true, .type = "array"};
    like.values = view::Array{.bounds = {1, 2, 4, 8}, .counts = {1, 0, 0, 0, 0}};
    followed.now.statistics.push_back(like);
    for (std::uint64_t second = name == names[0] ? 0 : 35; second < 40; ++second) {
      const view::Change change{.micros = kMicros, .samples = 1, .counted = like};
      followed.pasts[name].add(like, change, {past::kBeginUs + second * kMicros + 1'300'000});
    }
  }
  if (const auto writer = store.empty() ? nullptr : past::write_to(store)) {
    const std::uint64_t ids[] = {writer->series("web", names[0], past::kShape),
                                 writer->series("web", names[1], past::kShape)};
    for (std::uint64_t second = 0; second < 60; ++second) {
      writer->go_to(past::kBeginUs + second * kMicros + kMicros / 2);
      for (const std::uint64_t id : ids) writer->add(id, past::second_of(0, 2));
    }
    EXPECT_TRUE(writer->end());
  }
  const past::Span span{past::kBeginUs + 10 * kMicros, past::kBeginUs + 40 * kMicros};
  const KeptSpan kept = kept_span(followed, span);
  return past_of_sum(kept, family_of(kept.now, "route").value(), 0, store, {span, 300});
}

TEST(FamilyTest, ASumThatIsNotKeptInFullIsOfTheStoreAlone) {
  const TemporaryDirectory directory;
  const auto reading = half_kept_sum(directory / "store");
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading.value().parts.read, 2u);
  const auto& columns = reading.value().past.columns();
  ASSERT_EQ(columns.size(), 30u);
  for (const PastColumn& each : columns) {
    EXPECT_EQ(each.samples, 4u);
    EXPECT_EQ(each.interval.end_us % kMicros, 0u);
  }
}

TEST(FamilyTest, ASumOfWhichNothingIsStoredIsOfWhatIsKept) {
  const auto reading = half_kept_sum("");
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading.value().parts.read, 2u);
  const auto& columns = reading.value().past.columns();
  ASSERT_EQ(columns.size(), 30u);
  EXPECT_EQ(columns.front().samples, 1u);
  EXPECT_EQ(columns.back().samples, 2u);
}

// Of `all` statistics the first `stored` are in the store, and in its second second all of those
// but the first `silent` are observed.
Result<PastReading> sum_of_many(std::size_t all, std::size_t stored, std::size_t silent) {
  const TemporaryDirectory directory;
  const auto writer = past::write_to(directory / "store");
  KeptSpan kept;
  kept.now.name = "web";
  std::vector<std::uint64_t> ids;
  for (std::size_t i = 0; i < all; ++i) {
    // As their names are sorted.
    view::Statistic each{.name = "us{code:" + std::to_string(1000 + i) + ",route:a}",
                         .type = "array"};
    each.values = view::Array{.bounds = {1, 2, 4, 8}, .counts = {0, 0, 0, 0, 0}};
    if (i < stored) ids.push_back(writer->series("web", each.name, past::kShape));
    kept.now.statistics.push_back(std::move(each));
  }
  for (std::uint64_t second = 0; second < 2; ++second) {
    writer->go_to(past::kBeginUs + second * kMicros + kMicros / 2);
    for (std::size_t i = second * silent; i < ids.size(); ++i) {
      writer->add(ids[i], past::second_of(0, 1));
    }
  }
  EXPECT_TRUE(writer->end());
  const Family family = family_of(kept.now, "route").value();
  const past::Span span{past::kBeginUs + kMicros, past::kBeginUs + 2 * kMicros};
  return past_of_sum(kept, family, 0, directory / "store", {span, 300});
}

TEST(FamilyTest, OfAStoreNoMoreThanABoundAreAddedUp) {
  const auto reading = sum_of_many(kSummedMax + 3, kSummedMax + 2, 0);
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading.value().parts.all, kSummedMax + 3);
  EXPECT_EQ(reading.value().parts.read, kSummedMax);
  EXPECT_EQ(reading.value().parts.left_out, 2u);
}

TEST(FamilyTest, ASumIsCutOnlyWhereTheStoreHasMore) {
  const auto exact = sum_of_many(kSummedMax + 3, kSummedMax, 0);
  ASSERT_TRUE(exact);
  EXPECT_EQ(exact.value().parts.read, kSummedMax);
  EXPECT_EQ(exact.value().parts.left_out, 0u);
  const auto silent = sum_of_many(kSummedMax + 1, kSummedMax + 1, 9);
  ASSERT_TRUE(silent);
  EXPECT_EQ(silent.value().parts.read, kSummedMax - 9);
  EXPECT_EQ(silent.value().parts.left_out, 1u);
}

TEST(FamilyTest, TheMapOfAStoredSumHasTheBucketsOfItsPoints) {
  const TemporaryDirectory directory;
  const auto writer = past::write_to(directory / "store");
  KeptSpan kept;
  kept.now.name = "web";
  std::vector<std::uint64_t> ids;
  for (const char* const name : {"us{code:1,route:a}", "us{code:2,route:a}"}) {
    view::Statistic each{.name = name, .type = "quantiles"};
    each.definition = {{"precision", "5"}};
    each.values = view::Quantiles{};
    kept.now.statistics.push_back(each);
    ids.push_back(writer->series("web", name,
                                 R"({"name":")" + std::string(name) +
                                     R"(","type":"quantiles","precision":5,"values":{}})"));
  }
  constexpr std::uint64_t kSeconds = 600;
  // The bucket 336 of precision 5 is a part of the bucket 84 of precision 3.
  const past::Point point{.known = 1, .samples = 1, .number = 1, .cells = {{4 * 336 + 1, 1}}};
  for (std::uint64_t second = 0; second < kSeconds; ++second) {
    writer->go_to(past::kBeginUs + second * kMicros + kMicros / 2);
    for (const std::uint64_t id : ids) writer->add(id, point, {.precision = 5});
  }
  ASSERT_TRUE(writer->end());
  const Family family = family_of(kept.now, "route").value();
  const past::Span span{past::kBeginUs, past::kBeginUs + kSeconds * kMicros};
  const auto fine = past_of_sum(kept, family, 0, directory / "store", {span, 10});
  ASSERT_TRUE(fine);
  EXPECT_EQ(fine.value().statistic.key("precision"), "5");
  EXPECT_EQ(fine.value().past.columns().front().hits.front().index, 336);
  const auto map = past_of_sum(kept, family, 0, directory / "store", {span, 10, 0});
  ASSERT_TRUE(map);
  EXPECT_EQ(map.value().statistic.name, family.interface.statistics[0].name);
  EXPECT_EQ(map.value().statistic.key("precision"), "3");
  ASSERT_EQ(map.value().past.columns().size(), kSeconds / 60);
  for (const PastColumn& each : map.value().past.columns()) {
    ASSERT_EQ(each.hits.size(), 1u);
    EXPECT_EQ(each.hits.front().index, 84);
    EXPECT_EQ(each.hits.front().count, 2u * 60);
  }
}

TEST(FamilyTest, TheJsonOfSumsHasTheirPartsAndWhatTheyLack) {
  KeptOrders orders(1);
  view::Interface before = shop();
  before.time_us = 0;
  before.statistics[0].samples = 1;
  before.statistics[0].values = view::Value{1};
  const Family now = family_of(shop(), "route").value();
  const InterfaceOrder order{.statistic = "n{route:%2Fa}", .label = "route"};
  const Family was = family_of(before, "route").value();
  const auto json = parse_json(sums_json(now, &was, orders, order).text).value();
  const Json& sum = json.find("statistics")->items.at(0);
  EXPECT_EQ(sum.find("samples")->text, "7");
  EXPECT_EQ(sum.find("sum")->find("parts")->text, "2");
  EXPECT_EQ(sum.find("sum")->find("left_out_all")->text, "0");
  EXPECT_EQ(sum.find("view")->find("samples")->text, "2");
  const Json& view = *json.find("view");
  EXPECT_EQ(view.find("rows")->items.size(), 2u);
  EXPECT_EQ(view.find("rows")->items[0].find("parts")->text, "2");
  EXPECT_EQ(view.find("left_out")->items.at(0).find("reason")->text,
            "its type is last, not value");
  EXPECT_EQ(view.find("shown")->find("n{route:%2Fa}")->text, "n{route:/a}");
}

TEST(FamilyTest, ASumThatLostAStatisticHasNotCountedWhatIsLeft) {
  KeptOrders orders(1);
  view::Interface before = shop();
  before.time_us = 0;
  view::Interface after = shop();
  after.time_us = 1'000'000;
  after.statistics.erase(after.statistics.begin());
  after.statistics[0].values = view::Value{60};
  after.statistics[0].samples = 60;
  const Family was = family_of(before, "route").value();
  const Family now = family_of(after, "route").value();
  const InterfaceOrder order{.label = "route"};
  const auto rows = [&](const Family& newest) {
    const auto json = parse_json(sums_json(newest, &was, orders, order).text).value();
    return json.find("view")->find("rows")->items;
  };
  EXPECT_EQ(rows(now).at(0).find("rate_text")->text, "-");
  EXPECT_EQ(rows(now).at(1).find("rate_text")->text, "0/s");
}

TEST(FamilyTest, AReadingIsAddedUpOnceForItselfAndAsTheOneBefore) {
  KeptFamilies families;
  view::Interface first = shop();
  first.serial = 1;
  const Family* const kept = families.find(first, "route").value();
  EXPECT_EQ(families.find(first, "route").value(), kept);
  // Nothing was counted: the same sums at another time.
  view::Interface quiet = first;
  quiet.time_us = 200;
  EXPECT_EQ(families.find(quiet, "route").value()->interface.time_us, 200u);
  EXPECT_EQ(kept->interface.time_us, 100u);
  view::Interface second = first;
  second.serial = 2;
  second.statistics[0].values = view::Value{13};
  const Family* const now = families.find(second, "route").value();
  EXPECT_EQ(std::get<view::Value>(now->interface.statistics[0].values).total, 17);
  EXPECT_EQ(families.find(second, "code").value()->label, "code");
  EXPECT_FALSE(families.find(second, "host"));
  EXPECT_EQ(families.find(first, "route").value(), kept);
}

TEST(FamilyTest, AQuietReadingTakesThePlaceOfTheOneBeforeTheLast) {
  KeptFamilies families;
  view::Interface quiet = shop();
  const Family* const first = families.find(quiet, "route").value();
  quiet.time_us = 200;
  const Family* const second = families.find(quiet, "route").value();
  EXPECT_NE(second, first);
  quiet.time_us = 300;
  EXPECT_EQ(families.find(quiet, "route").value(), first);
  EXPECT_EQ(first->interface.time_us, 300u);
  EXPECT_EQ(second->interface.time_us, 200u);
  EXPECT_EQ(families.size(), 2u);
  families.clear();
  EXPECT_EQ(families.size(), 0u);
}

// Each has three statistics in its sums, and one that is left out.
TEST(FamilyTest, LargeFamiliesAreKeptInABoundButForTwo) {
  KeptFamilies families(11);
  KeptFamilies tight(1);
  for (std::uint64_t serial = 1; serial <= 3; ++serial) {
    view::Interface now = shop();
    now.serial = serial;
    ASSERT_TRUE(families.find(now, "route"));
    ASSERT_TRUE(tight.find(now, "route"));
    EXPECT_EQ(families.size(), std::min<std::uint64_t>(serial, 2));
    EXPECT_EQ(tight.size(), std::min<std::uint64_t>(serial, 2));
  }
  KeptFamilies wide(12);
  for (std::uint64_t serial = 1; serial <= 4; ++serial) {
    view::Interface now = shop();
    now.serial = serial;
    ASSERT_TRUE(wide.find(now, "route"));
    EXPECT_EQ(wide.size(), std::min<std::uint64_t>(serial, 3));
  }
}

TEST(ShownNamesTest, AnAnswerHasTheNamesThatAreReadOtherwise) {
  ShownNames names;
  for (const char* each : {"plain", "us{route:%2Fa}", "us{q:a%2Cb}", "us{c:%01}"}) names.add(each);
  std::string text;
  JsonWriter writer(text);
  writer.begin_object();
  names.write(writer);
  writer.end_object();
  EXPECT_EQ(text,
            R"({"shown":{"us{q:a%2Cb}":"us{q:\"a,b\"}","us{route:%2Fa}":"us{route:/a}"}})");
}

}  // namespace
}  // namespace tallyfs::web
