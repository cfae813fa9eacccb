// The one grammar of fields, and the words in which the daemon and libtally refuse them: the
// daemon's are the kernel's, libtally's say what is wrong.
#include <gtest/gtest.h>

#include "core/model/field_grammar.h"
#include "core/tracing/format/synthetic.h"
#include "feeders/client/event_layout.h"

namespace tallyfs {
namespace {

struct Refused {
  std::string_view fields;
  std::string_view daemons;  // reason
  std::string_view word;     // at which its caret stands
  std::string_view clients;
};

TEST(FieldRefusalsTest, AreTheDaemonsAndTheClientsOwn) {
  for (const auto& [fields, daemons, word, clients] : {
           Refused{"u64", "Invalid field", "u64", "no whole field 'u64'"},
           Refused{"u64 a; int", "Invalid field", "int", "no whole field 'int'"},
           Refused{"u64; a", "Invalid field", "u64", "no whole field 'u64'"},
           Refused{"unsigned long", "Incomplete type", "unsigned", "no whole field 'unsigned'"},
           Refused{"u64 st-r", "Illegal name", "st-r", "not the name of a field 'st-r'"},
           Refused{"u64 [4]", "Illegal name", "[4]", "not the name of a field '[4]'"},
           Refused{"char str]", "Illegal name", "str]", "not the name of a field 'str]'"},
           Refused{"u63 x", "Invalid type", "u63", "not a type 'u63'"},
           Refused{"u63[2] x", "Invalid type", "u63[2]", "not a type 'u63'"},
           Refused{"unsigned u8 x", "Invalid type", "unsigned", "not a type 'unsigned u8'"},
           Refused{"char x[", "Invalid array specification", "x[", "not an array '['"},
           Refused{"char x[a]", "Invalid array specification", "x[a]", "not an array '[a]'"},
           Refused{"char x[0]", "Invalid array specification", "x[0]", "not an array '[0]'"},
           Refused{"char[257] x", "Invalid array specification", "x", "not an array '[257]'"},
           Refused{"u64 x[2]", "Invalid array specification", "x[2]", "not an array '[2]'"},
           Refused{"u64 x[]", "Invalid array specification", "x[]", "not an array '[]'"},
           Refused{"char[4] x[4]", "Invalid array specification", "x[4]",
                   "not the name of a field 'x[4]'"},
       }) {
    const auto daemon = tracing::FieldsDefinition::parse("event " + std::string(fields));
    ASSERT_FALSE(daemon) << fields;
    EXPECT_EQ(daemon.error().reason, daemons) << fields;
    EXPECT_EQ(daemon.error().token, word) << fields;
    const auto client = EventLayout::parse(fields);
    ASSERT_FALSE(client) << fields;
    EXPECT_EQ(client.error().reason, clients) << fields;
  }
}

TEST(FieldRefusalsTest, AProgramsStructureHasNoStack) {
  EXPECT_TRUE(tracing::FieldsDefinition::parse("event unsigned long[] stack"));
  EXPECT_EQ(EventLayout::parse("long stack[]").error().reason, "not an array '[]'");
}

TEST(FieldRefusalsTest, FieldsAreBounded) {
  std::string many;
  for (std::size_t i = 0; i < tracing::FieldsDefinition::kFieldsMax; ++i) {
    many += "u8 f" + std::to_string(i) + " ";
  }
  EXPECT_TRUE(tracing::FieldsDefinition::parse("event " + many));
  EXPECT_TRUE(EventLayout::parse(many));
  EXPECT_EQ(tracing::FieldsDefinition::parse("event " + many + "u8 last").error().token, "last");
  EXPECT_EQ(EventLayout::parse(many + "u8 last").error().reason, "too many fields 'last'");
}

TEST(FieldRefusalsTest, NothingIsNoEvent) {
  EXPECT_EQ(EventLayout::parse(" ; ").error().reason, "no fields in ' ; '");
  EXPECT_FALSE(tracing::FieldsDefinition::parse("event ;"));
  EXPECT_TRUE(parse_fields("", 1).value().empty());
}

TEST(FieldGrammarTest, SaysWhatAFieldIs) {
  using Shape = ParsedField::Shape;
  const auto fields =
      parse_fields("unsigned  int a; char[16] b char c[]; unsigned long[] d;; pid_t e;", 64)
          .value();
  ASSERT_EQ(fields.size(), 5u);
  const auto is = [&](std::size_t at, std::string_view name, std::string_view type, Shape shape,
                      std::uint32_t bytes) {
    EXPECT_EQ(fields[at].name, name);
    EXPECT_EQ(fields[at].type->name, type) << name;
    EXPECT_EQ(fields[at].shape, shape) << name;
    EXPECT_EQ(fields[at].bytes, bytes) << name;
  };
  is(0, "a", "unsigned int", Shape::kNumber, 4);
  is(1, "b", "char", Shape::kText, 16);
  is(2, "c", "char", Shape::kLocated, 0);
  is(3, "d", "unsigned long", Shape::kStack, 0);
  is(4, "e", "pid_t", Shape::kNumber, 4);
}

}  // namespace
}  // namespace tallyfs
