// Statistics with decimals=: what is shown, saved and discarded. X is added as it is kept.
#include "core/base/bytes.h"
#include "tests/unit/statistics_interface/fixture.h"

namespace tallyfs::statistics {
namespace {

std::string json_values(const Fixture& fixture) {
  const std::string json =
      fixture.interface->render_json("web", 1, fixture.clock.now(), kAnyLength).value();
  const std::size_t at = json.find("\"values\":");
  return json.substr(at + 9, json.rfind("}]}") - at - 9);
}

TEST(DecimalsTest, DataOfEachTypeHaveThePlaces) {
  const std::pair<const char*, const char*> kCases[] = {
      {"on=1 mode=increments", "s 3\n"},
      {"on=1 mode=products", "s 0.25\n"},
      {"on=1 type=range", "s 3 -1.25 0.08333 0.75\n"},
      {"on=1 type=list entries_max=9", "s 0.75 2\ns -1.25 1\n"},
      {"on=1 type=array base_interval=0.5 scale=lin range_min=-0.5 range_max=1",
       "s <=-0.50 1\ns <=0.00 0\ns <=0.50 0\ns <=1.00 2\ns >1.00 0\n"},
      {"on=1 type=raw entries_max=9",
       "s [0.000000] 0 0.75 1\ns [0.000000] 1 0.75 1\ns [0.000000] 2 -1.25 1\n"},
      {"on=1 type=quantiles precision=5 quantiles=50",
       "s count 3\ns min -1.25\ns avg 0.08333\ns p50 0.75\ns max 0.75\n"},
      {"on=1 type=last", "s [0.000000] -1.25\n"},
  };
  for (const auto& [text, data] : kCases) {
    Fixture fixture(std::string(text) + " decimals=2");
    for (const std::int64_t x : {75, 75, -125}) fixture.add(x);
    EXPECT_EQ(fixture.data(), data) << text;
    EXPECT_EQ(fixture.interface->data_length(fixture.clock.now(), kAnyLength).value(),
              std::string_view(data).size())
        << text;
  }
}

TEST(DecimalsTest, AHistoryHasThemInEachPeriod) {
  const std::pair<const char*, const char*> kCases[] = {
      {"mode=increments", "s [1.000000] 2\n"},
      {"mode=products", "s [1.000000] 2.00\n"},
      {"mode=range", "s [1.000000] 2 0.75 1.00000 1.25\n"},
      {"mode=quantiles precision=5 quantiles=50", "s [1.000000] 2 0.75 1.00000 1.25 p50=0.75\n"},
  };
  for (const auto& [mode, data] : kCases) {
    Fixture fixture(std::string("on=1 type=history entries_max=2 period=1000000 decimals=2 ") +
                    mode);
    fixture.add(75);
    fixture.add(125);
    fixture.clock.advance(std::chrono::seconds(1));
    EXPECT_EQ(fixture.data(), data) << mode;
  }
}

TEST(DecimalsTest, JsonHasThemAsExactText) {
  Fixture range("on=1 type=range decimals=9 range_max=2.5 units=s/n");
  range.add(1);
  range.add(-9'000'000'000'000'000'000);
  EXPECT_EQ(json_values(range),
            "{\"number\":2,\"min\":-9000000000.000000000,\"avg\":-4499999999.999999999500,"
            "\"max\":0.000000001,\"sum\":-8999999999.999999999}");
  const std::string json =
      range.interface->render_json("web", 1, range.clock.now(), kAnyLength).value();
  EXPECT_NE(json.find("\"range_min\":-9223372036854775808,\"range_max\":2.500000000"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find("\"decimals\":9,\"units\":\"s/n\""), std::string::npos) << json;
  Fixture array("on=1 type=array base_interval=0.5 scale=lin range_min=0 range_max=0.5 decimals=1");
  EXPECT_EQ(json_values(array), "{\"bounds\":[0.0,0.5],\"counts\":[0,0,0]}");
}

TEST(DecimalsTest, TheStateKeepsThem) {
  Fixture fixture("on=1 type=range decimals=3 range_min=-0.5 units=s/n");
  fixture.add(250);
  std::string bytes;
  ByteWriter out(bytes);
  CellBudget budget;
  fixture.interface->save(out, budget);
  ByteReader in(bytes);
  const auto loaded = Interface::load(in, fixture.ledger);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded.value()->render_definition(kAnyLength).value(), fixture.definition());
  EXPECT_EQ(loaded.value()->render_data(fixture.clock.now(), kAnyLength).value(),
            "s 1 0.250 0.250000 0.250\n");
  EXPECT_EQ(loaded.value()->find("s")->decimals(), 3u);
}

TEST(DecimalsTest, AViewHasThoseOfItsSource) {
  Fixture fixture("on=1 type=range decimals=3");
  EXPECT_EQ(fixture.define("name=v of=s type=last"), "");
  fixture.add(250);
  EXPECT_EQ(fixture.data(), "s 1 0.250 0.250000 0.250\nv [0.000000] 0.250\n");
  EXPECT_EQ(fixture.define("name=v decimals=2"),
            "a view has the decimals of its source: decimals=3, and decimals= of s changes "
            "both");
  EXPECT_EQ(fixture.define("name=v decimals=3 on=1"), "");
  EXPECT_EQ(fixture.define("name=s decimals=1"), "");
  fixture.add(25);
  EXPECT_EQ(fixture.data(), "s 1 2.5 2.5000 2.5\nv [0.000000] 2.5\n");
}

TEST(DecimalsTest, UndoBringsThemBackToTheViewsToo) {
  Fixture fixture("on=1 type=range decimals=3");
  EXPECT_EQ(fixture.define("name=v of=s type=range"), "");
  fixture.add(250);
  fixture.clock.advance(std::chrono::seconds(2));
  EXPECT_EQ(fixture.define("name=s decimals=1"), "");
  EXPECT_NE(fixture.define("name=v undo=1"), "");
  EXPECT_EQ(fixture.define("name=s undo=1"), "");
  fixture.add(500);
  EXPECT_EQ(fixture.data(), "s 2 0.250 0.375000 0.500\nv 2 0.250 0.375000 0.500\n");
}

TEST(DecimalsTest, ADefaultOfAFeederGivesThemToTheViewsToo) {
  Fixture fixture("on=1 type=range");
  EXPECT_EQ(fixture.define("name=v of=s type=array base_interval=1 scale=lin range_min=0 "
                           "range_max=2"),
            "");
  ASSERT_TRUE(fixture.interface->define_default("name=s decimals=2", {}, fixture.clock.now()));
  fixture.add(150);
  EXPECT_EQ(fixture.data(),
            "s 1 1.50 1.50000 1.50\nv <=0.00 0\nv <=1.00 0\nv <=2.00 1\nv >2.00 0\n");
}

}  // namespace
}  // namespace tallyfs::statistics
