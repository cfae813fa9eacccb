#include "exporters/web/hist_json.h"

#include <gtest/gtest.h>

namespace tallyfs::web {
namespace {

// The cells of the first trigger's rows, row by row.
std::vector<std::vector<std::string>> cells_of(const std::string& hists) {
  const auto text = hist_json("tracing/events/a/b", parse_json(hists).value());
  const auto made = parse_json(text.value());
  std::vector<std::vector<std::string>> cells;
  for (const Json& row : made.value().find("triggers")->items[0].find("rows")->items) {
    cells.emplace_back();
    for (const Json& cell : row.find("cells")->items) cells.back().push_back(cell.text);
  }
  return cells;
}

std::string text_of_key(const std::string& key, const std::string& modifier,
                        const std::string& size) {
  return cells_of(R"([{"trigger":"t","keys":[{"field":"k","modifier":)" + modifier + R"(,"size":)" +
                  size + R"(}],"entries":[{"key":{"k":)" + key + R"(},"hitcount":1}]}])")[0][0];
}

TEST(HistJsonTest, ARowHasKeysValuesAndItsShareOfTheHits) {
  const auto text =
      hist_json("tracing/events/web/request", parse_json(R"([{"trigger":"hist:keys=path",
      "keys":[{"field":"path","modifier":null,"size":null}],
      "entries":[{"key":{"path":"/"},"hitcount":3000,"us.avg":7.125,"us":12345},
                 {"key":{"path":"/a<b>"},"hitcount":1000,"us.avg":8.000,"us":-5}],
      "hits":4000,"dropped":2}])")
                                                  .value());
  ASSERT_TRUE(text);
  EXPECT_EQ(text.value(),
            R"({"hist":"tracing/events/web/request","triggers":[{"trigger":"hist:keys=path",)"
            R"("hits_text":"4,000","dropped_text":"2","order":"the most hits first",)"
            R"("columns":[{"name":"path","is_key":true},)"
            R"({"name":"us.avg","is_key":false},{"name":"us","is_key":false}],)"
            R"("rows":[{"cells":["/","7.125 µs","12,345 µs"],"text":"3,000","share":"75.0",)"
            R"("part":1.0000},{"cells":["/a<b>","8.000 µs","-5 µs"],"text":"1,000",)"
            R"("share":"25.0",)"
            R"("part":0.3333}],"matching":2}]})");
}

TEST(HistJsonTest, RowsAreInAnOrderThatIsTold) {
  const std::string entries = R"("entries":[{"key":{"lat_us":7},"hitcount":1},
      {"key":{"lat_us":3},"hitcount":2},{"key":{"lat_us":5},"hitcount":9}]}])";
  const auto made = [&](const std::string& trigger, const std::string& modifier) {
    return R"([{"trigger":")" + trigger + R"(","keys":[{"field":"lat_us","modifier":)" + modifier +
           R"(,"size":null}],)" + entries;
  };
  using Cells = std::vector<std::vector<std::string>>;
  EXPECT_EQ(cells_of(made("hist:keys=lat_us:sort=hitcount:size=2048", "null")),
            (Cells{{"5"}, {"3"}, {"7"}}));
  EXPECT_EQ(cells_of(made("hist:keys=lat_us.log2:sort=hitcount", "\"log2\"")),
            (Cells{{"5 - 8 µs"}, {"17 - 32 µs"}, {"65 - 128 µs"}}));
  EXPECT_EQ(cells_of(made("hist:keys=lat_us:sort=lat_us.descending:size=9", "null")),
            (Cells{{"7"}, {"3"}, {"5"}}));
}

TEST(HistJsonTest, GroupsAreShownByTheirEnds) {
  EXPECT_EQ(text_of_key("3", "\"log2\"", "null"), "5 - 8");
  EXPECT_EQ(text_of_key("0", "\"log2\"", "null"), "0 - 1");
  EXPECT_EQ(text_of_key("1", "\"log2\"", "null"), "2");
  EXPECT_EQ(text_of_key("-4", "\"log2\"", "null"), "-8 - -5");
  EXPECT_EQ(text_of_key("104", "\"log2\"", "3"), "104 - 111");
  EXPECT_EQ(text_of_key("-104", "\"log2\"", "3"), "-111 - -104");
  EXPECT_EQ(text_of_key("5", "\"log2\"", "3"), "5");
  EXPECT_EQ(text_of_key("0", "\"log2\"", "3"), "0");
  EXPECT_EQ(text_of_key("20", "\"buckets\"", "10"), "20 - 29");
  EXPECT_EQ(text_of_key("-1", "\"buckets\"", "10"), "-10 - -1");
}

TEST(HistJsonTest, OtherKeysAreShownAsTheyAreCounted) {
  EXPECT_EQ(text_of_key("255", "\"hex\"", "null"), "0xff");
  EXPECT_EQ(text_of_key("17", "null", "null"), "17");
  EXPECT_EQ(text_of_key("18446744073709551615", "\"log2\"", "3"), "18446744073709551615");
  EXPECT_EQ(text_of_key("104", "\"log2\"", "-99"), "104 - 167");
  EXPECT_EQ(text_of_key("\"bash\"", "null", "null"), "bash");
  EXPECT_EQ(text_of_key("[\"schedule\",\"do_nap\"]", "\"stacktrace\"", "null"),
            "schedule < do_nap");
}

TEST(HistJsonTest, KeysWithNamesHaveThemBeforeTheirNumbers) {
  using Cells = std::vector<std::vector<std::string>>;
  EXPECT_EQ(cells_of(R"([{"trigger":"t","keys":[{"field":"id","modifier":"syscall","size":null},
                {"field":"at","modifier":"sym","size":null}],
                "entries":[{"key":{"id":230,"at":255},"hitcount":2,
                            "names":{"id":"sys_nanosleep","at":"schedule"}},
                           {"key":{"id":999,"at":16},"hitcount":1}]}])"),
            (Cells{{"sys_nanosleep [230]", "schedule [0xff]"}, {"999", "0x10"}}));
}

TEST(HistJsonTest, AHistogramWithoutEntriesHasItsKeys) {
  EXPECT_TRUE(
      cells_of(R"([{"keys":[{"field":"k","modifier":null,"size":null}],"entries":[]}])").empty());
  EXPECT_EQ(hist_json("x", parse_json("[]").value()).value(), R"({"hist":"x","triggers":[]})");
  EXPECT_FALSE(hist_json("x", parse_json("{}").value()));
}

}  // namespace
}  // namespace tallyfs::web
