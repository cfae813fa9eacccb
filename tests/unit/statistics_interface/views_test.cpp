// Views: several ways to look at the same samples at once.
#include <algorithm>
#include <iterator>

#include "tests/unit/statistics_interface/each_type.h"
#include "tests/unit/statistics_interface/fixture.h"

namespace tallyfs::statistics {
namespace {

struct ViewFixture : Fixture {
  ViewFixture() { create("s", "on=1 type=range units=a/b"); }

  Error refusal(std::string_view line) {
    const auto done = interface->define(line, clock.now());
    return done ? Error{ErrorCode::kInvalid, "accepted"} : done.error();
  }
  // The name of each line of the definition file.
  std::string names() const {
    std::string all;
    const std::string text = definition();
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      all += text.substr(at + 5, text.find(' ', at) - at - 5) + " ";
    }
    return all;
  }
};

TEST(ViewsTest, AViewGetsEachSampleOfItsSourceAndCountsInItsOwnWay) {
  ViewFixture fixture;
  fixture.add(5);
  EXPECT_EQ(fixture.define("name=v of=s type=value mode=products"), "");
  fixture.add({{.x = 7, .y = 2}, {.x = 1}});
  EXPECT_EQ(fixture.data(), "s 4 1 5.000 7\nv 15\n");
}

TEST(ViewsTest, IsOnUnlessTheLineSaysOtherwise) {
  ViewFixture fixture;
  EXPECT_EQ(fixture.define("name=v of=s on=0"), "");
  EXPECT_EQ(fixture.define("name=w of=s type=last"), "");
  fixture.add(5);
  EXPECT_EQ(fixture.data(), "s 1 5 5.000 5\nv 0 0 0.000 0\nw [0.000000] 5\n");
}

TEST(ViewsTest, HasTheDefinitionOfItsSourceUnlessItSaysAType) {
  Fixture fixture("on=1 type=array base_interval=1 scale=log2 range_min=0 range_max=4 units=a/b");
  EXPECT_EQ(fixture.define("name=v of=s"), "");
  EXPECT_EQ(fixture.define("name=slow of=s range_min=2"), "");
  EXPECT_EQ(fixture.define("name=w of=s type=range"), "");
  EXPECT_EQ(fixture.definition(),
            "name=s on=1 type=array range_min=0 range_max=4 base_interval=1 scale=log2 "
            "hits_out_of_range=0 data=[0.000000] started=[0.000000] stopped=[0.000000] units=a/b\n"
            "name=v of=s on=1 type=array range_min=0 range_max=4 base_interval=1 scale=log2 "
            "hits_out_of_range=0 data=[0.000000] started=[0.000000] stopped=[0.000000] units=a/b\n"
            "name=slow of=s on=1 type=array range_min=2 range_max=4 base_interval=1 scale=log2 "
            "hits_out_of_range=0 data=[0.000000] started=[0.000000] stopped=[0.000000] units=a/b\n"
            "name=w of=s on=1 type=range range_min=-9223372036854775808 "
            "range_max=9223372036854775807 "
            "hits_out_of_range=0 data=[0.000000] started=[0.000000] stopped=[0.000000] "
            "units=a/b\n");
}

TEST(ViewsTest, ASavedDefinitionMakesTheViewsAgain) {
  ViewFixture fixture;
  EXPECT_EQ(fixture.define("name=v of=s type=quantiles precision=3 quantiles=50 range_min=2"), "");
  EXPECT_EQ(fixture.define("name=w of=s type=last on=0"), "");
  const std::string saved = fixture.definition();
  ViewFixture other;
  for (std::size_t at = 0; at < saved.size(); at = saved.find('\n', at) + 1) {
    EXPECT_EQ(other.define(saved.substr(at, saved.find('\n', at) - at)), "");
  }
  EXPECT_EQ(other.definition(), saved);
}

TEST(ViewsTest, WritingALineBackIsNoChange) {
  ViewFixture fixture;
  EXPECT_EQ(fixture.define("name=v of=s type=range"), "");
  fixture.add(5);
  const std::string before = fixture.definition();
  fixture.clock.advance(std::chrono::seconds(1));
  EXPECT_EQ(fixture.define(before.substr(before.find('\n') + 1)), "");
  EXPECT_EQ(fixture.definition(), before);
  EXPECT_EQ(fixture.data(), "s 1 5 5.000 5\nv 1 5 5.000 5\n");
}

TEST(ViewsTest, RefusesWhatCannotBe) {
  ViewFixture fixture;
  fixture.create("t", "");
  EXPECT_EQ(fixture.define("name=v of=s"), "");
  const auto expect = [&](std::string_view line, ErrorCode code, std::string_view reason) {
    const Error error = fixture.refusal(line);
    EXPECT_EQ(error.code, code) << line;
    EXPECT_EQ(error.reason, reason) << line;
    EXPECT_EQ(line.substr(error.token_at, 3), "of=") << line;
  };
  expect("of=s on=0", ErrorCode::kInvalid, "of= needs name=");
  expect("of=", ErrorCode::kInvalid, "of= needs name=");
  expect("name=t of=", ErrorCode::kInvalid, "t is no view");
  expect("name=t of=s", ErrorCode::kInvalid, "t is no view");
  expect("name=v of=t", ErrorCode::kInvalid, "v is a view of s already");
  expect("name=n of=v", ErrorCode::kInvalid, "this is a view itself, and has none");
  expect("name=n of=n", ErrorCode::kInvalid, "a statistic is no view of itself");
  expect("name=n of=x", ErrorCode::kNotFound, "no statistic of that name here");
  EXPECT_EQ(fixture.refusal("name=n of=").code, ErrorCode::kNotFound);
  EXPECT_EQ(fixture.refusal("name=n of=s type=raw").code, ErrorCode::kInvalid);
  EXPECT_EQ(fixture.names(), "s t v ");
}

TEST(ViewsTest, AnEmptySourceRemovesTheView) {
  ViewFixture fixture;
  const Holdings before = fixture.ledger.total();
  EXPECT_EQ(fixture.define("name=v of=s type=raw entries_max=100"), "");
  EXPECT_EQ(fixture.ledger.total().statistics, 2u);
  EXPECT_EQ(fixture.define("name=v of="), "");
  EXPECT_EQ(fixture.names(), "s ");
  EXPECT_EQ(fixture.ledger.total(), before);
}

TEST(ViewsTest, TheRemovalOfASourceTakesItsViewsAlong) {
  ViewFixture fixture;
  fixture.create("t", "");
  const Holdings before = fixture.ledger.total();
  EXPECT_EQ(fixture.define("name=v of=t"), "");
  EXPECT_EQ(fixture.define("name=w of=t"), "");
  EXPECT_EQ(fixture.names(), "s t v w ");
  EXPECT_TRUE(fixture.interface->remove_statistic("t", fixture.clock.now()));
  EXPECT_EQ(fixture.names(), "s ");
  EXPECT_EQ(fixture.ledger.total().statistics, before.statistics - 1);
}

TEST(ViewsTest, TheSwitchIsOnWhileAnyViewWantsSamples) {
  ViewFixture fixture;
  Switch its;
  fixture.interface->publish_at(fixture.interface->find("s"), {.on = &its});
  const auto is_on = [&] { return its.on.load(); };
  EXPECT_EQ(is_on(), 1u);
  EXPECT_EQ(fixture.define("name=v of=s type=range"), "");
  EXPECT_EQ(fixture.define("name=s on=0"), "");
  EXPECT_EQ(is_on(), 1u);
  fixture.add(5);
  EXPECT_EQ(fixture.data(), "s 0 0 0.000 0\nv 1 5 5.000 5\n");
  EXPECT_EQ(fixture.define("name=v on=0"), "");
  EXPECT_EQ(is_on(), 0u);
  EXPECT_EQ(fixture.define("name=v on=1"), "");
  EXPECT_EQ(is_on(), 1u);
  EXPECT_EQ(fixture.define("name=v of="), "");
  EXPECT_EQ(is_on(), 0u);
}

TEST(ViewsTest, LinesWithoutANameMeanViewsToo) {
  ViewFixture fixture;
  EXPECT_EQ(fixture.define("name=v of=s type=last"), "");
  fixture.add(5);
  EXPECT_EQ(fixture.define("data=reset on=0"), "");
  EXPECT_EQ(fixture.data(), "s 0 0 0.000 0\n");
}

TEST(ViewsTest, AStatisticHasABoundedNumber) {
  ViewFixture fixture;
  for (std::size_t i = 0; i < Interface::kViewsBound; ++i) {
    EXPECT_EQ(fixture.define("name=v" + std::to_string(i) + " of=s"), "");
  }
  EXPECT_EQ(fixture.refusal("name=w of=s").code, ErrorCode::kNoSpace);
}

TEST(ViewsTest, TheLedgerIsAskedFirst) {
  Fixture fixture(Ledger::Limits{.per_uid = {.interfaces = 1, .statistics = 2, .bytes = 1 << 20}});
  fixture.create("s", "on=1");
  EXPECT_NE(fixture.define("name=v of=s type=raw entries_max=1048576"), "");
  EXPECT_EQ(fixture.define("name=v of=s"), "");
  EXPECT_NE(fixture.define("name=w of=s"), "");
}

TEST(ViewsTest, AreSavedAndLoaded) {
  ViewFixture fixture;
  EXPECT_EQ(fixture.define("name=v of=s type=quantiles precision=3 quantiles=50"), "");
  fixture.add(5);
  const std::string bytes = fixture.saved();
  ByteReader in(bytes);
  auto loaded = Interface::load(in, fixture.ledger);
  ASSERT_TRUE(loaded.has_value());
  const std::string definition = fixture.definition(), data = fixture.data();
  fixture.interface = std::move(loaded.value());
  EXPECT_EQ(fixture.definition(), definition);
  EXPECT_EQ(fixture.data(), data);
  fixture.add(6);
  EXPECT_NE(fixture.data().find("v count 2\n"), std::string::npos);
}

TEST(ViewsTest, CreationSaysWhetherItWasThere) {
  ViewFixture fixture;
  fixture.create("t", "");
  const auto create = [&](std::string_view name, std::string_view text) {
    return fixture.interface->create_view(name, text, fixture.clock.now());
  };
  EXPECT_TRUE(Interface::is_of_a_view("type=range of=s"));
  EXPECT_FALSE(Interface::is_of_a_view("type=range"));
  EXPECT_TRUE(create("v", "of=s type=last").value());
  EXPECT_EQ(fixture.define("name=v type=range"), "");
  EXPECT_FALSE(create("v", "of=s type=last").value());
  EXPECT_EQ(fixture.data(), "s 0 0 0.000 0\nt 0\nv 0 0 0.000 0\n");
  EXPECT_EQ(create("t", "of=s").error().code, ErrorCode::kExists);
  EXPECT_EQ(create("v", "of=t").error().code, ErrorCode::kExists);
  EXPECT_EQ(create("w", "of=x").error().code, ErrorCode::kNotFound);
  const auto refused = fixture.interface->create_statistic("v", "", fixture.clock.now());
  EXPECT_EQ(refused.error().code, ErrorCode::kExists);
}

// What is added up once for a source and its views gives what each alone would have.
TEST(ViewsTest, AnyViewsHaveTheDataOfStatisticsThatGetTheSameSamples) {
  Random random;
  TRACE_SEED(random);
  // Without units, which a view has from its source.
  const auto any_definition = [&random] {
    const std::string text = kEachType[random.below(std::size(kEachType))];
    return text.substr(0, text.find(" units="));
  };
  for (int round = 0; round < 20; ++round) {
    const std::string mixed = any_definition();
    Fixture viewed(mixed);
    Fixture alone(mixed);
    std::vector<Statistic*> each{alone.interface->find("s")};
    for (std::size_t i = 0; i < Interface::kViewsBound; ++i) {
      const std::string definition = any_definition();
      const std::string line = "name=" + numbered(i) + " of=s " + definition;
      // Without a type: that of the source.
      if (definition.find("type=") == definition.npos) continue;
      ASSERT_EQ(viewed.define(line), "");
      each.push_back(alone.create(numbered(i), definition));
    }
    for (int run = 0; run < 20; ++run) {
      const auto now = viewed.clock.now().monotonic;
      std::vector<Sample> samples(1 + random.below(600));
      const bool has_large = random.below(4) == 0;
      const std::uint64_t range = 1 + random.below(200);
      const auto offset = static_cast<std::int64_t>(random.below(100));
      for (Sample& sample : samples) {
        sample.x = static_cast<std::int64_t>(random.below(range)) - offset;
        sample.y = random.below(3);
        sample.time = now;
        if (has_large && random.below(50) == 0) sample.x = static_cast<std::int64_t>(random.any());
        if (has_large && random.below(50) == 0) sample.y = random.any();
        if (run % 3 != 0) continue;
        sample.time -= std::min(now, std::chrono::nanoseconds(random.below(5'000'000)));
      }
      viewed.add(samples);
      for (Statistic* const statistic : each) alone.add(statistic, samples);
      const auto passed = std::chrono::microseconds(random.below(2'000));
      viewed.clock.advance(passed);
      alone.clock.advance(passed);
    }
    ASSERT_EQ(viewed.data(), alone.data());
  }
}

}  // namespace
}  // namespace tallyfs::statistics
