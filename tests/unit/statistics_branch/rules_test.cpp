// Longer than most: what rules do to statistics of all kinds and to each other.
// Rules, and views as the socket sees them.
#include "core/tree/error_log.h"
#include "tests/unit/statistics_branch/statistics_fixture.h"

namespace tallyfs::statistics {
namespace {

struct Log {
  FakeClock clock;
  ErrorLog errors{clock.now()};
};

class RulesTest : protected Log, public StatisticsTest {
 protected:
  RulesTest() : StatisticsTest({.errors = &errors}) {}

  std::shared_ptr<File> rules() {
    return tree_.file(tree_.lookup(Tree::kRoot, "rules").value().id).value();
  }
  Result<void> write(std::string_view line) { return rules()->write_line(line, clock_.now()); }
  // As `>>` and `>` open it.
  void open_to_add() { ASSERT_TRUE(rules()->hold(File::Access::kWrite, clock_.now())); }
  void open_to_replace() {
    open_to_add();
    ASSERT_TRUE(rules()->truncate(clock_.now()));
  }
  std::string text() { return rules()->render(clock_.now(), 1 << 20).value(); }
  std::string told() { return errors.render(clock_.now(), 1 << 20).value(); }
  // Of the first line of web's definition file.
  std::string begin() {
    const std::string all = read("web", "definition");
    return all.substr(0, all.find(" range_min"));
  }
};

TEST_F(RulesTest, AreAppliedToWhatComesIntoBeing) {
  ASSERT_TRUE(write("web/*_us type=last on=1"));
  EXPECT_TRUE(execute("create web/a_us"));
  EXPECT_EQ(begin(), "name=a_us on=1 type=last");
  send("web/b_us", 7);
  EXPECT_NE(read("web", "data").find("b_us [0.000000] 7\n"), std::string::npos);
  EXPECT_TRUE(execute("create app/a"));
  EXPECT_NE(read("app", "definition").find("name=a on=0 type=value"), std::string::npos);
}

TEST_F(RulesTest, ApplyingTellsEachFailure) {
  EXPECT_TRUE(execute("create app/a"));
  EXPECT_TRUE(execute("create app/b"));
  ASSERT_TRUE(write("app/* mode=range"));
  ASSERT_TRUE(write("apply"));
  EXPECT_NE(told().find("rules, for app/a: error: mode=range is for type=history only"),
            std::string::npos);
  EXPECT_NE(told().find("rules, for app/b: error: "), std::string::npos);
}

TEST_F(RulesTest, AKeyThatTheTypeLacksIsToldOnce) {
  ASSERT_TRUE(write("app/* precision=5"));
  EXPECT_TRUE(execute("create app/a"));
  EXPECT_TRUE(execute("create app/b"));
  EXPECT_NE(told().find("rules, for app/a: "), std::string::npos) << told();
  EXPECT_EQ(told().find("rules, for app/b: "), std::string::npos) << told();
}

TEST_F(RulesTest, ACommentBeginsWithItsToken) {
  ASSERT_TRUE(write("web/a view=a#b on=1 # of names"));
  EXPECT_EQ(text(), "web/a view=a#b on=1\n");
  EXPECT_TRUE(execute("create web/a"));
  EXPECT_NE(read("web", "definition").find("name=a_a#b of=a on=1"), std::string::npos);
}

TEST_F(RulesTest, AViewNeedsASource) {
  EXPECT_TRUE(execute("create web/a"));
  const auto made = execute("create web/q of=");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kInvalid);
}

TEST_F(RulesTest, ARuleOfAViewMakesOne) {
  ASSERT_TRUE(write("*/* view=last type=last"));
  EXPECT_TRUE(execute("create web/a"));
  EXPECT_NE(read("web", "definition").find("\nname=a_last of=a on=1 type=last"), std::string::npos);
  EXPECT_EQ(told(), "");
}

TEST_F(RulesTest, AreShownAsTheyCanBeWrittenBack) {
  ASSERT_TRUE(write(" web/a  on=1 # words"));
  ASSERT_TRUE(write("# a comment"));
  ASSERT_TRUE(write(""));
  EXPECT_EQ(text(), "web/a on=1\n");
  ASSERT_TRUE(rules()->truncate(clock_.now()));
  EXPECT_EQ(text(), "");
}

TEST_F(RulesTest, RefuseWhatIsNoRuleWithTheCaretUnderIt) {
  const auto expect = [&](std::string_view line, std::string_view token) {
    const auto refused = write(line);
    ASSERT_FALSE(refused) << line;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalid) << line;
    EXPECT_EQ(line.substr(refused.error().token_at, token.size()), token) << line;
  };
  expect("web on=1", "web");
  expect("web/a/b on=1", "web/a/b");
  expect("on=1", "on=1");
  expect("web/a", "web/a");
  expect("web/a on", "on");
  expect("web/a on=1 name=b", "name=b");
  expect("web/a of=b", "of=b");
  expect("web/a view=x onn=1", "onn=1");
  expect("web/a view=x/y on=1", "view=x/y");
  expect("web/a view=x on=2", "on=2");
  // What no statistic could take.
  expect("web/a type=quantiles precision=5", "type=quantiles");
  expect("web/a view=x type=list", "type=list");
  expect("web/a type=history mode=quantiles entries_max=5 period=5", "type=history");
  expect("web/a type=value mode=range", "mode=range");
  expect("web/a range_min=5 range_max=4", "range_min=5");
  EXPECT_EQ(text(), "");
}

TEST_F(RulesTest, MayLackWhatTheStatisticHas) {
  EXPECT_TRUE(write("web/a type=array scale=lin base_interval=1"));
  EXPECT_TRUE(write("web/a entries_max=5 mode=quantiles range_min=5"));
  EXPECT_TRUE(write("web/a view=x quantiles=50"));
  EXPECT_FALSE(write("web/a type=array scale=lin base_interval=1 range_min=0 range_max=100000"));
  EXPECT_FALSE(write("web/a type=array scale=lin base_interval=1 entries_max=5"));
}

TEST_F(RulesTest, ARuleThatCannotBeAppliedIsToldOnce) {
  ASSERT_TRUE(write("web/* mode=range"));
  EXPECT_TRUE(execute("create web/a"));
  EXPECT_EQ(begin(), "name=a on=0 type=value");
  const std::string once = told();
  EXPECT_NE(once.find("rules, for web/a: error: mode=range is for"), std::string::npos) << once;
  EXPECT_TRUE(execute("create web/b"));
  EXPECT_EQ(told(), once);
}

TEST_F(RulesTest, ApplyMeansAllThatIsThere) {
  EXPECT_TRUE(execute("create web/a"));
  ASSERT_TRUE(write("web/a type=range on=1"));
  EXPECT_EQ(begin(), "name=a on=0 type=value");
  ASSERT_TRUE(write("apply"));
  EXPECT_EQ(begin(), "name=a on=1 type=range");
}

TEST_F(RulesTest, ThoseOfTheFileComeFirstAndAreReplacedAlone) {
  ASSERT_TRUE(write("web/b on=1"));
  const auto first = statistics_.take_rules("/r", "web/a on=1\n\n# no rule\n", clock_.now());
  EXPECT_TRUE(first.refused.empty());
  EXPECT_EQ(text(), "web/a on=1\nweb/b on=1\n");
  const auto reading =
      statistics_.take_rules("/r", "web/c on=1\nweb/d on=7\nweb/a on=1\nweb/e on=0", clock_.now());
  EXPECT_EQ(text(), "web/c on=1\nweb/a on=1\nweb/e on=0\nweb/b on=1\n");
  EXPECT_EQ(reading.rules, 3u);
  EXPECT_EQ(reading.added, 2u);
  EXPECT_EQ(reading.gone, 0u);
  ASSERT_EQ(reading.refused.size(), 1u);
  EXPECT_EQ(reading.refused[0].number, 2u);
  EXPECT_EQ(reading.refused[0].text, "web/d on=7");
  EXPECT_EQ(reading.refused[0].error.reason, "on must be 0 or 1");
  EXPECT_EQ(statistics_.take_rules("/r", "web/e on=0\n", clock_.now()).gone, 2u);
}

// ---- writes that replace all rules

TEST_F(RulesTest, AReplacementThatFailsChangesNothing) {
  ASSERT_TRUE(write("web/a on=1"));
  ASSERT_TRUE(statistics_.take_rules("/r", "web/file on=1", clock_.now()).refused.empty());
  const std::string before = text();
  open_to_replace();
  ASSERT_TRUE(write("web/b on=1"));
  EXPECT_EQ(text(), "web/b on=1\n");
  const auto refused = write("web/c on=maybe");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().location, "rules:2");
  EXPECT_EQ(refused.error().reason, "on must be 0 or 1; the rules stay as they were");
  EXPECT_EQ(text(), before);
  // More of the same text.
  EXPECT_TRUE(write("web/d on=1"));
  EXPECT_TRUE(write("# comment"));
  EXPECT_EQ(write("web").error().location, "rules:5");
  EXPECT_FALSE(write("apply"));
  EXPECT_EQ(text(), before);
}

TEST_F(RulesTest, ALineThatIsRefusedBeforeItComesHereBringsTheFormerRulesBack) {
  ASSERT_TRUE(write("web/a on=1"));
  rules()->reviewer()->note_refused_line();  // of a write that adds
  EXPECT_EQ(text(), "web/a on=1\n");
  open_to_replace();
  ASSERT_TRUE(write("web/b on=1"));
  rules()->reviewer()->note_refused_line();
  EXPECT_EQ(text(), "web/a on=1\n");
  ASSERT_TRUE(write("web/c on=1"));
  EXPECT_FALSE(write("web/d on=maybe"));
  EXPECT_EQ(text(), "web/a on=1\n");
  open_to_add();
  ASSERT_TRUE(write("web/e on=1"));
  EXPECT_EQ(text(), "web/a on=1\nweb/e on=1\n");
}

TEST_F(RulesTest, WhatIsWrittenNextIsNoPartOfTheReplacement) {
  ASSERT_TRUE(write("web/a on=1"));
  open_to_replace();
  ASSERT_TRUE(write("web/b on=1"));
  open_to_add();
  EXPECT_EQ(write("web/c on=maybe").error().location, "rules:1");
  EXPECT_EQ(text(), "web/b on=1\n");
  ASSERT_TRUE(write("web/d on=1"));
  EXPECT_EQ(text(), "web/b on=1\nweb/d on=1\n");
}

TEST_F(RulesTest, TooManyRulesInAReplacementBringTheFormerOnesBack) {
  ASSERT_TRUE(write("web/a on=1"));
  open_to_replace();
  for (std::size_t i = 0; i < Rules::kRulesBound; ++i) {
    ASSERT_TRUE(write("web/" + std::to_string(i) + " on=1"));
  }
  EXPECT_EQ(write("web/x on=1").error().code, ErrorCode::kNoSpace);
  EXPECT_EQ(text(), "web/a on=1\n");
  open_to_add();
  EXPECT_TRUE(write("web/x on=1"));
}

TEST_F(RulesTest, ApplyThatWouldReplaceTheRulesKeepsThem) {
  EXPECT_TRUE(execute("create web/a"));
  ASSERT_TRUE(write("web/a on=1"));
  open_to_replace();
  const auto refused = write("apply");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().reason.find("use >>"), std::string::npos);
  EXPECT_EQ(text(), "web/a on=1\n");
  EXPECT_EQ(begin(), "name=a on=0 type=value");
  open_to_replace();
  ASSERT_TRUE(write("web/a type=range"));
  ASSERT_TRUE(write("apply"));
  EXPECT_EQ(begin(), "name=a on=0 type=range");
}

TEST_F(RulesTest, TheFileOfTheOptionMayComeInTheMiddleOfAReplacement) {
  ASSERT_TRUE(write("web/a on=1"));
  open_to_replace();
  ASSERT_TRUE(write("web/b on=1"));
  ASSERT_TRUE(statistics_.take_rules("/r", "web/file on=1", clock_.now()).refused.empty());
  EXPECT_FALSE(write("web"));
  EXPECT_EQ(text(), "web/file on=1\nweb/b on=1\n");
}

TEST_F(RulesTest, ApplyLeavesTheDaemonsOwnNumbers) {
  ASSERT_TRUE(write("*/* type=last on=0"));
  const std::string before = read("tallyfs", "definition");
  ASSERT_TRUE(write("apply"));
  EXPECT_EQ(read("tallyfs", "definition"), before);
  EXPECT_EQ(told(), "");
}

// ---- what a feeder says of its statistic later

TEST_F(RulesTest, RulesWinOverDefaultsThatComeLater) {
  ASSERT_TRUE(write("web/a entries_max=7 on=1"));
  ASSERT_TRUE(write("web/b type=range"));
  ASSERT_TRUE(write("web/b view=last type=last"));
  EXPECT_TRUE(execute("create web/a"));
  EXPECT_TRUE(execute("create web/b on=1"));
  EXPECT_TRUE(execute("define web name=a default=1 type=list entries_max=5 on=0"));
  EXPECT_NE(read("web", "definition").find("name=a on=1 type=list "), std::string::npos);
  EXPECT_NE(read("web", "definition").find(" entries_max=7 "), std::string::npos);
  send("web/b", 5);
  EXPECT_TRUE(execute("define web name=b default=1 type=list entries_max=5"));
  EXPECT_EQ(read("web", "data"), "b 1 5 5.000 5\nb_last [0.000000] 5\n");
}

TEST_F(RulesTest, RulesWinOverDefaultsWhateverTheSpellingOfTheName) {
  ASSERT_TRUE(write("web/us{*} type=last"));
  EXPECT_TRUE(execute("create web/us{route:/x,code:200}"));
  EXPECT_TRUE(execute("define web name=us{route:/x,code:200} default=1 type=range on=1"));
  EXPECT_EQ(begin(), "name=us{code:200,route:%2Fx} on=1 type=last");
}

TEST_F(RulesTest, WhatAUserHasDefinedStaysWhenDefaultsComeLater) {
  ASSERT_TRUE(write("web/* on=1"));
  EXPECT_TRUE(execute("create web/a"));
  EXPECT_TRUE(execute("define web name=a type=range"));
  EXPECT_TRUE(execute("define web name=a default=1 type=list entries_max=5"));
  EXPECT_EQ(begin(), "name=a on=1 type=range");
  EXPECT_TRUE(execute("define web on=0"));
  EXPECT_TRUE(execute("define web name=a default=1 on=1"));
  EXPECT_EQ(begin(), "name=a on=0 type=range");
  // What the program does itself, later than at its beginning, is done.
  EXPECT_TRUE(execute("define web name=a on=1"));
  EXPECT_EQ(begin(), "name=a on=1 type=range");
}

TEST_F(RulesTest, DefaultsDefineWhatUsersHaveLeftToThem) {
  EXPECT_TRUE(execute("create web/a"));
  EXPECT_TRUE(execute("define web on=1"));
  EXPECT_TRUE(execute("define web name=a default=1 type=list entries_max=5 on=0"));
  EXPECT_EQ(begin(), "name=a on=1 type=list");
  send("web/a", 5);
  EXPECT_TRUE(execute("define web name=a default=1 type=list entries_max=5"));
  EXPECT_EQ(read("web", "data"), "a 5 1\n");
  EXPECT_TRUE(execute("define web name=a default=1 type=range"));
  EXPECT_EQ(begin(), "name=a on=1 type=range");
}

TEST_F(RulesTest, AViewOfARuleBeginsAsItsSourceDoesAlsoIfDefaultsComeLater) {
  ASSERT_TRUE(write("web/* view=slow range_min=1000"));
  EXPECT_TRUE(execute("create web/a"));
  EXPECT_TRUE(execute("create web/b"));
  const auto has = [&](std::string_view text) {
    return read("web", "definition").find(text) != std::string::npos;
  };
  EXPECT_TRUE(has("name=a_slow of=a on=1 type=value range_min=1000 "));
  EXPECT_TRUE(execute("define web name=a default=1 type=range on=1"));
  EXPECT_TRUE(has("name=a_slow of=a on=1 type=range range_min=1000 "));
  send("web/a", 2000);
  EXPECT_TRUE(execute("define web name=a default=1 type=range"));
  EXPECT_NE(read("web", "data").find("a_slow 1 2000 2000.000 2000\n"), std::string::npos);
  EXPECT_TRUE(execute("define web name=b_slow type=last"));
  EXPECT_TRUE(execute("define web name=b default=1 type=range"));
  EXPECT_TRUE(has("name=b_slow of=b on=1 type=last "));
}

TEST_F(RulesTest, OnlyApplyRedefinesAViewThatIsThere) {
  EXPECT_TRUE(execute("create web/a"));
  EXPECT_TRUE(execute("define web name=a_slow of=a range_min=7"));
  ASSERT_TRUE(write("web/a view=slow type=last"));
  EXPECT_TRUE(execute("define web name=a default=1 type=range"));
  EXPECT_NE(read("web", "definition").find("name=a_slow of=a on=1 type=value range_min=7 "),
            std::string::npos);
}

TEST_F(RulesTest, DefaultsAreForOneStatisticThatIsThere) {
  EXPECT_TRUE(execute("create web/a"));
  EXPECT_EQ(execute("define web default=1 on=1").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(execute("define web name=b default=1 on=1").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(execute("define web name=a default=1 type=list").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(execute("define web name=a default=1 type=raw entries_max=1048576", kBob).error().code,
            ErrorCode::kNotPermitted);
  EXPECT_EQ(begin(), "name=a on=0 type=value");
}

TEST_F(RulesTest, AreBounded) {
  for (std::size_t i = 0; i < Rules::kRulesBound; ++i) {
    ASSERT_TRUE(write("web/" + std::to_string(i) + " on=1"));
  }
  EXPECT_EQ(write("web/x on=1").error().code, ErrorCode::kNoSpace);
  open_to_replace();
  const std::string longest = "web/" + std::string(16'000, 'x') + " on=1";
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(write(longest));
  EXPECT_EQ(write(longest).error().code, ErrorCode::kNoSpace);
}

TEST_F(RulesTest, PatternsAreThoseOfTheShell) {
  const auto matches = [](std::string_view rule, const std::string& path) {
    return Rule::parse(rule).value().matches(path, FirstBytes::of(path));
  };
  EXPECT_TRUE(matches("web/a on=1", "web/a"));
  EXPECT_FALSE(matches("web/a on=1", "web/ab"));
  EXPECT_TRUE(matches("w?b/[ab]* on=1", "web/abc"));
  EXPECT_FALSE(matches("w*a/b on=1", "web/aa/b"));
  EXPECT_FALSE(matches("web/* on=1", "app/a"));
  EXPECT_TRUE(matches("web/\\* on=1", "web/*"));
  EXPECT_TRUE(matches("web/a{q:%2A} on=1", "web/a{q:*}"));
  EXPECT_FALSE(matches("web/a{q:%2A} on=1", "web/a{q:b}"));
}

// ---- views

TEST_F(RulesTest, AViewTakesNoSamplesAndHasNoNumber) {
  const auto number = execute("create web/a on=1").value().number;
  ASSERT_TRUE(execute("create web/v of=a type=last"));
  const Taken taken = send("web/v", 5);
  ASSERT_EQ(taken.rejected.size(), 1u);
  EXPECT_EQ(taken.rejected[0].error.code, ErrorCode::kExists);
  EXPECT_EQ(execute("attach web/v").error().code, ErrorCode::kExists);
  EXPECT_EQ(execute("create web/v").error().code, ErrorCode::kExists);
  EXPECT_EQ(execute("create web/v of=a").value().made, wire::Made::kWasThere);
  ASSERT_TRUE(send(number, 5));
  EXPECT_EQ(read("web", "data"), "a 1\nv [0.000000] 5\n");
  ASSERT_TRUE(execute("remove web/v"));
  EXPECT_EQ(read("web", "data"), "a 1\n");
  EXPECT_EQ(execute("remove web/v").error().code, ErrorCode::kNotFound);
}

TEST_F(RulesTest, ViewsTakeAnOwner) {
  ASSERT_TRUE(execute("create web/a on=1"));
  EXPECT_EQ(execute("create web/v of=a", kBob).error().code, ErrorCode::kNotPermitted);
  EXPECT_EQ(execute("create app/v of=a").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(execute("create tallyfs/v of=samples", 0).error().code, ErrorCode::kBusy);
}

TEST_F(RulesTest, InterfacesWithViewsAreSavedAndRemoved) {
  ASSERT_TRUE(execute("create web/a on=1"));
  ASSERT_TRUE(execute("create web/v of=a type=last"));
  send("web/a", 5);
  const std::string definition = read("web", "definition");
  const SavedObjects saved(statistics_);
  EXPECT_TRUE(statistics_.remove_interface("web", clock_.now()));
  ASSERT_TRUE(saved.load_into(statistics_, {.now = clock_.now()}));
  EXPECT_EQ(read("web", "definition"), definition);
  send("web/a", 6);
  EXPECT_EQ(read("web", "data"), "a 2\nv [0.000000] 6\n");
}

}  // namespace
}  // namespace tallyfs::statistics
