// Random words in valid lines, at each door where a word that nothing reads refuses the line: each
// is refused, and then nothing has changed, or it changes the outcome.
#include <array>
#include <chrono>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tests/unit/statistics_branch/strict_door_fixture.h"

namespace tallyfs::statistics {
namespace {

// What web/us and its view are before each line.
constexpr std::array kFirst = {
    "create web/us on=1 type=history entries_max=7 mode=range "
    "period=1000000 range_min=2 range_max=900 units=us/requests",
    "create web/v of=us on=1 type=list entries_max=8"};
constexpr std::array kSent = {"define web/us range_min=3",
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
constexpr std::array kWritten = {"strict=1 name=us range_min=3",
                                 "strict=1 web/us on=0",
                                 "strict=1 name=web/us type=last",
                                 "strict=1 entries_max=9",
                                 "strict=1 on=0",
                                 "strict=1 name=us mode=increments",
                                 "strict=1 name=w of=us on=0",
                                 "strict=1 web/v type=raw entries_max=3",
                                 "strict=1 name=us data=reset",
                                 "strict=1 name=v of="};
// One of each type that a rule without a type may be for.
constexpr std::array kRuled = {
    "create web/us on=1 type=range",
    "create web/n on=1 type=value mode=increments",
    "create web/l on=1 type=list entries_max=8 base=10",
    "create web/h on=1 type=history entries_max=7 mode=range period=1000000",
    "create web/a on=1 type=array scale=lin base_interval=3 range_min=0 range_max=99",
    "create web/q on=1 type=quantiles precision=3 quantiles=50,99"};
constexpr std::array kRules = {"web/* range_min=3",
                               "web/* on=0",
                               "web/? units=ms/requests",
                               "web/us type=last",
                               "web/n type=value mode=products",
                               "web/l type=raw entries_max=3",
                               "*/l type=list entries_max=9",
                               "web/a type=quantiles precision=2 quantiles=90",
                               "web/* view=p",
                               "web/us view=p type=value mode=increments"};
constexpr std::array kKeys = {"name",      "of",        "on",          "data",          "type",
                              "range_min", "range_max", "entries_max", "base_interval", "scale",
                              "mode",      "period",    "precision",   "quantiles",     "units",
                              "help",      "base",      "undo",        "lifetime",      "default",
                              "hits",      "decimals",  "view",        "feed"};
constexpr std::array kValues = {
    "",      "0",       "1",           "5",    "77",  "-4",   "reset",    "us",
    "v",     "range",   "value",       "list", "lin", "log2", "products", "quantiles",
    "10,95", "0.1,0.2", "us/requests", "ms",   "=",   "x",    "10",       "16"};

// A daemon for one line. Each function returns all that is there after the line; "": it was
// refused.
class Fresh : public StrictDoorTest {
 public:
  void TestBody() override {}

  std::string after_sending(const std::string& line) {
    begin();
    const std::string before = state();
    const bool is_done = execute(line).has_value();
    return outcome(line, before, is_done);
  }
  std::string after_writing(const std::string& line) {
    begin();
    const std::string before = state();
    const bool is_done = write_definition(line).has_value();
    return outcome(line, before, is_done);
  }
  // Of what comes into being after it, and was there when all rules were applied.
  std::string after_ruling(const std::string& line) {
    EXPECT_TRUE(write_rule("db/* on=1"));
    const std::string before = state();
    const bool is_done = write_rule(line).has_value();
    if (!is_done) return outcome(line, before, is_done);
    for (const char* const each : kRuled) EXPECT_TRUE(register_line(each)) << each;
    send("web/us", 5);
    clock_.advance(std::chrono::milliseconds(1));
    EXPECT_TRUE(write_rule("apply"));
    return read("web", "definition") + read("web", "data");
  }

 private:
  void begin() {
    for (const char* const first : kFirst) EXPECT_TRUE(execute(first)) << first;
    send("web/us", 5);
    clock_.advance(std::chrono::milliseconds(1));
  }
  std::string state() {
    const auto rules = tree_.file(tree_.lookup(Tree::kRoot, "rules").value().id).value();
    return read("web", "definition") + read("web", "data") +
           rules->render(clock_.now(), 1 << 16).value();
  }
  std::string outcome(const std::string& line, const std::string& before, bool is_done) {
    if (is_done) return state();
    EXPECT_EQ(state(), before) << line;
    return "";
  }
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

class RandomWords : public testing::Test {
 protected:
  using After = std::string (Fresh::*)(const std::string& line);

  void check(After after, std::span<const char* const> lines, int count) {
    int refused = 0;
    std::map<std::string, std::string> plain_outcomes;
    for (int i = 0; i < count; ++i) {
      const std::string line = any(lines);
      const std::string added = word();
      const std::string more = with_word(line, added);
      std::string& plain = plain_outcomes[line];
      if (plain.empty()) plain = (Fresh().*after)(line);
      ASSERT_NE(plain, "") << line;
      const std::string changed = (Fresh().*after)(more);
      if (changed.empty()) ++refused;
      EXPECT_TRUE(changed != plain || is_so(line, plain, added)) << line << "\n"
                                                                 << more << "\n"
                                                                 << plain;
    }
    EXPECT_GT(refused, count / 2);
    EXPECT_LT(refused, count);
  }

 private:
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

TEST_F(RandomWords, InCommandsAreRefusedOrChangeTheOutcome) {
  check(&Fresh::after_sending, kSent, 10'000);
}

TEST_F(RandomWords, InStrictLinesOfTheFileAreRefusedOrChangeTheOutcome) {
  check(&Fresh::after_writing, kWritten, 10'000);
}

TEST_F(RandomWords, InRulesAreRefusedOrChangeTheOutcome) {
  check(&Fresh::after_ruling, kRules, 10'000);
}

}  // namespace
}  // namespace tallyfs::statistics
