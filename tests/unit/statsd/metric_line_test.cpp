#include "feeders/statsd/grammar/metric_line.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/statsd/plain_model.h"

namespace tallyfs::statsd {
namespace {

constexpr std::array<const char*, kKinds> kKindNames{"c", "g", "t", "h", "s"};
constexpr std::array<unsigned, kKinds> kKindScales{0, 3, 3, 6, 0};

// What the fast parser makes of a line, as the plain model says it.
std::optional<PlainMetric> fast_parse(const std::string& line) {
  Metric metric;
  if (parse_metric(line, metric)) return std::nullopt;
  PlainMetric plain{std::string(metric.name), std::string(metric.tags), {}};
  std::size_t at = 0;
  for (const Part& part : metric.parts) {
    const auto kind = static_cast<std::size_t>(part.kind);
    for (; at < part.values_end; ++at) {
      const Value& value = metric.values[at];
      PlainSample sample{kKindNames[kind], std::string(value.text)};
      if (part.kind != Kind::kSet) {
        const auto x = to_integer(value.number, kKindScales[kind]);
        if (!x || (part.kind == Kind::kTimer && x->value < 0)) return std::nullopt;
        sample.value = std::to_string(x->value);
        sample.y = part.kind == Kind::kGauge ? 1 : part.weight.whole;
      }
      plain.samples.push_back(sample);
    }
  }
  return plain;
}

std::string reason_of(const std::string& line) {
  Metric metric;
  const auto refused = parse_metric(line, metric);
  return refused ? std::string(name_of(refused->reason)) + "@" + std::to_string(refused->at)
                 : "taken";
}

TEST(StatsdLineTest, SaysWhyAndWhereALineIsRefused) {
  EXPECT_EQ(reason_of("a:1"), "format@2");
  EXPECT_EQ(reason_of("a"), "format@0");
  EXPECT_EQ(reason_of("a|c"), "format@1");
  EXPECT_EQ(reason_of(":1|c"), "format@0");
  EXPECT_EQ(reason_of("abc666|g"), "format@6");
  EXPECT_EQ(reason_of("c:server.requests,id=x:1"), "format@2");
  EXPECT_EQ(reason_of("a:|c"), "value@2");
  EXPECT_EQ(reason_of("a::|c"), "value@2");
  EXPECT_EQ(reason_of("a:1:x|c"), "value@4");
  EXPECT_EQ(reason_of("Foo::Bar.x:1|c"), "value@5");
  EXPECT_EQ(reason_of("a:1|"), "type@4");
  EXPECT_EQ(reason_of("a:1|C"), "type@4");
  EXPECT_EQ(reason_of("a:1|x"), "type@4");
  EXPECT_EQ(reason_of("a:1|c|@0"), "rate@7");
  EXPECT_EQ(reason_of("a:1|c|@1.5"), "rate@7");
  EXPECT_EQ(reason_of("a:1|c|#x|@abc"), "rate@10");
  EXPECT_EQ(reason_of("a:1|c|Tabc"), "timestamp@7");
  EXPECT_EQ(reason_of("a:1|c|T0"), "timestamp@7");
  EXPECT_EQ(reason_of("a:1|c|T1.5"), "timestamp@7");
}

TEST(StatsdLineTest, KeepsTheFields) {
  Metric metric;
  ASSERT_FALSE(parse_metric("a:1|c|#x:1|c:83c0a9|e:it-false|card:low|T1656581400", metric));
  EXPECT_EQ(metric.name, "a");
  EXPECT_EQ(metric.tags, "x:1");
  EXPECT_EQ(metric.container, "83c0a9");
  EXPECT_EQ(metric.seconds, 1656581400);
  EXPECT_TRUE(metric.is_from_datadog);
  ASSERT_FALSE(parse_metric("a:1|c||#x:1|#y:2|m:test", metric));
  EXPECT_EQ(metric.tags, "y:2");
  EXPECT_FALSE(metric.is_from_datadog);
  EXPECT_FALSE(metric.seconds);
}

TEST(StatsdLineTest, TakesPartsOfDifferentTypes) {
  const auto metric = fast_parse("load.time:320|ms:200:5|h|@0.1:x:y|s|@0.5");
  ASSERT_TRUE(metric);
  EXPECT_EQ(
      metric->samples,
      (std::vector<PlainSample>{
          {"t", "320000", 1}, {"h", "200000000", 10}, {"h", "5000000", 10}, {"s", "x:y", 1}}));
}

// Lines that are nearly right: pieces of the grammar in mostly sensible order.
std::string random_line(std::mt19937& random) {
  const auto one_of = [&](const std::vector<std::string>& texts) {
    return texts[random() % texts.size()];
  };
  const auto digits = [&](std::size_t most) {
    std::string text;
    for (std::size_t count = random() % (most + 1); count > 0; --count) {
      text += static_cast<char>('0' + random() % 10);
    }
    return text;
  };
  const auto number = [&] {
    std::string text = one_of({"", "", "", "-", "+"}) + digits(random() % 8 == 0 ? 25 : 5);
    if (random() % 3 == 0) text += "." + digits(random() % 8 == 0 ? 25 : 4);
    if (random() % 8 == 0) text += one_of({"e", "E"}) + one_of({"", "-", "+"}) + digits(2);
    return random() % 40 == 0 ? one_of({"nan", "0x1", "1 ", "", "5", "2.5", "0.0005"}) : text;
  };
  std::string line = one_of({"a", "page.views", "my metric", "", "a|b", "\xC3\xA9"});
  std::size_t parts = 1 + random() % 3;
  while (parts-- > 0) {
    for (std::size_t values = 1 + random() % 3; values > 0; --values) line += ":" + number();
    line += "|" + one_of({"c", "g", "ms", "h", "d", "s", "m", "kv", "c", "g", "x", ""});
    if (random() % 3 == 0)
      line += "|@" + one_of({"0.1", "0.3", "1", ".5", "0", "2", "1e-1", "1e-10", "x"});
  }
  for (std::size_t fields = random() % 3; fields > 0; --fields) {
    line += "|" + one_of({"#x:1,y", "@0.5", "T12", "T", "T0", "c:1", "e:x", "", "m:x", "#", "@"});
  }
  if (random() % 10 == 0) line.insert(random() % (line.size() + 1), 1, "|:@#\n0"[random() % 6]);
  return line;
}

TEST(StatsdLineTest, AgreesWithThePlainModelOnRandomLines) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::size_t taken = 0;
  for (int count = 0; count < 10'000; ++count) {
    const std::string line = random_line(random);
    const auto fast = fast_parse(line);
    const auto plain = plain_parse(line);
    // A set's weight is of no use; the model does not compute it.
    auto compared = fast;
    if (compared) {
      for (auto& sample : compared->samples) sample.y = sample.type == "s" ? 1 : sample.y;
    }
    ASSERT_EQ(compared.has_value(), plain.has_value()) << line;
    ASSERT_TRUE(compared == plain) << line;
    taken += plain ? 1 : 0;
  }
  EXPECT_GT(taken, 1'000u);
}

}  // namespace
}  // namespace tallyfs::statsd
