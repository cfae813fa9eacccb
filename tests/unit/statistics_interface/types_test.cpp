// The list of types (core/statistics/definition/definition.h) against what cannot fail to compile:
// documents, clients and the tests of every type.
#include <fstream>
#include <sstream>

#include "tests/unit/statistics_interface/each_type.h"
#include "tests/unit/statistics_interface/fixture.h"

namespace tallyfs::statistics {
namespace {

std::string file(const std::string& path) {
  std::ifstream in(std::string(TALLY_SOURCE_DIR "/") + path);
  EXPECT_TRUE(in.is_open()) << path;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> types() {
  std::vector<std::string> all;
  each_type([&]<typename S>() { all.emplace_back(S::kType); });
  return all;
}

// Fails for each type of which the file does not have before + type + behind.
void expect_each(const std::string& path, const std::string& before, const std::string& behind) {
  const std::string text = file(path);
  for (const std::string& type : types()) {
    EXPECT_NE(text.find(before + type + behind), std::string::npos)
        << path << " says nothing of " << type;
  }
}

TEST(TypesTest, DocumentsNameEach) {
  expect_each("core/statistics/definition/GRAMMAR.md", "\n| ", " |");
  expect_each("docs/statistics.md", "| `", "` |");
  expect_each("packaging/man/tally-definition.5", "\n.TP\n.B ", "\n");
  expect_each("docs/json.md", "\n| ", " |");
}

TEST(TypesTest, ClientsDefineEach) {
  expect_each("include/tally/statistic.h", "int statistic_define_", "(");
  expect_each("include/tally/statistic.hpp", "::statistic_define_", "(");
  expect_each("feeders/client/python/definitions.cpp", "{\"define_", "\", ");
}

TEST(TypesTest, TestsAndFuzzersKnowEach) {
  expect_each("tests/fuzz/words.dict", "\"type=", "\"");
  for (const std::string& type : types()) {
    const auto found = std::find_if(
        std::begin(kEachType), std::end(kEachType),
        [&](const std::string& text) { return Fixture(text).attribute("type") == type; });
    EXPECT_NE(found, std::end(kEachType)) << type;
  }
}

}  // namespace
}  // namespace tallyfs::statistics
