// People's lines on the socket: each word of them means something, or the line is refused.
#include "tests/unit/statistics_branch/strict_door_fixture.h"

namespace tallyfs::statistics {
namespace {

TEST_F(StrictDoorTest, CreateAndDefineRefuseWhatNothingReads) {
  EXPECT_EQ(refusal("create web/us types=range"),
            "14: there is no key 'types'; did you mean type?");
  EXPECT_EQ(refusal("create web/us entries_max=5"),
            "14: entries_max is for type=list, history or raw");
  EXPECT_EQ(refusal("create web/us units=milli seconds"),
            "26: 'seconds' is no key=value, and values have no blanks");
  EXPECT_EQ(refusal("create web/us name=other"), "14: the line is for us");
  EXPECT_EQ(read("web", "data"), "(no interface)");
  ASSERT_TRUE(execute("create web/us on=1"));
  EXPECT_EQ(refusal("define web name=us data=clear"), "19: the only value of data is reset");
  EXPECT_EQ(refusal("define web name=us period=5"), "19: period is for type=history");
  EXPECT_EQ(refusal("define web name=us units=a=b"),
            "19: units must be at most 255 printable bytes without '=' and blanks, or - for none");
  EXPECT_EQ(refusal("define web/us"), "13: the command needs KEY=VALUE");
}

TEST_F(StrictDoorTest, RegistrationsOfLibrariesKeepTheToleranceWithAWarning) {
  const auto done = register_line("create web/us type=range foo=1 on=1");
  ASSERT_TRUE(done);
  EXPECT_EQ(done.value().warning, "there is no such key, and it was ignored");
  EXPECT_NE(logged().find("warning: there is no such key, and it was ignored\n"
                          "  Command: create web/us type=range foo=1 on=1\n"
                          "                                    ^\n"),
            std::string::npos)
      << logged();
}

TEST_F(StrictDoorTest, DefineTakesTheStatisticAsItsTarget) {
  ASSERT_TRUE(execute("create web/us on=1"));
  ASSERT_TRUE(execute("define web/us type=range"));
  EXPECT_TRUE(read("web", "definition").starts_with("name=us on=1 type=range "));
  ASSERT_TRUE(execute("define web/us name=us on=0"));
  EXPECT_EQ(refusal("define web/us name=other on=0"), "14: the line is for us");
  EXPECT_EQ(refusal("define web/us on=2"), "14: on must be 0 or 1");
  EXPECT_EQ(refusal("define web/other on=1"),
            "11: no statistic of that name here; it comes into being with: create web/other on=1");
  EXPECT_EQ(refusal("define web name=new type=range on=0"),
            "11: no statistic of that name here; it comes into being with: create web/new "
            "type=range on=0");
  for (const char* words :
       {"data=reset", "undo=1", "entries_max=5", "type=history", "on=1 data=reset"}) {
    EXPECT_EQ(refusal(std::string("define web/other ") + words),
              "11: no statistic of that name here");
  }
  EXPECT_EQ(refusal("define nix/us on=1"),
            "7: no such interface; it comes into being with: create nix/us");
}

TEST_F(StrictDoorTest, ADefinitionAsItIsPrintedWorksAtEachDoor) {
  ASSERT_TRUE(execute("create web/us on=1 type=list entries_max=9 units=us/requests"));
  std::string line = read("web", "definition");
  line.pop_back();
  EXPECT_EQ(warning("define web " + line), "no warning");
  EXPECT_EQ(warning("define web/us " + line), "no warning");
  EXPECT_EQ(warning("create web/us " + line), "no warning");
  ASSERT_TRUE(execute("remove web/us"));
  EXPECT_EQ(warning("create web/us " + line), "no warning");
}

TEST_F(StrictDoorTest, CreateOfWhatIsThereSaysWhatDiffers) {
  ASSERT_TRUE(execute("create web/us on=1 type=range range_min=0 units=us/requests"));
  for (const char* line : {"create web/us", "create web/us on=1", "create web/us type=range",
                           "create web/us on=1 type=range range_min=0 units=us/requests"}) {
    EXPECT_EQ(warning(line), "no warning") << line;
  }
  EXPECT_EQ(warning("create web/us type=value mode=products on=1"),
            "it exists with type=range and stays so; to change it: define web/us type=value "
            "mode=products on=1");
  EXPECT_NE(logged().find("warning: it exists with type=range"), std::string::npos);
  EXPECT_EQ(warning("create web/us range_min=5 on=0"),
            "it exists with range_min=0 on=1 and stays so; to change it: define web/us "
            "range_min=5 on=0");
  EXPECT_EQ(warning("create web/us units=ms/requests"),
            "it exists with units=us/requests and stays so; to change it: define web/us "
            "units=ms/requests");
  EXPECT_TRUE(read("web", "definition").starts_with("name=us on=1 type=range range_min=0 "));
  EXPECT_EQ(refusal("create web/us type=rnage"),
            "14: type must be value, range, list, array, history, raw, quantiles or last; did you "
            "mean range?");
}

TEST_F(StrictDoorTest, ALibraryIsNotWarnedOfWhatUsersAndRulesSay) {
  ASSERT_TRUE(execute("create web/us on=1 type=range"));
  const auto again = [&] {
    return register_line("create web/us type=value mode=increments on=1").value().warning;
  };
  EXPECT_TRUE(again().starts_with("it exists with type=range"));
  ASSERT_TRUE(execute("define web/us type=last"));
  EXPECT_EQ(again(), "");
}

TEST_F(StrictDoorTest, AnArrayWithoutABeginIsWarnedOfAtEachDoor) {
  const std::string open =
      "without range_min the intervals double from -9223372036854775808 on: add range_min=0";
  EXPECT_EQ(warning("create web/us type=array scale=log2 base_interval=1"), open);
  EXPECT_EQ(warning("create web/ok type=array scale=log2 base_interval=1 range_min=0"),
            "no warning");
  EXPECT_EQ(warning("define web/us type=array scale=log2 base_interval=2"), open);
}

TEST_F(StrictDoorTest, AnArrayOfTimesOrSizesBeginsAtZero) {
  const std::string words = " type=array scale=log2 base_interval=1 units=";
  const auto range_min = [&](const std::string& statistic) {
    const std::string text = read("web", "definition");
    const auto at = text.find("range_min=", text.find("name=" + statistic + " ")) + 10;
    return text.substr(at, text.find(' ', at) - at);
  };
  const std::string lowest = "-9223372036854775808";
  for (const char* units : {"ms/requests", "microseconds/requests", "bytes/requests", "bits/x"}) {
    EXPECT_EQ(warning("create web/us" + words + units), "no warning");
    EXPECT_EQ(range_min("us"), "0") << units;
    ASSERT_TRUE(execute("remove web/us"));
  }
  for (const char* units : {"degrees/samples", "percent/samples", "bytes", "-"}) {
    EXPECT_NE(warning("create web/us" + words + units), "no warning");
    EXPECT_EQ(range_min("us"), lowest) << units;
    ASSERT_TRUE(execute("remove web/us"));
  }
  ASSERT_TRUE(execute("create web/us units=ms/requests on=1"));
  EXPECT_EQ(warning("define web/us type=array scale=log2 base_interval=1"), "no warning");
  EXPECT_EQ(range_min("us"), "0");
  ASSERT_TRUE(register_line("create web/lib" + words + "ms/requests"));
  EXPECT_EQ(range_min("lib"), lowest);
  ASSERT_TRUE(write_definition("name=lib" + words + "ms/requests"));
  EXPECT_EQ(range_min("lib"), lowest);
  ASSERT_TRUE(execute("define web/lib on=0" + words + "ms/requests"));
  EXPECT_EQ(range_min("lib"), lowest);
  EXPECT_EQ(warning("create web/lib" + words + "ms/requests"), "no warning");
  EXPECT_EQ(warning("create web/said range_min=-5" + words + "ms/requests"), "no warning");
  EXPECT_EQ(range_min("said"), "-5");
  ASSERT_TRUE(write_rule("web/r* type=array scale=log2 base_interval=1"));
  ASSERT_TRUE(register_line("create web/ruled units=ms/requests on=1"));
  EXPECT_EQ(range_min("ruled"), "0");
  EXPECT_EQ(logged().find("range_min=0\n  Command: name=ruled"), std::string::npos) << logged();
}

TEST_F(StrictDoorTest, ALineForOneRefusesASecond) {
  ASSERT_TRUE(execute("create web/a on=1"));
  ASSERT_TRUE(execute("create web/b on=1"));
  for (const char* line : {"remove web/a web/b", "attach web/a junk", "withdraw tx junk",
                           "event remove app/r2 app/r3"}) {
    const auto parsed = wire::parse_line(line);
    ASSERT_FALSE(parsed) << line;
    EXPECT_TRUE(parsed.error().reason().ends_with(": a line is for one"))
        << parsed.error().reason();
    EXPECT_EQ(parsed.error().token_at, std::string_view(line).rfind(' ') + 1);
  }
}

TEST_F(StrictDoorTest, ADefaultThatChangesNothingIsTold) {
  ASSERT_TRUE(execute("create web/a on=1"));
  EXPECT_EQ(warning("define web/a default=1 type=range"), "no warning");
  ASSERT_TRUE(execute("define web/a type=last"));
  EXPECT_EQ(warning("define web/a default=1 type=range"),
            "a default changes nothing that was defined since: type=last stays; without default=1 "
            "it does");
  EXPECT_EQ(warning("define web/a default=1 type=last"), "no warning");
  ASSERT_TRUE(execute("create web/us{b:1,a:/x} type=last on=1"));
  ASSERT_TRUE(execute("define web/us{b:1,a:/x} type=last"));
  EXPECT_NE(warning("define web name=us{b:1,a:/x} default=1 type=range"), "no warning");
}

TEST_F(StrictDoorTest, ALineMayHaveTheNameWithItsInterface) {
  ASSERT_TRUE(execute("create web/us on=1"));
  ASSERT_TRUE(execute("create web/b on=1"));
  ASSERT_TRUE(execute("create web/l{q:a%20b,route:%2Fx} on=1"));
  for (const char* line : {"web/us on=0", "strict=1 web/us on=0", " web/us\ton=0 strict=1",
                           "name=web/us on=0", "on=0 name=web/us", "strict=1 name=web/us on=0"}) {
    ASSERT_TRUE(write_definition("on=1"));
    ASSERT_TRUE(write_definition(line)) << line;
    const std::string text = read("web", "definition");
    EXPECT_NE(text.find("name=us on=0 "), std::string::npos) << line;
    EXPECT_NE(text.find("name=b on=1 "), std::string::npos) << line;
  }
  for (const char* line : {"define web name=web/us on=1", "define web/us name=web/us on=1",
                           "create web/us name=web/us on=1"}) {
    EXPECT_EQ(refusal(line), "accepted") << line;
  }
  for (const char* line : {"web/l{route:/x,q:\"a b\"} on=0", "name=web/l{route:/x,q:a b} on=0"}) {
    ASSERT_TRUE(write_definition("on=1"));
    ASSERT_TRUE(write_definition(line)) << line;
    EXPECT_NE(read("web", "definition").find("%2Fx} on=0 "), std::string::npos) << line;
  }
}

TEST_F(StrictDoorTest, ANameOfAnotherInterfaceIsRefusedWithItsPlace) {
  ASSERT_TRUE(execute("create web/us on=1"));
  ASSERT_TRUE(execute("create db/us on=1"));
  const std::string before = read("web", "definition") + read("db", "definition");
  const std::string of_db =
      "this line is for web: write it to statistics/db/definition, or send: define db/us KEY=VALUE";
  EXPECT_EQ(refusal_in_file("db/us on=0"), "0: " + of_db);
  EXPECT_EQ(refusal_in_file("on=0 name=db/us"), "5: " + of_db);
  EXPECT_EQ(refusal_in_file("strict=1 db/us on=0"), "0: " + of_db);
  EXPECT_EQ(refusal("define web on=0 name=db/us"), "16: " + of_db);
  EXPECT_EQ(refusal("define web/us name=db/us on=0"), "14: " + of_db);
  EXPECT_EQ(refusal("create web/us name=db/us"), "14: " + of_db);
  EXPECT_EQ(refusal("define web/us web/us on=0"),
            "14: 'web/us' is no key=value, and values have no blanks");
  EXPECT_EQ(read("web", "definition") + read("db", "definition"), before);
}

TEST_F(StrictDoorTest, WhatIsWrongBehindSuchANameHasItsPlace) {
  ASSERT_TRUE(execute("create web/us on=1"));
  EXPECT_EQ(refusal_in_file("web/us on=2"), "7: on must be 0 or 1");
  EXPECT_EQ(refusal_in_file("name=web/us on=2"), "12: on must be 0 or 1");
  EXPECT_EQ(refusal_in_file("strict=1 web/us types=range"),
            "7: there is no key 'types'; did you mean type?");
  EXPECT_EQ(refusal("define web name=web/us on=2"), "23: on must be 0 or 1");
  EXPECT_EQ(refusal("define web/us name=web/us on=2"), "26: on must be 0 or 1");
  EXPECT_EQ(refusal_in_file("web/nope on=1"),
            "0: no statistic of that name here; it comes into being with: create web/nope on=1");
  EXPECT_EQ(refusal_in_file("strict=1 web/us name=us on=1"),
            "0: 'web/us' is no key=value, and values have no blanks");
  EXPECT_EQ(refusal_in_file("on=1 web/us"),
            "5: no key=value, 'web/us': a line without name= is for all statistics");
  EXPECT_EQ(refusal_in_file("name=v of=web/us"),
            "7: of must be a statistic of the same interface, by its name alone");
  EXPECT_EQ(remark_in_file("web/us entries_max=5 on=1"),
            "7: entries_max is for other types, and it was ignored");
}

TEST_F(StrictDoorTest, AViewHasEachOfItsWords) {
  ASSERT_TRUE(execute("create web/us on=1"));
  EXPECT_EQ(refusal("create web/v of=us entries_max=5"),
            "19: entries_max is for type=list, history or raw");
  ASSERT_TRUE(execute("create web/v of=us type=range"));
  EXPECT_EQ(warning("create web/v of=us type=last"),
            "it exists with type=range and stays so; to change it: define web/v type=last");
  EXPECT_EQ(refusal("define web/v of= on=1"),
            "13: of= removes the view: no other key goes with it");
  EXPECT_TRUE(execute("define web/v of="));
}

TEST_F(StrictDoorTest, ASecondSlashIsNamed) {
  EXPECT_EQ(refusal("create web/a/b"), "12: a name has one '/': write %2F for others");
}

TEST_F(StrictDoorTest, LabelsHaveOneSpelling) {
  EXPECT_EQ(refusal("create web/l{route:/x,a:1} on=1"), "accepted");
  EXPECT_EQ(refusal("create web/l{a:1,route:%2Fx} on=1 name=l{route:/x,a:1}"), "accepted");
  EXPECT_EQ(refusal("define web/l{route:/x,a:1} units=s"), "accepted");
  EXPECT_EQ(refusal("define web name=l{route:/x,a:1} units=s/samples"), "accepted");
  EXPECT_EQ(refusal("create web/l{a:1"), "12: this { has no }");
  EXPECT_EQ(refusal("create web/l{a:1,a:2} on=1"), "17: the label a is given twice");
  EXPECT_EQ(refusal("define web name=l{a:1,a:2} on=1"), "11: the label a is given twice");
  EXPECT_EQ(definition_names("web"), "l{a:1,route:%2Fx} ");
}

TEST_F(StrictDoorTest, AProgramsNameThatNoLabelsHaveStaysItsName) {
  ASSERT_TRUE(register_line("create web/l{tag:1,tag:2} type=range on=1"));
  ASSERT_TRUE(register_line("create web/l{open type=range on=1"));
  EXPECT_EQ(refusal("define web/l{tag:1,tag:2} on=0"), "accepted");
  EXPECT_EQ(refusal("remove web/l{open"), "accepted");
  EXPECT_EQ(definition_names("web"), "l{tag:1,tag:2} ");
}

TEST_F(StrictDoorTest, WhatASenderWritesForgesNoEntry) {
  ASSERT_TRUE(execute("create web/us on=1 type=range"));
  const std::string said = warning("create web/us type=value mode=increments on=1 units=\x1b");
  EXPECT_EQ(said.find('\x1b'), said.npos) << said;
  EXPECT_EQ(refusal("create web/us na\x1bme=1").find('\x1b'), said.npos);
  EXPECT_EQ(refusal("define w\x1b/us on=1").find('\x1b'), said.npos);
  EXPECT_EQ(refusal("create web/a\x1b name=b").find('\x1b'), said.npos);
}

}  // namespace
}  // namespace tallyfs::statistics
