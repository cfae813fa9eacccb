#include "tools/tree/json.h"

#include <gtest/gtest.h>

namespace tallyfs {
namespace {

std::string printed(const Json& json) {
  std::string text;
  JsonWriter writer(text);
  write_json(writer, json);
  return text;
}

// More shapes than are remembered, each twice, and the first one again.
TEST(JsonTest, ObjectsOfOneTextHaveTheirOwnKeys) {
  std::string text = "[";
  for (const int last : {0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 0}) {
    text.append("{\"a\":1,\"key" + std::to_string(last) + "\":{\"a\":1}},{\"a\":2},{},");
  }
  text.append(R"({"b":{"a":{"b":null}}}])");
  const auto json = parse_json(text);
  ASSERT_TRUE(json);
  EXPECT_EQ(printed(json.value()), text);
}

TEST(JsonTest, AKeyThatIsAddedIsOfThatObjectAlone) {
  auto json = parse_json(R"([{"a":1},{"a":2}])");
  ASSERT_TRUE(json);
  Json& first = json.value().items[0];
  const Json copy = first;
  for (const char* key : {"b", "c"}) {
    first.keys.emplace_back(key);
    first.items.push_back({.kind = Json::Kind::kNull});
  }
  EXPECT_EQ(printed(json.value()), R"([{"a":1,"b":null,"c":null},{"a":2}])");
  EXPECT_EQ(printed(copy), R"({"a":1})");
  EXPECT_EQ(copy.find("b"), nullptr);
}

}  // namespace
}  // namespace tallyfs
