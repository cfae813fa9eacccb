#include "core/base/padded_name.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/base/keyed_hash.h"

namespace tallyfs {
namespace {

TEST(PaddedNameTest, DiffersInEachByteAndInLength) {
  const std::string name(PaddedName::kBytes, 'n');
  for (std::size_t i = 0; i < name.size(); ++i) {
    EXPECT_EQ(PaddedName::of(name.substr(0, i)), PaddedName::of(name.substr(0, i)));
    EXPECT_FALSE(PaddedName::of(name.substr(0, i)) == PaddedName::of(name.substr(0, i + 1)));
    std::string other = name;
    other[i] = 'm';
    EXPECT_FALSE(PaddedName::of(name) == PaddedName::of(other));
  }
}

TEST(PaddedNameTest, OneThatDoesNotFitIsLikeNoOther) {
  const std::string name(PaddedName::kBytes + 1, 'n');
  EXPECT_FALSE(PaddedName::fits(name));
  EXPECT_FALSE(PaddedName::of(name) == PaddedName::of(name.substr(1)));
}

TEST(PaddedHashTest, NamesOfAllLengthsFallIntoManyPlaces) {
  std::set<std::uint64_t> places;
  std::set<std::uint64_t> hashes;
  constexpr int kNames = 10'000;
  for (int i = 0; i < kNames; ++i) {
    const std::uint64_t hash =
        PaddedHash()(std::string(static_cast<std::size_t>(i % 40), 'n') + "/" + std::to_string(i));
    hashes.insert(hash);
    places.insert(hash & 0xFFFF);
  }
  EXPECT_EQ(hashes.size(), static_cast<std::size_t>(kNames));
  // Of 65,536 places, 10,000 random names fall into 9,273 on average.
  EXPECT_GT(places.size(), 8500u);
}

}  // namespace
}  // namespace tallyfs
