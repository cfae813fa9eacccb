#include "core/base/json.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace tallyfs {
namespace {

using Encoding = JsonWriter::Encoding;

std::string quoted(std::string_view text, Encoding encoding = Encoding::kUtf8) {
  std::string out;
  JsonWriter(out, encoding).string(text);
  return out;
}

TEST(JsonTest, SetsCommasAndColons) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.key("name").string("web").key("hits").number(17);
  json.key("empty").begin_object().end_object().key("none").begin_array().end_array();
  json.key("list").begin_array().number(1).string("b").null().boolean(true).end_array();
  json.key("last").boolean(false).end_object();
  EXPECT_EQ(out, R"({"name":"web","hits":17,"empty":{},"none":[],"list":[1,"b",null,true],)"
                 R"("last":false})");
}

TEST(JsonTest, BeginsInsideOfWhatOthersWrite) {
  std::string out = "{";
  JsonWriter json(out);
  json.key("a").number(1).key("b").begin_array().begin_object().end_object().begin_object();
  json.end_object().end_array();
  EXPECT_EQ(out, R"({"a":1,"b":[{},{}])");
}

TEST(JsonTest, PrintsIntegersExactly) {
  std::string out;
  JsonWriter json(out);
  const Int128 large = static_cast<Int128>(std::numeric_limits<std::uint64_t>::max()) * 10 + 1;
  json.begin_array();
  json.number(std::numeric_limits<std::int64_t>::min());
  json.number(std::numeric_limits<std::uint64_t>::max());
  json.number(std::uint8_t{7}).number(short{-7}).number(large).number(-large).end_array();
  EXPECT_EQ(out,
            "[-9223372036854775808,18446744073709551615,7,-7,184467440737095516151,"
            "-184467440737095516151]");
}

TEST(JsonTest, PrintsDoublesWithoutExponentsAndNoneThatAreNoNumbers) {
  std::string out;
  JsonWriter json(out);
  json.begin_array().decimals(0.1, 3).decimals(-2, 3).decimals(1234567.5, 3).decimals(1e18, 1);
  json.decimals(std::numeric_limits<double>::quiet_NaN(), 3);
  json.decimals(std::numeric_limits<double>::infinity(), 3);
  json.decimals(2.0 / 3, 6).number_text("12.50").end_array();
  EXPECT_EQ(out, "[0.100,-2.000,1234567.500,1000000000000000000.0,null,null,0.666667,12.50]");
  out.clear();
  JsonWriter(out).decimals(std::numeric_limits<double>::max(), 3);
  EXPECT_EQ(out.size(), 309u + 4);
}

TEST(JsonTest, PrintsTimesAsWholeMicroseconds) {
  std::string out;
  JsonWriter json(out);
  json.begin_array().microseconds(std::chrono::nanoseconds(1999));
  json.microseconds(std::chrono::nanoseconds(-5000)).end_array();
  EXPECT_EQ(out, "[1,0]");
}

TEST(JsonTest, SaysWhenItsTextIsTooLong) {
  std::string out;
  JsonWriter json(out, JsonWriter::Encoding::kUtf8, 3);
  json.number(123);
  EXPECT_FALSE(json.is_too_long());
  json.number(4);
  EXPECT_TRUE(json.is_too_long());
}

TEST(JsonTest, EscapesWhatWouldEndAStringOrALine) {
  EXPECT_EQ(quoted(""), R"("")");
  EXPECT_EQ(quoted("a\"b\\c/d"), R"("a\"b\\c/d")");
  EXPECT_EQ(quoted(std::string_view("\0\n\x1f\x7f", 4)), R"("\u0000\u000a\u001f\u007f")");
}

TEST(JsonTest, KeepsUtf8AndMarksBytesThatAreNone) {
  EXPECT_EQ(quoted("gr\xc3\xb6\xc3\x9f"
                   "e \xe2\x82\xac \xf0\x9f\x98\x80"),
            "\"gr\xc3\xb6\xc3\x9f"
            "e \xe2\x82\xac \xf0\x9f\x98\x80\"");
  EXPECT_EQ(quoted("a\xff\xc3"
                   "b"),
            R"("a\ufffd\ufffdb")");
}

TEST(JsonTest, LosesNoByteOfAnUnknownEncoding) {
  EXPECT_EQ(quoted("\xc3\xb6\xff", Encoding::kUnknown), R"("\u00c3\u00b6\u00ff")");
}

}  // namespace
}  // namespace tallyfs
