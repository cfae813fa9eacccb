// People's lines on the socket: each word of them means something, or the line is refused.
#include <array>
#include <map>
#include <random>
#include <vector>

#include "core/base/text.h"
#include "tests/unit/statistics_branch/statistics_stand.h"

namespace tallyfs {
namespace {

class StrictDoorTest : public StatisticsTest {
 protected:
  StrictDoorTest() : StatisticsTest({.errors = &log_}) {}

  // As a library's registration.
  Result<Done> register_line(std::string_view line) {
    auto parsed = wire::parse_line(line);
    auto& command = std::get<wire::CommandLine>(parsed.value());
    command.door = wire::Door::kProgram;
    return statistics_.execute(command, kAlice, clock_.now());
  }
  std::string warning(std::string_view line) {
    const auto done = execute(line);
    if (!done) return "refused: " + done.error().reason;
    return done.value().warning.empty() ? "no warning" : done.value().warning;
  }
  std::string refusal(std::string_view line) {
    const auto done = execute(line);
    return done ? "accepted" : std::to_string(done.error().token_at) + ": " + done.error().reason;
  }
  // As a line of the definition file, or of the rules.
  Result<void> write(NodeId directory, std::string_view file, std::string_view line) {
    const auto node = tree_.lookup(directory, file).value().id;
    return tree_.file(node).value()->write_line(line, clock_.now());
  }
  Result<void> write_rule(std::string_view line) { return write(Tree::kRoot, "rules", line); }
  Result<void> write_definition(std::string_view line) {
    const auto statistics = tree_.lookup(Tree::kRoot, "statistics").value().id;
    return write(tree_.lookup(statistics, "web").value().id, "definition", line);
  }
  std::string definition_names(const std::string& interface) {
    const std::string text = read(interface, "definition");
    std::string names;
    Tokens tokens(text);
    while (const auto token = tokens.next()) {
      if (token->text.starts_with("name=")) names.append(token->text.substr(5)).append(" ");
    }
    return names;
  }
  std::string logged() { return log_.render(clock_.now(), 1 << 16).value(); }

  ErrorLog log_{clock_.now()};
};

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
  EXPECT_EQ(refusal("define web name=us data=clear"), "19: data must be reset");
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
    EXPECT_TRUE(parsed.error().reason.ends_with(": a line is for one")) << parsed.error().reason;
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
  EXPECT_EQ(refusal("create web/l{a:1,a:2} on=1"), "17: the label a stands twice");
  EXPECT_EQ(refusal("define web name=l{a:1,a:2} on=1"), "11: the label a stands twice");
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

// ---- at random

// What web/us and its view are before each line.
constexpr std::array kFirst = {
    "create web/us on=1 type=history entries_max=7 mode=range "
    "period=1000000 range_min=2 range_max=900 units=us/requests",
    "create web/v of=us on=1 type=list entries_max=8"};
constexpr std::array kValid = {"define web/us range_min=3",
                               "define web name=us on=0",
                               "define web entries_max=9",
                               "create web/new type=range",
                               "create web/new on=1 type=array scale=lin base_interval=3 "
                               "range_min=0 range_max=99",
                               "create web/new type=quantiles precision=3 quantiles=50,99",
                               "create web/n of=us range_max=50",
                               "define web/w of=us on=0",
                               "define web/us type=last",
                               "define web/us mode=increments",
                               "define web/v type=raw entries_max=3",
                               "define web/v of=us on=0",
                               "define web name=us data=reset",
                               "define web/v of="};
constexpr std::array kKeys = {"name",      "of",        "on",          "data",          "type",
                              "range_min", "range_max", "entries_max", "base_interval", "scale",
                              "mode",      "period",    "precision",   "quantiles",     "units",
                              "help",      "base",      "undo",        "lifetime",      "default",
                              "hits",      "decimals"};
constexpr std::array kValues = {
    "",      "0",       "1",           "5",    "77",  "-4",   "reset",    "us",
    "v",     "range",   "value",       "list", "lin", "log2", "products", "quantiles",
    "10,95", "0.1,0.2", "us/requests", "ms",   "=",   "x",    "10",       "16"};

// A daemon for one line.
class Fresh : public StrictDoorTest {
 public:
  void TestBody() override {}
  // All that is there after the line; "": it was refused.
  std::string outcome(const std::string& line) {
    for (const char* const first : kFirst) EXPECT_TRUE(execute(first)) << first;
    send("web/us", 5);
    clock_.advance(std::chrono::milliseconds(1));
    const auto done = execute(line);
    return done ? read("web", "definition") + read("web", "data") : std::string();
  }
};

class RandomWords : public testing::Test {
 protected:
  template <typename List>
  std::string any(const List& list) {
    return list[std::uniform_int_distribution<std::size_t>(0, list.size() - 1)(random_)];
  }
  bool toss() { return std::uniform_int_distribution<int>(0, 1)(random_) != 0; }

  std::string word() {
    std::string text = any(kKeys);
    if (toss() && toss()) text[text.size() / 2] = 'q';
    if (toss() || toss()) text.append("=").append(any(kValues));
    return text;
  }
  // Behind one of the words after the target.
  std::string with_word(const std::string& line, const std::string& added) {
    std::vector<std::size_t> ends;
    Tokens tokens(line);
    while (const auto token = tokens.next()) ends.push_back(token->at + token->text.size());
    const std::size_t i = std::uniform_int_distribution<std::size_t>(1, ends.size() - 1)(random_);
    return std::string(line).insert(ends[i], " " + added);
  }
  std::mt19937_64 random_{4711};
};

// Whether the word says what the line or the definitions after it say anyway.
bool is_so(const std::string& line, const std::string& definitions, const std::string& word) {
  Tokens tokens(definitions);
  while (const auto token = tokens.next()) {
    if (token->text == word) return true;
  }
  const bool discards = definitions.find("data=[0.001000]") != std::string::npos;
  const bool is_target = word.starts_with("name=") && line.find("/" + word.substr(5)) != line.npos;
  // Lines of statistics without units end with empty ones, which leave them as they are.
  const bool is_empty = word == "units=" || word == "help=";
  const bool is_whole = word == "decimals=0" && definitions.find("decimals=") == std::string::npos;
  return is_target || is_empty || is_whole || (word == "data=reset" && discards) ||
         word == "default=1";
}

TEST_F(RandomWords, AreRefusedOrChangeTheOutcome) {
  std::size_t refused = 0;
  std::map<std::string, std::string> plain_outcomes;
  for (int i = 0; i < 10'000; ++i) {
    const std::string line = any(kValid);
    const std::string added = word();
    const std::string more = with_word(line, added);
    std::string& plain = plain_outcomes[line];
    if (plain.empty()) plain = Fresh().outcome(line);
    ASSERT_NE(plain, "") << line;
    const std::string changed = Fresh().outcome(more);
    if (changed.empty()) ++refused;
    EXPECT_TRUE(changed != plain || is_so(line, plain, added)) << line << "\n"
                                                               << more << "\n"
                                                               << plain;
  }
  EXPECT_GT(refused, 5000u);
  EXPECT_LT(refused, 10'000u);
}

}  // namespace
}  // namespace tallyfs
