// The rates of a span of a store, beside which `top` shows others.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/unit/past/store_model.h"
#include "tests/unit/temporary_directory.h"
#include "tools/ctl/top_past.h"
#include "tools/past/store_reader.h"

namespace tallyfs {
namespace {

using past::kBeginUs;
using past::kSecondUs;
using Rates = std::map<std::string, double>;

TEST(RatesInTest, WhatCameLaterCountedNothingAndWhatIsNotStoredIsNotKnown) {
  const TemporaryDirectory directory;
  const auto writer = past::write_to(directory / "store");
  const std::uint64_t early = writer->series("early", "us", past::kShape);
  for (std::uint64_t i = 0; i < 10; ++i) {
    writer->go_to(kBeginUs + i * kSecondUs + kSecondUs / 2);
    writer->add(early, past::second_of(0, 4));
    if (i >= 5) writer->add(writer->series("later", "us", past::kShape), past::second_of(0, 2));
  }
  ASSERT_TRUE(writer->end());
  auto store = past::StoreReader::open(directory / "store");
  ASSERT_TRUE(store);
  const auto rates_of = [&](std::uint64_t from, std::uint64_t to) {
    return rates_in(store.value(), {kBeginUs + from * kSecondUs, kBeginUs + to * kSecondUs}).value();
  };
  EXPECT_EQ(rates_of(0, 5), (Rates{{"early", 4}, {"later", 0}}));
  EXPECT_EQ(rates_of(5, 10), (Rates{{"early", 4}, {"later", 2}}));
  EXPECT_EQ(rates_of(100, 110), Rates());
}

}  // namespace
}  // namespace tallyfs
