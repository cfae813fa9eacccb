#include "core/tracing/format/format.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/kernel_formats.h"

namespace tallyfs::tracing {
namespace {

TEST(EventFormatTest, ReadsTheFormatOfABlockEvent) {
  const auto format = parse_event_format(kBlockRqIssue).value();
  EXPECT_EQ(format.name, "block_rq_issue");
  EXPECT_EQ(format.id, 2104);
  ASSERT_EQ(format.fields.size(), 12u);
  const auto pid = format.field("common_pid").value();
  EXPECT_EQ(pid.offset, 4u);
  EXPECT_TRUE(pid.is_signed);
  const auto rwbs = format.field("rwbs").value();
  EXPECT_EQ(rwbs.offset, 34u);
  EXPECT_EQ(rwbs.size, 10u);
  EXPECT_EQ(format.field("cmd").value().offset, 60u);
  EXPECT_EQ(format.field("no").error().reason, "event block_rq_issue: there is no field 'no'");
}

TEST(EventFormatTest, RefusesWhatIsNoFormat) {
  const std::string good = kBlockRqIssue;
  const std::string bad[] = {
      "",
      "\n\n",
      std::string(100, '\0'),
      "name: x\nID: 1\nformat:\n",
      without(good, "name:"),
      without(good, "ID:"),
      without(good, "common_type"),
      replaced(good, "ID: 2104", "ID: 65536"),
      replaced(good, "ID: 2104", "ID: -1"),
      replaced(good, "name: block_rq_issue", "name: a/b"),
      replaced(good, "offset:16", "offset:0x"),
      replaced(good, "offset:16", "offset:99999"),
      replaced(good, "size:8", "size:18446744073709551615"),
      replaced(good, "size:8", "sise:8"),
      replaced(good, "field:dev_t dev", "field:dev"),
      replaced(good, "field:char rwbs[10]", "field:char [10]"),
      good + std::string(kFormatBytesMax, ' '),
  };
  for (const std::string& text : bad) EXPECT_FALSE(parse_event_format(text)) << text;
}

TEST(EventFormatTest, HasABoundOnTheNumberOfFields) {
  std::string text = "name: x\nID: 1\nformat:\n\tfield:u16 common_type;\toffset:0;\tsize:2;\n";
  for (std::size_t i = 1; i < kFormatFieldsMax; ++i) {
    text += "\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n";
  }
  EXPECT_TRUE(parse_event_format(text));
  EXPECT_FALSE(parse_event_format(text + "\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n"));
}

TEST(EventFormatTest, SurvivesEveryPrefixOfAFormat) {
  const std::string good = kBlockRqIssue;
  for (std::size_t size = 0; size < good.size(); ++size) {
    (void)parse_event_format(good.substr(0, size));
  }
}

TEST(EventFormatTest, AnElementOfAnArrayHasTheBytesOfItsType) {
  const auto bytes_of = [](const char* type) {
    return TraceField{.name = "x", .size = 4, .type = type}.element_bytes();
  };
  for (const char* const type : {"uint8_t", "int8_t", "u8", "__u8", "s8", "char", "unsigned char",
                                 "bool", "struct int_pair", "hint_t", "struct point"}) {
    EXPECT_EQ(bytes_of((std::string("__data_loc ") + type + "[]").c_str()), 1u) << type;
  }
  for (const char* const type :
       {"uint16_t", "int16_t", "u16", "__le16", "short", "unsigned short int"}) {
    EXPECT_EQ(bytes_of((std::string("__rel_loc ") + type + "[]").c_str()), 2u) << type;
  }
  for (const char* const type : {"uint32_t", "u32", "__be32", "int", "unsigned int", "unsigned",
                                 "const int", "pid_t", "enum hint"}) {
    EXPECT_EQ(bytes_of((std::string("__data_loc ") + type + "[]").c_str()), 4u) << type;
  }
  for (const char* const type :
       {"uint64_t", "u64", "__le64", "long", "unsigned long", "unsigned long long", "long long int",
        "size_t", "int *", "const char *", "loff_t"}) {
    EXPECT_EQ(bytes_of((std::string("__data_loc ") + type + "[]").c_str()), 8u) << type;
  }
}

TEST(TraceNumberTest, ReadsNumbersOfEverySizeAndSign) {
  EventFormat format{.name = "x"};
  const std::uint32_t sizes[] = {1, 2, 4, 8};
  const std::string payload(8, '\xFE');
  for (const std::uint32_t size : sizes) {
    format.fields = {{"u", 0, size, false}, {"s", 0, size, true}};
    const auto all_ones = size == 8 ? ~0ull : (1ull << (8 * size)) - 1;
    EXPECT_EQ(TraceNumber::find(format, "u").value().read(payload), 0xFEFEFEFEFEFEFEFEu & all_ones);
    const auto read = TraceNumber::find(format, "s").value().read(payload);
    EXPECT_EQ(read, 0xFEFEFEFEFEFEFEFEu | ~all_ones);
  }
}

TEST(TraceNumberTest, RefusesFieldsThatAreNoNumbers) {
  const auto format = parse_event_format(kBlockRqIssue).value();
  EXPECT_EQ(TraceNumber::find(format, "rwbs").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(TraceNumber::find(format, "gone").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace tallyfs::tracing
