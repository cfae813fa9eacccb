#include "feeders/statsd/grammar/event_line.h"

#include <gtest/gtest.h>

#include <string>

namespace tallyfs::statsd {
namespace {

std::string event_text(const std::string& line) {
  Event event;
  if (const auto refused = parse_event(line, event)) return std::string(name_of(refused->reason));
  return event.title + "/" + event.text + (event.are_lengths_guessed ? "~" : "");
}

std::string check_text(const std::string& line) {
  Check check;
  if (const auto refused = parse_check(line, check)) return std::string(name_of(refused->reason));
  return std::string(check.name) + "=" + std::to_string(check.status) + " " + check.message + " " +
         std::string(check.tags);
}

TEST(StatsdEventTest, TakesEventsWithTheirFields) {
  Event event;
  ASSERT_FALSE(parse_event(
      "_e{5,4}:title|text|d:12|h:host|k:key|p:low|s:source|t:warning|#a:b,c|c:1|x:y", event));
  EXPECT_EQ(event.title, "title");
  EXPECT_EQ(event.text, "text");
  EXPECT_EQ(event.host, "host");
  EXPECT_EQ(event.key, "key");
  EXPECT_EQ(event.priority, "low");
  EXPECT_EQ(event.source, "source");
  EXPECT_EQ(event.alert, "warning");
  EXPECT_EQ(event.tags, "a:b,c");
  EXPECT_EQ(event_text("_e{21,42}:An exception occurred|"
                       "Cannot parse JSON request:\\\\n{\"foo: \"bar\"}|p:low"),
            "An exception occurred/Cannot parse JSON request:\\\n{\"foo: \"bar\"}");
  EXPECT_EQ(event_text("_e{3,3}:a|b|c|d"), "a|b/c|d");
  EXPECT_EQ(event_text("_e{1,0}:a|"), "a/");
  EXPECT_EQ(event_text("_e{1,2}:a|b "), "a/b ");
  EXPECT_EQ(event_text("_e{1,1}:a|b \r"), "a/b");
}

TEST(StatsdEventTest, GuessesWhatItsLengthsCount) {
  EXPECT_EQ(event_text("_e{2,1}:\xC3\xA9|x"), "\xC3\xA9/x");
  EXPECT_EQ(event_text("_e{1,1}:\xC3\xA9|x"), "\xC3\xA9/x~");
  EXPECT_EQ(event_text("_e{2,1}:\xF0\x9F\x98\x80|x"), "\xF0\x9F\x98\x80/x~");
}

TEST(StatsdEventTest, RefusesWhatIsNone) {
  for (const char* line :
       {"_e{0,4}:|text", "_e{9,9}:short|x", "_e{1}:a", "_e{", "_e{1,1}", "_e{,}:a|b",
        "_e{1,1}:ab|b", "_e{1,1}:a|bc", "_e{99999999999999999999,1}:a|b", "_e{-1,1}:a|b"}) {
    EXPECT_EQ(event_text(line), "event") << line;
  }
}

TEST(StatsdCheckTest, TakesChecksWithTheirFieldsInAnyOrder) {
  EXPECT_EQ(check_text("_sc|Redis connection|2|#env:dev|m:late"),
            "Redis connection=2 late env:dev");
  EXPECT_EQ(check_text("_sc|x|0|d:5|m:a\\nb|h:h|#t|c:1|e:2"), "x=0 a\nb t");
  EXPECT_EQ(check_text("_sc|x|3"), "x=3  ");
}

TEST(StatsdCheckTest, RefusesWhatIsNone) {
  for (const char* line : {"_sc|x|7", "_sc|x", "_sc||1", "_sc|x|", "_sc|x|11", "_sc|"}) {
    EXPECT_EQ(check_text(line), "check") << line;
  }
}

}  // namespace
}  // namespace tallyfs::statsd
