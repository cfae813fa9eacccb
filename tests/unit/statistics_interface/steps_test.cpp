// Lines for all of a large interface: in steps, they come to what they come to in one.
#include <string>
#include <vector>

#include "tests/unit/statistics_interface/each_type.h"
#include "tests/unit/statistics_interface/fixture.h"

namespace tallyfs::statistics {
namespace {

constexpr std::size_t kMany = 3 * Interface::kLineAtOnce;  // two cuts in each pass

// Statistics of all types with a few samples each, old enough for a reset to be kept.
struct LargeFixture : Fixture {
  explicit LargeFixture(std::size_t count = kMany, const Ledger::Limits& limits = {})
      : Fixture(limits) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t type = i % std::size(kEachType);
      Statistic* const made = create(numbered(i), kEachType[type]);
      const std::size_t samples = i % 3;
      for (std::size_t x = 0; x < samples; ++x) {
        add(made, {{.x = static_cast<std::int64_t>(x), .time = clock.now().monotonic}});
      }
    }
    clock.advance(std::chrono::seconds(2));
  }
  // Each step is late. between(n) comes behind the n-th of them but the last. Returns how many.
  template <typename Between>
  Result<int> define_late(std::string_view line, Between between) {
    LineProgress progress;
    for (int steps = 1;; ++steps) {
      const auto done = interface->define_step(line, clock.now(), {progress, always_late});
      if (!done) return done.error();
      if (done.value()) return steps;
      between(steps);
    }
  }
  int define_late(std::string_view line) {
    return define_late(line, [](int) {}).value();
  }
  std::string line_of(std::size_t i, const std::string& text) const {
    const std::string begin = "\n" + numbered(i) + " ";
    const std::string all = "\n" + text;
    const auto at = all.find(begin);
    return at == std::string::npos ? "" : all.substr(at + 1, all.find('\n', at + 1) - at - 1);
  }
};

TEST(StepsOfALineTest, ComeToWhatTheWholeLineComesTo) {
  for (const char* const line :
       {"data=reset", "on=0", "on=0 data=reset", "units=x/y", "type=range",
        "type=list entries_max=7 help=a", "range_min=-100 range_max=100", "strict=1 type=last"}) {
    LargeFixture whole, stepped;
    EXPECT_EQ(whole.define(line), "") << line;
    EXPECT_GE(stepped.define_late(line), 3) << line;
    EXPECT_EQ(stepped.definition(), whole.definition()) << line;
    EXPECT_EQ(stepped.data(), whole.data()) << line;
    EXPECT_EQ(stepped.ledger.total(), whole.ledger.total()) << line;
    EXPECT_EQ(stepped.saved(), whole.saved()) << line;
    if (std::string_view(line).find("data") == std::string_view::npos) continue;
    EXPECT_EQ(whole.define("undo=1"), "");
    EXPECT_GE(stepped.define_late("undo=1"), 3);
    EXPECT_EQ(stepped.data(), whole.data()) << line;
    EXPECT_EQ(stepped.ledger.total(), whole.ledger.total()) << line;
  }
}

TEST(StepsOfALineTest, AreOneOfAsManyAsAreChangedAtOnce) {
  LargeFixture fixture(Interface::kLineAtOnce);
  EXPECT_EQ(fixture.define_late("data=reset"), 1);
  EXPECT_EQ(fixture.define_late("undo=1"), 1);
  EXPECT_EQ(fixture.define_late("type=range"), 1);
}

TEST(StepsOfALineTest, ALineThatIsImpossibleForOneChangesNothing) {
  LargeFixture fixture;
  fixture.create("last", "type=array base_interval=1 scale=lin range_min=0 range_max=9");
  const std::string before = fixture.definition();
  const auto done = fixture.define_late("range_min=10", [](int) {});
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().reason.find(": range_min"), std::string::npos) << done.error().reason;
  EXPECT_EQ(fixture.definition(), before);
  const auto strict = fixture.define_late("strict=1 type=range entries_max=5", [](int) {});
  ASSERT_FALSE(strict);
  EXPECT_EQ(fixture.definition(), before);
}

TEST(StepsOfALineTest, WhatIsMadeMeanwhileIsNotForTheLine) {
  LargeFixture fixture;
  ASSERT_TRUE(fixture.define_late("on=0", [&](int steps) {
    if (steps == 1) fixture.create("made", "on=1");
  }));
  EXPECT_NE(fixture.definition().find("name=made on=1 "), std::string::npos);
  EXPECT_EQ(fixture.definition().find("on=1"), fixture.definition().find("name=made on=1") + 10);
}

TEST(StepsOfALineTest, WhatIsMadeWhileALineIsCheckedIsNotForItEither) {
  LargeFixture fixture;
  ASSERT_TRUE(fixture.define_late("type=last", [&](int steps) {
    if (steps == 1) fixture.create("made", "on=1 type=range");
  }));
  EXPECT_NE(fixture.definition().find("name=made on=1 type=range"), std::string::npos);
  EXPECT_EQ(fixture.definition().find("type=value"), std::string::npos);
}

TEST(StepsOfALineTest, AViewHasTheDecimalsOfItsSourceBetweenTwoSteps) {
  LargeFixture fixture;
  fixture.create("source", "on=1 type=range");
  for (std::size_t i = 0; i < 2 * Interface::kLineAtOnce; ++i) {
    fixture.create("behind" + numbered(i), "on=1");
  }
  ASSERT_TRUE(fixture.interface->create_view("view", "of=source", fixture.clock.now()));
  const auto decimals_of = [&](std::string_view name) {
    return fixture.interface->find(name)->definition().decimals;
  };
  bool seen = false;
  ASSERT_TRUE(fixture.define_late("decimals=2", [&](int) {
    EXPECT_EQ(decimals_of("view"), decimals_of("source"));
    seen |= decimals_of("source") == 2 && decimals_of("behind" + numbered(2000)) == 0;
  }));
  EXPECT_TRUE(seen);
  EXPECT_EQ(decimals_of("view"), 2);
}

TEST(StepsOfALineTest, EndAtAFeederThatSaysItsDecimalsMeanwhile) {
  LargeFixture fixture;
  const std::string last = numbered(kMany - 1);
  const auto done = fixture.define_late("decimals=3", [&](int steps) {
    if (steps != 3) return;
    EXPECT_EQ(fixture.interface->find(numbered(0))->definition().decimals, 3);
    ASSERT_TRUE(fixture.interface->note_sample_units(last, "sample_units=ms"));
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(fixture.interface->find(last)->definition().decimals, 0);
  EXPECT_NE(done.error().reason.find("its feeder sends samples"), std::string::npos);
  EXPECT_NE(done.error().reason.find("statistics before it are changed"), std::string::npos);
}

TEST(StepsOfALineTest, AllThatAreLeftAreChangedThoughOthersGo) {
  LargeFixture fixture;
  ASSERT_TRUE(fixture.define_late("on=0", [&](int steps) {
    if (steps != 2) return;
    for (std::size_t i = 0; i < 2 * kMany / 3; ++i) {
      EXPECT_TRUE(fixture.interface->remove_statistic(numbered(i), fixture.clock.now()));
    }
  }));
  EXPECT_EQ(fixture.interface->size(), kMany - 2 * kMany / 3);
  EXPECT_EQ(fixture.definition().find("on=1"), std::string::npos);

  for (const int at : {1, 4}) {
    LargeFixture moved;
    ASSERT_TRUE(moved.define_late("type=last", [&](int steps) {
      if (steps != at) return;
      for (std::size_t i = 0; i < 2 * kMany / 3; ++i) {
        EXPECT_TRUE(moved.interface->remove_statistic(numbered(i), moved.clock.now()));
      }
    }));
    EXPECT_EQ(moved.definition().find("type=range"), std::string::npos) << at;
    EXPECT_EQ(moved.interface->size(), kMany - 2 * kMany / 3);
    moved.clock.advance(std::chrono::seconds(61));
    (void)moved.data();
    LargeFixture as_new;
    for (std::size_t i = 0; i < 2 * kMany / 3; ++i) {
      EXPECT_TRUE(as_new.interface->remove_statistic(numbered(i), as_new.clock.now()));
    }
    ASSERT_EQ(as_new.define("type=last"), "");
    as_new.clock.advance(std::chrono::seconds(61));
    (void)as_new.data();
    EXPECT_EQ(moved.ledger.total(), as_new.ledger.total()) << at;
  }

  LargeFixture shorter;
  ASSERT_TRUE(shorter.define_late("type=range", [&](int steps) {
    if (steps != 4) return;
    for (std::size_t i = kMany; i-- > kMany - 1500;) {
      EXPECT_TRUE(shorter.interface->remove_statistic(numbered(i), shorter.clock.now()));
    }
  }));
  LargeFixture whole(kMany - 1500);
  ASSERT_EQ(whole.define("type=range"), "");
  EXPECT_EQ(shorter.definition(), whole.definition());
  shorter.clock.advance(std::chrono::seconds(61));
  whole.clock.advance(std::chrono::seconds(61));
  EXPECT_EQ(shorter.data(), whole.data());
  EXPECT_EQ(shorter.ledger.total(), whole.ledger.total());
}

TEST(StepsOfALineTest, WhatIsSavedInStepsIsTheSame) {
  LargeFixture fixture;
  const std::string bytes = fixture.saved();
  ByteReader in(bytes);
  const auto loaded = Interface::load(in, fixture.ledger);
  ASSERT_TRUE(loaded) << loaded.error().reason;
  EXPECT_EQ(in.left(), 0u);
  EXPECT_EQ(loaded.value()->render_definition(kAnyLength).value(), fixture.definition());
  EXPECT_EQ(loaded.value()->render_data(fixture.clock.now(), kAnyLength).value(), fixture.data());
}

TEST(StepsOfALineTest, EndWhereTheQuotaFillsMeanwhile) {
  const auto limits = [](std::uint64_t bytes) {
    return Ledger::Limits{.per_uid = {.interfaces = 2, .statistics = kMany, .bytes = bytes}};
  };
  const char kLine[] = "type=array base_interval=1 scale=lin range_min=0 range_max=2000";
  const std::uint64_t bytes = LargeFixture().ledger.total().bytes;
  const std::uint64_t enough = bytes + kMany * 2000 * sizeof(std::uint64_t);

  LargeFixture fixture(kMany, limits(enough));
  const auto done = fixture.define_late(kLine, [&](int steps) {
    if (steps != 3) return;
    EXPECT_NE(fixture.definition().find("range_max=2000"), std::string::npos);
    const std::uint64_t left = enough - fixture.ledger.total().bytes;
    EXPECT_TRUE(fixture.ledger.reserve(kUid, {.bytes = left - left / 4}));
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kNoSpace);
  EXPECT_NE(done.error().reason.find("statistics before it are changed"), std::string::npos)
      << done.error().reason;

  LargeFixture full(kMany, limits(bytes + (1 << 20)));
  const std::string before = full.definition();
  const auto refused = full.define_late(kLine, [](int) {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kNoSpace);
  EXPECT_EQ(full.definition(), before);
  EXPECT_EQ(full.ledger.total().bytes, bytes);
}

}  // namespace
}  // namespace tallyfs::statistics
