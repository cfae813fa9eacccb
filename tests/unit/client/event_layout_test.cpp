#include "feeders/client/event_layout.h"

#include <gtest/gtest.h>
#include <sys/types.h>

#include <cstring>

#include "core/tracing/format/synthetic.h"

namespace tallyfs {
namespace {

struct Wakeup {
  std::uint64_t lat;
  pid_t pid;
  char comm[16];
};

std::size_t struct_bytes(const char* fields) {
  return EventLayout::parse(fields).value().struct_bytes();
}

template <typename T>
T at(const std::string& record, std::size_t offset) {
  T value;
  std::memcpy(&value, record.data() + offset - EventLayout::kCommonBytes, sizeof value);
  return value;
}

TEST(EventLayoutTest, IsThatOfTheStructureOfTheSameMembers) {
  struct Mixed {
    std::uint8_t a;
    std::int16_t b;
    bool c;
    long d;
    char e;
    const char* f;
    unsigned int g;
  };
  EXPECT_EQ(struct_bytes("u64 lat; pid_t pid; char comm[16]"), sizeof(Wakeup));
  EXPECT_EQ(struct_bytes("u64 lat pid_t pid char[16] comm;"), sizeof(Wakeup));
  EXPECT_EQ(struct_bytes("u8 a; s16 b; bool c; long d; char e; char[] f; unsigned int g"),
            sizeof(Mixed));
}

// The daemon's own layout is core/tracing/format/synthetic.h's: both must say the same.
TEST(EventLayoutTest, ARecordIsLaidOutAsTheDaemonReadsIt) {
  const char* const fields = "u8 a; s16 b; char comm[16]; char[] text; u64 last; char[] more";
  struct {
    std::uint8_t a = 1;
    std::int16_t b = -2;
    char comm[16] = "cat";
    const char* text = "hello";
    std::uint64_t last = 9;
    const char* more = nullptr;
  } values;
  const auto daemons = tracing::FieldsDefinition::parse(std::string("event ") + fields).value();
  const auto layout = EventLayout::parse(fields).value();
  ASSERT_EQ(layout.struct_bytes(), sizeof values);
  std::string record;
  layout.append(record, &values);
  const auto& field = daemons.fields;
  EXPECT_EQ(at<std::uint8_t>(record, field[0].offset), 1);
  EXPECT_EQ(at<std::int16_t>(record, field[1].offset), -2);
  EXPECT_EQ(record.substr(field[2].offset - 8, 4), std::string("cat\0", 4));
  const auto text = at<std::uint32_t>(record, field[3].offset);
  EXPECT_EQ(text & 0xffff, daemons.fixed_bytes) << "behind all fields";
  EXPECT_EQ(text >> 16, 6u);
  EXPECT_STREQ(record.c_str() + (text & 0xffff) - 8, "hello");
  EXPECT_EQ(at<std::uint64_t>(record, field[4].offset), 9u);
  const auto more = at<std::uint32_t>(record, field[5].offset);
  EXPECT_EQ(more >> 16, 1u) << "of no text, its NUL";
  EXPECT_EQ(record.size() % 8, 0u);
}

TEST(EventLayoutTest, LongTextsAreCut) {
  const auto layout = EventLayout::parse("char[] text").value();
  const std::string text(5'000, 'x');
  const char* const value = text.c_str();
  std::string record;
  layout.append(record, &value);
  EXPECT_EQ(at<std::uint32_t>(record, 8) >> 16, EventLayout::kTextMax + 1);
}

TEST(EventLayoutTest, WhatIsNoFieldIsRefused) {
  for (const char* const fields :
       {"", ";", "u64", "unsigned long", "u63 x", "u64 x[2]", "char x[0]", "char x[257]",
        "char[4] x[4]", "char x[a]", "unsigned long[] stack", "u64 [4]", "unsigned char x[4]"}) {
    EXPECT_FALSE(EventLayout::parse(fields)) << fields;
  }
  std::string many;
  for (int i = 0; i < 65; ++i) many += "u8 a" + std::to_string(i) + ";";
  EXPECT_FALSE(EventLayout::parse(many));
}

}  // namespace
}  // namespace tallyfs
