// Fields of lines that are JSON or logfmt: what is found, and exactly as the line has it.
#include "feeders/log/rules/field_reader.h"

#include <gtest/gtest.h>

namespace tallyfs::logs {
namespace {

std::string read(LineForm form, std::string_view line) {
  FieldReader reader(form, {"a", "b.c", "n"});
  std::string said;
  for (int twice = 0; twice < 2; ++twice) {
    const auto fields = reader.read(line);
    if (!fields) return "refused";
    said.clear();
    for (const auto& field : *fields) said += field ? std::string(*field) + ";" : "-;";
  }
  return said;
}

TEST(LogFieldsTest, FindsPathsOfJson) {
  const auto json = [](std::string_view line) { return read(LineForm::kJson, line); };
  EXPECT_EQ(json(R"({"a":"x\n\u00e9","b":{"c":true,"d":{"c":1}},"n":0.10000000000000000001})"),
            "x\n\xc3\xa9;true;0.10000000000000000001;");
  EXPECT_EQ(json(R"({"c":1,"b":{"a":2},"n":-12345678901234567890})"), "-;-;-12345678901234567890;");
  EXPECT_EQ(json(R"({"a":null,"b":[{"c":1}],"n":[2]})"), "-;-;-;");
  EXPECT_EQ(json(R"({"a":1,"a":2,"b":{"c":3},"n":1e3})"), "2;3;1e3;");
  for (const char* const line : {"", "[]", "1", "{", R"({"a":1}x)", R"({"a":nan})", "text"}) {
    EXPECT_EQ(json(line), "refused") << line;
  }
  EXPECT_EQ(json(std::string(100, '[')), "refused");
  EXPECT_EQ(json("{\"a\":\"caf\xe9 \xff\",\"n\":1}"), "caf\xe9 \xff;-;1;") << "Latin-1";
}

TEST(LogFieldsTest, FindsKeysOfLogfmt) {
  const auto logfmt = [](std::string_view line) { return read(LineForm::kLogfmt, line); };
  EXPECT_EQ(logfmt(R"(level=info a="x \"y\" z" n=1.5 b.c=)"), "x \"y\" z;;1.5;");
  EXPECT_EQ(logfmt("bare a=1=2 n"), "1=2;-;-;");
  for (const char* const line : {"", "only words", "=x", R"(a="x)", R"(a="x\)"}) {
    EXPECT_EQ(logfmt(line), "refused") << line;
  }
}

}  // namespace
}  // namespace tallyfs::logs
