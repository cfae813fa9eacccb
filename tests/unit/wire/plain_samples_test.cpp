// Plain samples, many at a time, beside the slow way: line by line by the whole grammar.
#include "core/wire/plain_samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "core/wire/line.h"
#include "tests/unit/random.h"

namespace tallyfs::wire {
namespace {

using Read = std::tuple<std::string, std::int64_t, std::uint64_t>;
constexpr std::chrono::nanoseconds kTime{77};

std::size_t line_bytes(std::string_view text) {
  return std::min(std::min(text.find('\n'), text.size()) + 1, text.size());
}

void read_line(std::string_view line, std::vector<Read>& all) {
  const auto parsed = parse_line(line.substr(0, line.find('\n')));
  if (!parsed) return;
  if (const auto* const sample = std::get_if<SampleLine>(&parsed.value())) {
    all.emplace_back(sample->path, sample->x, sample->y);
  }
}

std::vector<Read> read_slowly(std::string_view text) {
  std::vector<Read> all;
  for (; !text.empty(); text.remove_prefix(line_bytes(text))) read_line(text, all);
  return all;
}

void move_to(std::vector<Read>& all, NamedSamples& samples) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const NamedSamples::Name& name = samples.names()[samples.name_of(i)];
    EXPECT_EQ(name.padded, PaddedName::of(samples.path(i)));
    EXPECT_EQ(name.hash, PaddedHash()(samples.path(i)));
    EXPECT_EQ(samples.sample(i).time, kTime);
    all.emplace_back(samples.path(i), samples.sample(i).x, samples.sample(i).y);
  }
  samples.clear();
}

// As the dispatcher does: lines that are not plain go to the whole grammar.
std::vector<Read> read_at_once(const std::string& text, std::size_t* others = nullptr) {
  // On the heap and to the byte, so that a sanitizer sees reads beyond the ends.
  const std::vector<char> bytes(text.begin(), text.end());
  std::string_view left(bytes.data(), bytes.size());
  std::vector<Read> all;
  NamedSamples samples;
  PlainSamples plain;
  plain.begin(left);
  while (!left.empty()) {
    const std::size_t taken = plain.take(left, kTime, samples);
    EXPECT_EQ(taken == 0, samples.empty());
    left.remove_prefix(taken);
    const bool was_full = samples.full();
    move_to(all, samples);
    if (was_full || left.empty()) continue;
    read_line(left, all);
    left.remove_prefix(line_bytes(left));
    if (others) *others += 1;
  }
  return all;
}

std::string random_number(Random& random) {
  std::string number = random.below(4) == 0 ? "-" : "";
  const std::uint64_t digits = random.below(16) == 0 ? 1 + random.below(20) : 1 + random.below(6);
  for (std::uint64_t i = 0; i < digits; ++i) number += static_cast<char>('0' + random.below(10));
  return number;
}

std::string random_path(Random& random) {
  const std::string_view letters = "abcxyz_019.|\xC3\xA9";
  std::string path;
  const std::uint64_t bytes = 1 + random.below(random.below(8) == 0 ? 60 : 20);
  for (std::uint64_t i = 0; i < bytes; ++i) {
    path += random.below(200) == 0 ? '|' : letters[random.below(letters.size() - 3)];
  }
  path.insert(random.below(path.size() + 1), random.below(30) == 0 ? "" : "/");
  return path;
}

std::string random_line(Random& random) {
  switch (random.below(40)) {
    case 0:
      return "create " + random_path(random) + " type=value";
    case 1:
      return random_path(random) + "  " + random_number(random);
    case 2:
      return random_path(random) + " " + random_number(random) + "\r";
    case 3:
      return random_path(random) + " " + random_number(random) + " " + random_number(random);
    case 4:
      return std::string(random.below(100), ' ');
    case 5:
      return random_path(random) + " " + random_number(random) + "x";
    case 6:
      return "remove 5";
    case 7:
      return random_path(random) + "\t" + random_number(random);
    default:
      return random_path(random) + " " + random_number(random);
  }
}

TEST(PlainSamplesTest, ReadsRandomTextsAsTheWholeGrammarDoes) {
  Random random;
  SCOPED_TRACE(random.seed());
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    const std::uint64_t lines = random.below(i % 10 == 0 ? 700 : 12);
    for (std::uint64_t k = 0; k < lines; ++k) text += random_line(random) + "\n";
    if (!text.empty() && random.below(2) == 0) text.pop_back();
    ASSERT_EQ(read_at_once(text), read_slowly(text)) << text;
  }
}

TEST(PlainSamplesTest, ReadsRandomBytesAsTheWholeGrammarDoes) {
  Random random;
  SCOPED_TRACE(random.seed());
  const std::string_view alphabet = "ab/ 01\n-|\t";
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (std::uint64_t k = random.below(200); k != 0; --k) {
      text += alphabet[random.below(alphabet.size())];
    }
    ASSERT_EQ(read_at_once(text), read_slowly(text)) << text;
  }
}

TEST(PlainSamplesTest, TakesAllLinesOfAFullDatagramForPlain) {
  std::string text;
  std::vector<Read> wanted;
  for (int i = 0; text.size() < 60'000; ++i) {
    const std::string path = "web" + std::to_string(i % 7) + "/latency_" + std::to_string(i % 1000);
    const std::int64_t x = (i % 3 == 0 ? -1 : 1) * (i * 7919 % 100'000'000);
    text += path + " " + std::to_string(x) + "\n";
    wanted.emplace_back(path, x, 1);
  }
  std::size_t others = 0;
  EXPECT_EQ(read_at_once(text, &others), wanted);
  EXPECT_EQ(others, 0u);
}

// Of the last lines there is not as much in the text as is read of a line at once.
TEST(PlainSamplesTest, ReadsTextsOfEachLengthToTheirLastByte) {
  std::string all;
  for (int i = 0; all.size() < 2200; ++i) {
    const std::string path = "w/" + std::string(1 + static_cast<std::size_t>(i % 31), 'n');
    all += path + (i % 3 == 0 ? " -" : " ") + std::to_string(i * 7919 % 100'000'000) + "\n";
  }
  for (std::size_t bytes = 0; bytes <= all.size(); ++bytes) {
    if (bytes == 300) bytes = 1950;  // up to the end of what is looked at at once
    const std::string text = all.substr(all.size() - bytes);
    ASSERT_EQ(read_at_once(text), read_slowly(text)) << text;
    const std::string cut = all.substr(0, bytes);
    ASSERT_EQ(read_at_once(cut), read_slowly(cut)) << cut;
  }
}

TEST(PlainSamplesTest, KnowsNothingOfTheTextBefore) {
  NamedSamples samples;
  PlainSamples plain;
  const std::string first(3000, ' ');
  plain.begin(first);
  EXPECT_EQ(plain.take(first, kTime, samples), 0u);
  const std::string second = "web/hits 1\nweb/hits 2\nweb/hits 3\nweb/hits 4";
  plain.begin(second);
  EXPECT_EQ(plain.take(second, kTime, samples), second.size());
  EXPECT_EQ(samples.size(), 4u);
}

}  // namespace
}  // namespace tallyfs::wire
