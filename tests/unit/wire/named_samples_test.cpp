// Names of a batch, known again by their bytes.
#include "core/wire/named_samples.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "tests/unit/random.h"

namespace tallyfs {
namespace {

TEST(NamedSamplesTest, HasANameOnceThatComesAgain) {
  NamedSamples samples;
  for (int i = 0; i < 10; ++i) samples.push(i % 2 == 0 ? "web/a" : "web/b", {.x = i});
  ASSERT_EQ(samples.names().size(), 2u);
  EXPECT_EQ(samples.names()[0].path, "web/a");
  EXPECT_EQ(samples.names()[1].samples, 5u);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(samples.path(i), i % 2 == 0 ? "web/a" : "web/b");
    EXPECT_EQ(samples.names()[samples.name_of(i)].hash, PaddedHash()(samples.path(i)));
  }
}

TEST(NamedSamplesTest, FindsNothingOfTheBatchBefore) {
  NamedSamples samples;
  const PaddedName name = PaddedName::of("web/a");
  samples.push("web/b", {});
  samples.push("web/a", {});
  EXPECT_EQ(samples.find(name), 1u);
  samples.clear();
  EXPECT_EQ(samples.find(name), NamedSamples::kUnknown);
  for (const char* const path : {"web/c", "web/d"}) samples.push(path, {});
  EXPECT_EQ(samples.find(name), NamedSamples::kUnknown);
  EXPECT_EQ(samples.names().size(), 2u);
}

TEST(NamedSamplesTest, TakesNoNameForAnother) {
  // The second is the first with words exchanged, which have one home in its table.
  const std::string one = "aaaaaaa/bbbbbbbbcccccccc";
  const std::string other = "ccccccccbbbbbbbbaaaaaaa/";
  const std::string long_one(40, 'a');
  const std::string long_other(41, 'a');
  NamedSamples samples;
  for (int i = 0; i < 3; ++i) {
    for (const std::string* const path : {&one, &other, &long_one, &long_other}) {
      samples.push(*path, {.x = i});
    }
  }
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto& name = samples.names()[samples.name_of(i)];
    EXPECT_EQ(name.path, samples.path(i));
    EXPECT_EQ(samples.path(i).size(), (std::array{24u, 24u, 40u, 41u})[i % 4]);
  }
}

TEST(NamedSamplesTest, TakesNoNameForOneWithAZeroBehindIt) {
  const std::string_view with_zero("web/a\0", 6);
  NamedSamples samples;
  for (const std::string_view path : {with_zero, std::string_view("web/a"), with_zero}) {
    samples.push(path, {});
  }
  EXPECT_EQ(samples.path(0), with_zero);
  EXPECT_EQ(samples.path(1), "web/a");
  EXPECT_EQ(samples.path(2), with_zero);
  EXPECT_NE(samples.name_of(0), samples.name_of(1));
}

// After batches of which no name came again none is looked for, but for one batch in a while.
TEST(NamedSamplesTest, HasRightNamesWhateverCameBefore) {
  Random random;
  SCOPED_TRACE(random.seed());
  std::vector<std::string> paths;
  for (int i = 0; i < 2000; ++i) paths.push_back("web/" + std::to_string(i));
  NamedSamples samples;
  bool has_once = false;
  for (int batch = 0; batch < 400; ++batch) {
    const std::uint64_t size = random.below(NamedSamples::kCapacity + 1);
    const std::uint64_t names = batch / 40 % 2 == 0 ? 8 : paths.size();
    for (std::uint64_t i = 0; i < size; ++i) {
      const std::string& path = paths[random.below(names)];
      samples.push(path, {.x = static_cast<std::int64_t>(i)});
      ASSERT_EQ(samples.path(i).data(), path.data());
      const auto& name = samples.names()[samples.name_of(i)];
      ASSERT_EQ(name.path, path);
      ASSERT_EQ(name.padded, PaddedName::of(path));
      ASSERT_EQ(name.hash, PaddedHash()(path));
    }
    std::size_t all = 0;
    for (const auto& each : samples.names()) all += each.samples;
    ASSERT_EQ(all, size);
    has_once |= size > 100 && samples.names().size() <= 8;
    samples.clear();
  }
  EXPECT_TRUE(has_once);
}

}  // namespace
}  // namespace tallyfs
