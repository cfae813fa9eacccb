// The text of rules: what is read, and what is refused, with line, place and the nearest word.
#include <gtest/gtest.h>

#include "feeders/log/rules/rules.h"

namespace tallyfs::logs {
namespace {

Rules parsed(const std::string& text, const RuleSettings& settings = {}) {
  auto rules = parse_rules(text, settings);
  EXPECT_TRUE(rules.has_value()) << (rules ? "" : to_text(rules.error()));
  return rules ? rules.value() : Rules();
}
std::string refused(const std::string& text, const RuleSettings& settings = {}) {
  const auto rules = parse_rules(text, settings);
  return rules ? "taken" : to_text(rules.error());
}

constexpr const char* kRules =
    "# app.rules\n"
    "match \"(?<method>[A-Z]+) (?<path>[^ ?\\\"]+)[^\\\"]*\\\" (?<status>\\d{3}) .* "
    "(?<seconds>[\\d.]+)$\n"
    "  sample nginx/latency{route:{path|route},status:{status}} = {seconds}   decimals=6 "
    "units=seconds/requests type=quantiles precision=5 quantiles=50,90,99\n"
    "  count  nginx/requests{status:{status}}\n"
    "  event  nginx/request path={path} us={seconds}*1000000\n"
    "match! ERROR\n"
    "\tcount  app/errors\n"
    "else\n"
    "  count  app/unmatched\n";

TEST(LogRulesTest, ReadsTheExampleOfThePage) {
  const Rules rules = parsed(kRules);
  ASSERT_EQ(rules.rules.size(), 2U);
  // Of four groups three are used, and the others capture nothing.
  EXPECT_EQ(rules.rules[0].expression,
            "\"(?:[A-Z]+) ([^ ?\\\"]+)[^\\\"]*\\\" (\\d{3}) .* ([\\d.]+)$");
  EXPECT_EQ(rules.rules[0].groups, 3U);
  ASSERT_EQ(rules.rules[0].actions.size(), 3U);
  const auto& latency = std::get<SampleAction>(rules.rules[0].actions[0]);
  EXPECT_EQ(latency.number_scale, 6U);
  EXPECT_EQ(latency.definition.decimals, 6U);
  EXPECT_EQ(latency.definition.units, "seconds/requests");
  EXPECT_TRUE(std::holds_alternative<tally::Quantiles>(latency.definition.type));
  EXPECT_TRUE(rules.rules[1].is_last);
  ASSERT_TRUE(rules.otherwise.has_value());
  ASSERT_EQ(rules.events.size(), 1U);
  EXPECT_FALSE(rules.events[0].fields[0].is_number);
  EXPECT_TRUE(rules.events[0].fields[1].is_number);
}

TEST(LogRulesTest, RewritesGroupsOutsideClassesAndEscapes) {
  const Rules rules =
      parsed("match [(?<a>]\\(?(?<b>x)(y)\\Q(?<c>\\E(?P<d>z)\n  sample a/{b} = {d}\n");
  EXPECT_EQ(rules.rules[0].expression, "[(?<a>]\\(?(x)(?:y)\\Q(?<c>\\E(z)");
}

TEST(LogRulesTest, SortsLabelsAndEscapesWhatTheyHave) {
  const Rules rules = parsed("match (?<s>x)\n  count a/b{z:{s},a:/x y,c:%2F}\n");
  const auto& labels = std::get<SampleAction>(rules.rules[0].actions[0]).name.labels;
  std::string text;
  for (const TemplatePart& part : labels) text += part.piece ? "?" : part.literal;
  EXPECT_EQ(text, "{a:%2Fx%20y,c:%2F,z:?}");
}

TEST(LogRulesTest, TakesBoundsAsDecimals) {
  const Rules rules = parsed(
      "match (?<s>x)\n  sample a/b = {s} type=range range_min=0.5 range_max=2 decimals=3 "
      "units=seconds/x\n");
  const auto& definition = std::get<SampleAction>(rules.rules[0].actions[0]).definition;
  EXPECT_EQ(std::get<tally::MinMax>(definition.type).range.min, 500);
  EXPECT_EQ(std::get<tally::MinMax>(definition.type).range.max, 2'000);
}

TEST(LogRulesTest, BeginsLog2OfTimesAndBytesAtZero) {
  const auto range_min = [](const std::string& units) {
    const Rules rules = parsed(
        "match (?<s>x)\n  sample a/b = {s} type=array scale=log2 base_interval=256 units=" + units +
        "\n");
    return std::get<tally::Array>(std::get<SampleAction>(rules.rules[0].actions[0]).definition.type)
        .range.min;
  };
  EXPECT_EQ(range_min("bytes/requests"), 0);
  EXPECT_EQ(range_min("degrees/requests"), STATISTIC_RANGE_MIN);
}

// Of a number in seconds: by which power of ten it is kept, and with which decimals and units.
TEST(LogRulesTest, KeepsDurationsAsUnitsSay) {
  const auto kept = [](const std::string& expression, const std::string& words) {
    const Rules rules = parsed("match (?<t>x)\n  sample a/b = " + expression + words + "\n");
    const auto& action = std::get<SampleAction>(rules.rules[0].actions[0]);
    return std::to_string(action.number_scale) + " " + std::to_string(action.definition.decimals) +
           " " + action.definition.units;
  };
  EXPECT_EQ(kept("{t|duration}", ""), "6 6 seconds/samples");
  EXPECT_EQ(kept("{t|duration}", " units=seconds/queries"), "6 6 seconds/queries");
  EXPECT_EQ(kept("{t|duration}", " units=ms/queries"), "3 0 milliseconds/queries");
  EXPECT_EQ(kept("{t|duration}", " units=nanoseconds"), "9 0 nanoseconds/samples");
  EXPECT_EQ(kept("{t|duration}", " units=seconds/queries decimals=0"), "0 0 seconds/queries");
  EXPECT_EQ(kept("{t|duration}", " units=laps/queries"), "0 0 laps/queries");
  EXPECT_EQ(kept("{t|duration}*1000", " units=milliseconds/queries"), "0 0 milliseconds/queries");
  EXPECT_EQ(kept("{t|duration}", " decimals=3 units=ms/queries"), "6 3 milliseconds/queries");
  EXPECT_EQ(kept("{t|bytes}", ""), "0 0 bytes/samples");
  EXPECT_EQ(kept("{t|bytes}", " decimals=2"), "2 2 bytes/samples");
  EXPECT_EQ(kept("{t}", ""), "0 0 ");
  EXPECT_EQ(kept("{t}", " decimals=4 units=euros/sales"), "4 4 euros/sales");
}

TEST(LogRulesTest, TakesBoundsOfDurationsInTheirUnits) {
  const auto range_max = [](const std::string& words) {
    const Rules rules =
        parsed("match (?<t>x)\n  sample a/b = {t|duration} type=range " + words + "\n");
    const auto& action = std::get<SampleAction>(rules.rules[0].actions[0]);
    return std::get<tally::MinMax>(action.definition.type).range.max;
  };
  EXPECT_EQ(range_max("range_max=1.5"), 1'500'000);
  EXPECT_EQ(range_max("range_max=1500 units=milliseconds/n"), 1'500);
  EXPECT_EQ(range_max("range_max=1.5 decimals=3 units=milliseconds/n"), 1'500);
}

struct Wrong {
  const char* text;
  const char* said;
};

// Each with the nearest word, or the way out.
constexpr Wrong kWrong[] = {
    {"mtach x\n", "line 1: there is no word 'mtach'; did you mean match\n  mtach x\n  ^"},
    {"match a\n  smaple a/b = 1\n",
     "line 2: there is no word 'smaple'; did you mean sample\n    smaple a/b = 1\n    ^"},
    {"match (?<=a)b\n  count a/b\n", "line 1: RE2 has no look-behind\n  match (?<=a)b\n        ^"},
    {"match x(?!b)\n", "line 1: RE2 has no look-ahead\n  match x(?!b)\n         ^"},
    {"match (a)\\1\n", "line 1: RE2 has no back-references\n  match (a)\\1\n           ^"},
    {"match a(b\n", "line 1: a ( has no )\n  match a(b\n         ^"},
    {"match (?<a>x))[)]\\)\n", "line 1: a ) has no (\n  match (?<a>x))[)]\\)\n               ^"},
    {"match x\n  sample a/b = 1 decimals=3\n  count a/b{c:d}\n",
     "line 3: samples of this name have decimals=3 already; take another name\n"
     "    count a/b{c:d}\n          ^"},
    {"match x\n  sample a/b = 1 units=milliseconds/x\n  sample a/b = 1 units=seconds/x\n",
     "line 3: samples of this name have units=milliseconds/x already; take another name\n"
     "    sample a/b = 1 units=seconds/x\n           ^"},
    {"match x\n  count a/b\n  sample a/b = 1 units=milliseconds/x\n",
     "line 3: samples of this name have no units already; take another name\n"
     "    sample a/b = 1 units=milliseconds/x\n           ^"},
    {"match (?<t>x)\n  sample a/b = {t|duration} units=milliseconds/x decimals=7\n",
     "line 2: a duration has at most 9 decimals of a second: decimals must be 0 to 6\n"
     "    sample a/b = {t|duration} units=milliseconds/x decimals=7\n"
     "                                                   ^"},
    {"match x\n  sample a/b = 1 decimals=10\n",
     "line 2: decimals must be 0 to 9\n    sample a/b = 1 decimals=10\n                   ^"},
    {"match (?<status>\\d+)\n  count a/b{s:{stauts}}\n",
     "line 2: the pattern has no group 'stauts'; did you mean status\n"
     "    count a/b{s:{stauts}}\n                 ^"},
    {"match (?<p>x)\n  count a/b{s:{p|rute}}\n",
     "line 2: there is no filter 'rute'; did you mean route\n"
     "    count a/b{s:{p|rute}}\n                   ^"},
    {"match (?<p>x)\n  sample a/b = {p} untis=x\n",
     "line 2: there is no key 'untis'; did you mean units?\n"
     "    sample a/b = {p} untis=x\n                     ^"},
    {"match (?<p>x)\n  sample a/b = {p} type=range base_interval=5\n",
     "line 2: base_interval is for type=array\n"
     "    sample a/b = {p} type=range base_interval=5\n                                ^"},
    {"match (?<p>x)\n  sample a/b = {p} mode=products\n",
     "line 2: mode= needs type=, as type=value\n"
     "    sample a/b = {p} mode=products\n                     ^"},
    {"match (?<t>x)\n  sample a/b = {t|duration} units=minutes/x\n",
     "line 2: |duration makes seconds: units=seconds/... or a part of them\n"
     "    sample a/b = {t|duration} units=minutes/x\n                              ^"},
    {"match (?<n>x)\n  sample a/b = {n|bytes} units=KiB/x\n",
     "line 2: |bytes makes bytes: units=bytes/...\n"
     "    sample a/b = {n|bytes} units=KiB/x\n                           ^"},
    {"match (?<p>x)\n  count a/b range_max=9\n",
     "line 2: range_max= needs type=\n    count a/b range_max=9\n              ^"},
    {"match (?<p>x)\n  sample a/b = {p} type=quantile\n",
     "line 2: type must be value, range, list, array, history, raw, quantiles or last; did you "
     "mean quantiles?\n"
     "    sample a/b = {p} type=quantile\n                     ^"},
    {"match (?<p>x)\n  event a/b us={p\n",
     "line 2: the piece has no } at its end\n    event a/b us={p\n                 ^"},
    {"match (?<p>x)\n  sample a/b = {p|duration\n",
     "line 2: the piece has no } at its end\n"
     "    sample a/b = {p|duration\n                 ^"},
    {"match (?<p>x)\n  sample a/b = {p} milliseconds\n",
     "line 2: 'milliseconds' is no key=value, and values have no blanks\n"
     "    sample a/b = {p} milliseconds\n                     ^"},
    {"match (?<p>x)\n  sample a/b = {p} decimals=3 units=s/x decimals=6\n",
     "line 2: decimals is given twice\n"
     "    sample a/b = {p} decimals=3 units=s/x decimals=6\n"
     "                                          ^"},
    {"match (?<p>x)\n  sample a/b {p}\n",
     "line 2: = and a number are needed, as in web/latency = {seconds}\n"
     "    sample a/b {p}\n               ^"},
    {"match (?<p>x)\n  count a/b = {p}\n",
     "line 2: count adds 1 for each line; sample has a number\n"
     "    count a/b = {p}\n              ^"},
    {"match x\n  count a/b/c\n",
     "line 2: a second / in a name is written %2F\n    count a/b/c\n             ^"},
    {"match x\n  count ab\n", "line 2: a name is INTERFACE/STATISTIC\n    count ab\n          ^"},
    {"match x\n  count a/b{c:d\n",
     "line 2: the labels have no } at their end\n    count a/b{c:d\n             ^"},
    {"match x\n  count a/b{.x}\n",
     "line 2: '.x' is a field of JSON or logfmt: `lines json` comes first\n"
     "    count a/b{.x}\n              ^"},
    {"match (?<x>.)\n  event a/b x={x}\n  event a/b y={x}\n",
     "line 3: this event has other fields further above\n    event a/b y={x}\n          ^"},
    {"  count a/b\n", "line 1: an action needs a line with match above it\n    count a/b\n    ^"},
    {"match x\nmatch y\n  count a/b\n", "line 2: the rule above has no action\n  match y\n  ^"},
    {"else\n  count a/b\nmatch x\n", "line 3: else is the last rule\n  match x\n        ^"},
    {"match (?<x>.)\n  sample a/b = {x}*0\n",
     "line 2: * is followed by a number other than 0\n    sample a/b = {x}*0\n                   "
     "  ^"},
    {"lines\nmatch x\n",
     "line 1: there is no word ''; there are text, json, logfmt\n  lines\n       ^"},
    {"# nothing\n", "there is no rule: match PATTERN"},
    {"time %Y\nmatch x\n  count a/b\n", "a time format needs a group (?<time>...) in a pattern"},
};

TEST(LogRulesTest, SaysWhereAndWhyItRefuses) {
  for (const Wrong& each : kWrong) EXPECT_EQ(refused(each.text), each.said) << each.text;
}

// Rules that are read again meet the samples that were added before.
TEST(LogRulesTest, RefusesAnotherScaleThanSamplesHave) {
  const std::string text = "match (?<p>x)\n  sample a/b{p:{p}} = {p} decimals=3\n";
  EXPECT_EQ(refused(text, {.scales = {{"a/b", {.decimals = 6}}}}).substr(0, 71),
            "line 2: samples of this name have decimals=6 already; take another name");
  EXPECT_EQ(refused(text, {.scales = {{"a/b", {.units = "thousandths/samples"}},
                                      {"a/c", {.decimals = 6}}}}),
            "taken");
  const NameScales milliseconds{{"a/b", {.units = "milliseconds/requests"}}};
  const std::string micro = "match x\n  sample a/b = 1 units=microseconds/requests\n";
  EXPECT_EQ(refused(micro, {.scales = milliseconds}).substr(0, 80),
            "line 2: samples of this name have units=milliseconds/requests already; take anot");
  const std::string queries = "match x\n  sample a/b = 1 units=milliseconds/queries\n";
  EXPECT_EQ(refused(queries, {.scales = milliseconds}), "taken");
  const std::string seconds = "match x\n  sample a/b = 1 decimals=3 units=seconds/queries\n";
  EXPECT_EQ(refused(seconds, {.scales = milliseconds}), "taken") << "the same scale";
  const std::string other = "match x\n  sample a/b = 1 decimals=6 units=seconds/queries\n";
  EXPECT_EQ(
      refused(other, {.scales = milliseconds}).substr(0, 86),
      "line 2: samples of this name have units=milliseconds/requests decimals=0 already; take");
}

// Where many rules share the memory, each has less.
TEST(LogRulesTest, RefusesPatternsThatNeedMoreMemoryThanIsTheirs) {
  const std::string large = "match (a|bc|[d-f]g){1000}\n  count a/large\n";
  EXPECT_EQ(refused(large), "taken");
  std::string many;
  for (int i = 0; i < 900; ++i) many += "match a" + std::to_string(i) + "\n  count a/b\n";
  EXPECT_EQ(refused(many + large).substr(0, 65),
            "line 1801: of 901 rules a pattern has at most 36 KiB of RE2's mem");
}

TEST(LogRulesTest, HasFieldsOfTheJournalOnlyWhereThereIsOne) {
  const std::string text = "match x\n  count a/b{u:{_SYSTEMD_UNIT}}\n";
  EXPECT_EQ(
      refused(text).substr(0, 86),
      "line 2: the pattern has no group '_SYSTEMD_UNIT'; fields of the journal need --journal");
  EXPECT_EQ(parsed(text, {.has_journal_fields = true}).fields,
            std::vector<std::string>{"_SYSTEMD_UNIT"});
}

TEST(LogRulesTest, HasBounds) {
  std::string text;
  for (int i = 0; i < 1'001; ++i) text += "match a" + std::to_string(i) + "\n  count a/b\n";
  EXPECT_EQ(refused(text).substr(0, 39), "line 2001: there are at most 1000 rules");
  EXPECT_NE(refused("match " + std::string(5'000, 'a') + "\n").find("at most 4096 bytes"),
            std::string::npos);
}

}  // namespace
}  // namespace tallyfs::logs
