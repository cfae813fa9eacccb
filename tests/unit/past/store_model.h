// A store that a test writes, with a model of what it wrote, second by second.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/past/second.h"
#include "tests/unit/random.h"
#include "tools/past/store_writer.h"

namespace tallyfs::past {

inline constexpr std::uint64_t kHourUs = 3600 * kSecondUs;
// A full hour.
inline constexpr std::uint64_t kBeginUs = 1'795'737'600 * kSecondUs;
inline constexpr const char* kShape =
    R"({"name":"us","type":"array","values":{"bounds":[1,2,4,8]}})";

inline StoreWriter::Settings settings() { return {.tiers = parse_tiers(kDefaultTiers).value()}; }

inline std::unique_ptr<StoreWriter> write_to(const std::string& directory,
                                      StoreWriter::Settings with = settings()) {
  auto made = StoreWriter::open(directory, std::move(with));
  EXPECT_TRUE(made) << (made ? "" : made.error().reason);
  return made ? std::move(made).value() : nullptr;
}

inline Point second_of(std::uint64_t bin, std::uint64_t count) {
  Point made{.known = 1, .samples = count, .number = count};
  if (count > 0) made.cells.push_back({static_cast<std::int64_t>(bin), count});
  return made;
}

// What was written, second by second.
class Model {
 public:
  explicit Model(StoreWriter& writer) : writer_(writer), id_(writer.series("web", "us", kShape)) {}

  void write(std::uint64_t begin, std::uint64_t seconds) {
    for (std::uint64_t i = 0; i < seconds; ++i) {
      const std::uint64_t moment = begin + i * kSecondUs;
      const std::uint64_t bin = random_.below(5);
      const std::uint64_t count = random_.below(4);
      writer_.go_to(moment + kSecondUs / 2);
      writer_.add(id_, second_of(bin, count));
      seconds_[moment] = {bin, count};
      EXPECT_TRUE(!writer_.is_due() || writer_.flush());
    }
  }

  std::vector<Int128> counts(const Span& span) const {
    std::vector<Int128> made(5);
    for (auto each = seconds_.lower_bound(span.begin_us);
         each != seconds_.end() && each->first < span.end_us; ++each) {
      made[each->second.first] += static_cast<Int128>(each->second.second);
    }
    return made;
  }
  std::string seed() const { return random_.seed(); }
  Random& random() { return random_; }

 private:
  StoreWriter& writer_;
  const std::uint64_t id_;
  Random random_;
  std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> seconds_;
};

}  // namespace tallyfs::past
