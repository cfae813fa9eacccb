#include "core/base/labels.h"

#include <gtest/gtest.h>

#include <string>

#include "core/base/text.h"
#include "tests/unit/random.h"

namespace tallyfs {
namespace {

std::string stored(std::string_view typed) {
  const auto name = stored_name(typed);
  return name ? name.value()
              : std::to_string(name.error().token_at) + ": " + name.error().reason;
}

TEST(LabelsTest, OneStatisticHasOneSpelling) {
  EXPECT_EQ(stored("l{route:/cart,code:200}"), "l{code:200,route:%2Fcart}");
  EXPECT_EQ(stored("l{route:%2Fcart,code:200}"), "l{code:200,route:%2Fcart}");
  EXPECT_EQ(stored("l{ route : %2fcart , code:200 }"), "l{code:200,route:%2Fcart}");
  EXPECT_EQ(stored("l{x:a b}"), "l{x:a%20b}");
  EXPECT_EQ(stored("l{q:\"a,b\"}"), "l{q:a%2Cb}");
  EXPECT_EQ(stored("l{q:\" {a}\"}"), "l{q:%20%7Ba%7D}");
  EXPECT_EQ(stored("l{q:\"plain\"}"), stored("l{q:plain}"));
  EXPECT_EQ(stored("l{q:a=b|c~d}"), "l{q:a%3Db%7Cc%7Ed}");
  EXPECT_EQ(stored("l{q:100%}"), "l{q:100%25}");
  EXPECT_EQ(stored("l{q:%41%C3%A9%FF%0A}"), "l{q:A\xC3\xA9%FF%0A}");
  EXPECT_EQ(stored("l{url:http://x:80/}"), "l{url:http:%2F%2Fx:80%2F}");
}

TEST(LabelsTest, ANameWithoutLabelsIsLeftAsItIs) {
  for (const char* name : {"latency", "a}b", "50%25", "a~c", "", "a b"}) {
    EXPECT_EQ(stored(name), name);
  }
}

TEST(LabelsTest, KeepsWhatFeedersWrite) {
  for (const char* name : {"a{*}", "a{%2A}", "a{b,c:2}~g", "a{b-c:1,b:1}", "a{b:}", "a{q:%22x%22}",
                           "a{route:*}", "a{x:1}_slow"}) {
    EXPECT_EQ(stored(name), name);
  }
}

TEST(LabelsTest, RefusesWhatIsNoLabelWithItsPlace) {
  const std::string form = "labels are {KEY:VALUE,...}, as {route:/cart,code:200}";
  EXPECT_EQ(stored("l{a:1"), "1: this { has no }");
  EXPECT_EQ(stored("l{"), "1: this { has no }");
  EXPECT_EQ(stored("l{q:\"a}"), "4: a quote has no end");
  EXPECT_EQ(stored("l{q:\"a\"b}"), "7: a label ends with its quote");
  EXPECT_EQ(stored("l{}"), "2: " + form);
  EXPECT_EQ(stored("l{:1}"), "2: " + form);
  EXPECT_EQ(stored("l{a:1,}"), "6: " + form);
  EXPECT_EQ(stored("l{,a:1}"), "2: " + form);
  EXPECT_EQ(stored("l{route=\"/x\"}"), "2: " + form);
  EXPECT_EQ(stored("l{\"a\":1}"), "2: " + form);
  EXPECT_EQ(stored("l{a:1,b:2,a:3}"), "10: the label a is given twice");
  EXPECT_EQ(stored("l{/:1,%2F:3}"), "6: the label %2F is given twice");
  EXPECT_EQ(stored("l{a:{b}"), "4: a label has { in quotes only");
  EXPECT_EQ(stored("l{a:1}{b:2}"), "6: a name has one {...}");
  EXPECT_EQ(stored("{a:1}"), "0: a name stands before its labels");
  EXPECT_EQ(stored("l{a:1}/b"), "6: a name has one '/': write %2F for others");
  EXPECT_EQ(stored("k/l{a:1}"), "1: a name has one '/': write %2F for others");
}

TEST(LabelsTest, TheBoundIsThatOfTheStoredName) {
  const std::string most = "l{a:" + std::string(250, 'x') + "}";
  EXPECT_EQ(stored(most), most);
  EXPECT_EQ(stored("l{a: " + std::string(250, 'x') + " }"), most);
  EXPECT_EQ(stored("l{a:/" + std::string(249, 'x') + "}"),
            "0: the name has 257 bytes with its %XX, of 255");
}

// Each is compared with all before it, which takes seconds with all labels of a datagram.
TEST(LabelsTest, OfManyLabelsNoMoreAreReadThanANameHas) {
  std::string name = "l{k0";
  for (int i = 1; i < 128; ++i) name.append(",k").append(std::to_string(i));
  EXPECT_EQ(stored(name + ",k0}"), "0: a name has 255 bytes at most");
  EXPECT_EQ(stored(name + ",this is not read"), "0: a name has 255 bytes at most");
}

TEST(LabelsTest, APathIsDividedAtItsFirstSlash) {
  EXPECT_EQ(stored_path("web/l{b:/x,a:1}").value(), "web/l{a:1,b:%2Fx}");
  EXPECT_EQ(stored_path("we{b").value(), "we{b");
  EXPECT_EQ(stored_path("").value(), "");
  EXPECT_EQ(stored_path("web/l{a").error().token_at, 5u);
}

TEST(LabelsTest, APatternKeepsItsWildcards) {
  EXPECT_EQ(stored_pattern("web/l{route:/cart/*}"), "web/l{route:%2Fcart%2F*}");
  EXPECT_EQ(stored_pattern("web/l{route:/x,code:*}"), "web/l{code:*,route:%2Fx}");
  EXPECT_EQ(stored_pattern("web/l{*route:/x*}"), "web/l{*route:%2Fx*}");
  EXPECT_EQ(stored_pattern("web/l{*"), "web/l{*");
  EXPECT_EQ(stored_pattern("web/l{route:/x*"), "web/l{route:%2Fx*");
  EXPECT_EQ(stored_pattern("web/l{q:\"a"), "web/l{q:a");
  EXPECT_EQ(stored_pattern("w*/l?"), "w*/l?");
  EXPECT_EQ(stored_pattern("w{b:/x"), "w{b:/x");
}

TEST(LabelsTest, AWildcardThatIsEscapedIsNoneInAPattern) {
  EXPECT_EQ(stored_pattern("web/l{q:%2A,r:*}"), "web/l{q:\\*,r:*}");
  EXPECT_EQ(stored_pattern("web/l{q:a%3F%5b%5C}"), "web/l{q:a\\?\\[\\\\}");
  EXPECT_EQ(stored_pattern("web/l{q:%252A}"), "web/l{q:%252A}");
  EXPECT_EQ(stored_pattern("web/l{%2A}"), "web/l{%2A}");
  EXPECT_EQ(stored_pattern("web/l{B:1,%2A:2}"), "web/l{\\*:2,B:1}") << "as the name is sorted";
  EXPECT_EQ(stored_pattern("web/l{q:\\*}"), "web/l{q:\\*}") << "as it is saved";
}

TEST(LabelsTest, PeopleAreShownWhatTheyMayType) {
  EXPECT_EQ(shown_labels("l{code:200,route:%2Fcart%2Fa%20b}"), "l{code:200,route:/cart/a b}");
  EXPECT_EQ(shown_labels("l{q:a%2Cb}"), "l{q:\"a,b\"}");
  EXPECT_EQ(shown_labels("l{q:%20a}"), "l{q:\" a\"}");
  EXPECT_EQ(shown_labels("l{q:%1B%0A%FF%22%E2%80%AE}"), "l{q:%1B%0A%FF%22%E2%80%AE}");
  EXPECT_EQ(shown_labels("l{q:100%25}"), "l{q:100%}");
  EXPECT_EQ(shown_labels("l{q:%2541}"), "l{q:%2541}");
  EXPECT_EQ(shown_labels("l{a:1}~g"), "l{a:1}~g");
  for (const char* name : {"l", "50%2F", "l{*}", "l{%2A}", "a{b", "a}b{"}) {
    EXPECT_EQ(shown_labels(name), name);
  }
}

// Bytes that have a meaning, in any order.
TEST(LabelsTest, StoredAndShownNamesMeanTheSameName) {
  Random random;
  SCOPED_TRACE(random.seed());
  constexpr std::string_view kBytes = "{}:,\"%/=~|* ab2F\xC3\xA9\x01";
  std::size_t taken = 0;
  for (int i = 0; i < 50'000; ++i) {
    std::string typed = "n{k:";
    for (auto left = random.below(12); left > 0; --left) {
      typed.push_back(kBytes[random.below(kBytes.size())]);
    }
    typed.push_back('}');
    const auto name = stored_name(typed);
    if (!name) {
      ASSERT_LT(name.error().token_at, typed.size()) << typed;
      continue;
    }
    ++taken;
    ASSERT_EQ(labels_end(typed, 1), typed.size()) << typed;
    ASSERT_EQ(stored(name.value()), name.value()) << typed;
    ASSERT_EQ(stored(shown_labels(name.value())), name.value()) << typed;
    ASSERT_TRUE(is_name(name.value())) << typed;
  }
  EXPECT_GT(taken, 10'000u);
}

TEST(LabelsTest, BlanksWithinLabelsBelongToTheToken) {
  Tokens line("web/l{x:a b,q:\" } \"} name=v{x:c d} of=l{x:a b} 5");
  EXPECT_EQ(line.next_path()->text, "web/l{x:a b,q:\" } \"}");
  EXPECT_EQ(line.next()->text, "name=v{x:c d}");
  EXPECT_EQ(line.next()->text, "of=l{x:a b}");
  EXPECT_EQ(line.next()->text, "5");
  Tokens open("web/l{x:a on=1");
  EXPECT_EQ(open.next_path()->text, "web/l{x:a");
  Tokens interface("we{b x}");
  EXPECT_EQ(interface.next_path()->text, "we{b");
  Tokens other("help=l{x:a b}");
  EXPECT_EQ(other.next()->text, "help=l{x:a");
}

// Else each of many such words would be read up to the end of the line.
TEST(LabelsTest, AfterLabelsWithoutAnEndThereAreNone) {
  Tokens line("name=v{x:\" of=l{x:a b}");
  EXPECT_EQ(line.next()->text, "name=v{x:\"");
  EXPECT_EQ(line.next()->text, "of=l{x:a");
  EXPECT_EQ(line.next()->text, "b}");
}

}  // namespace
}  // namespace tallyfs
