// Words as people type them: help= in plain text, and the line that makes what is missing.
#include "tools/ctl/typed_words.h"

#include <gtest/gtest.h>

namespace tallyfs {
namespace {

TEST(TypedWordsTest, HelpIsOneTokenOfItsPlainText) {
  EXPECT_EQ(stored_word("help=Time in queue"), "help=Time%20in%20queue");
  EXPECT_EQ(stored_word("help=100 %\t\"\x7f"), "help=100%20%25%09%22%7F");
  EXPECT_EQ(stored_word("help=100%"), "help=100%25");
  EXPECT_EQ(stored_word("help=caf\xC3\xA9"), "help=caf\xC3\xA9");
}

TEST(TypedWordsTest, WhatADefinitionPrintsStays) {
  for (const char* const word : {"help=Time%20in%20queue", "help=", "help=-", "type=range",
                                 "units=milli seconds"}) {
    EXPECT_EQ(stored_word(word), word);
  }
}

TEST(TypedWordsTest, TheLineThatMakesItHasTheWordsThatWereGiven) {
  EXPECT_EQ(create_line("web", "us", {"type=range"}), "tallyctl create web/us type=range on=1");
  EXPECT_EQ(create_line("web", "", {}), "tallyctl create web/STATISTIC on=1");
  EXPECT_EQ(create_line("web", "us{a:b}", {"name=us{a:b}", "on=0", "help=it's"}),
            "tallyctl create 'web/us{a:b}' on=0 'help=it'\\''s'");
}

}  // namespace
}  // namespace tallyfs
