// Saved and loaded data reads as before and goes on as before; data that save() never wrote is
// refused.
#include "tests/unit/sanitized.h"
#include "tests/unit/statistics_interface/each_type.h"
#include "tests/unit/statistics_interface/fixture.h"

namespace tallyfs::statistics {
namespace {

void feed(Fixture& fixture) {
  for (const std::int64_t x : {3, -9, 3, 200, 0, 17}) {
    fixture.add(x, 2);
    fixture.clock.advance(std::chrono::microseconds(700));
  }
}

// One of each type, fed, and the histories not all in one state.
struct FullFixture : Fixture {
  FullFixture() {
    std::size_t count = 0;
    for (const char* text : kEachType) {
      Statistic* const statistic = create(numbered(count++), text);
      for (const std::int64_t x : {3, -9, 3, 200, 0, 17}) {
        add(statistic, {{.x = x, .y = 2, .time = clock.now().monotonic}});
        clock.advance(std::chrono::microseconds(700));
      }
    }
    define("name=s8 on=0");
  }
};

Result<std::unique_ptr<Interface>> load(std::string_view bytes, Ledger& ledger) {
  ByteReader in(bytes);
  return Interface::load(in, ledger);
}

TEST(SavedTest, LoadsWhatReadsTheSame) {
  FullFixture fixture;
  Ledger ledger{{}};
  const auto loaded = load(fixture.saved(), ledger);
  ASSERT_TRUE(loaded.has_value());
  Interface& copy = *loaded.value();
  EXPECT_EQ(copy.uid(), kUid);
  EXPECT_EQ(copy.render_definition(kAnyLength).value(), fixture.definition());
  EXPECT_EQ(copy.last_change(fixture.clock.now()), fixture.last_change());
  EXPECT_EQ(copy.render_data(fixture.clock.now(), kAnyLength).value(), fixture.data());
  EXPECT_EQ(ledger.total(), fixture.ledger.total());
}

// What a feeder that says sample_units=SECONDS hears of the statistic s.
std::string refusal(const Interface& interface, const std::string& sample_units) {
  const auto refused = interface.refuse_sample_units("s", "sample_units=" + sample_units);
  return refused ? refused->reason : "";
}

TEST(SavedTest, KnowsTheUnitsOfSamplesAgain) {
  for (const char* units : {"", "units=milliseconds/n", "units=hours/n", "units=-"}) {
    SCOPED_TRACE(units);
    Fixture fixture;
    fixture.create("s", "units=milliseconds/n sample_units=milliseconds/n");
    EXPECT_EQ(fixture.define(std::string("name=s ") + units), "");
    const auto loaded = load(fixture.saved(), fixture.ledger);
    ASSERT_TRUE(loaded.has_value());
    EXPECT_EQ(refusal(*loaded.value(), "milliseconds/people"), "");
    EXPECT_EQ(refusal(*loaded.value(), "microseconds/n"),
              "its samples have units=milliseconds/n, to which samples with "
              "units=microseconds/n do not add up");
    EXPECT_NE(refusal(*loaded.value(), "-"), "") << "pure numbers";
  }
}

TEST(SavedTest, TheFirstFeederSaysTheUnitsOfSamples) {
  Fixture fixture;
  fixture.create("s", "units=people");
  EXPECT_EQ(refusal(*fixture.interface, "hours/n"), "") << "nobody has said any";
  EXPECT_TRUE(fixture.interface->note_sample_units("s", "sample_units=-").has_value());
  EXPECT_TRUE(fixture.interface->note_sample_units("s", "sample_units=hours/n").has_value());
  EXPECT_EQ(refusal(*fixture.interface, "-"), "");
  EXPECT_EQ(refusal(*fixture.interface, "bytes/n"), "") << "of the same scale";
  EXPECT_EQ(refusal(*fixture.interface, "hours/n"),
            "its samples have no units, to which samples with units=hours/n do not add up");
  fixture.create("t", "units=thousandths/n sample_units=thousandths/n");
  EXPECT_TRUE(fixture.interface->refuse_sample_units("t", "sample_units=milliseconds/n"))
      << "thousandths are no milliseconds";
}

// Feeders send integers, and do not hear of other decimals.
TEST(SavedTest, DecimalsStayThoseOfTheFeeder) {
  Fixture fixture;
  fixture.create("s", "type=range decimals=2");
  EXPECT_EQ(refusal(*fixture.interface, "seconds/n decimals=2"), "");
  EXPECT_EQ(refusal(*fixture.interface, "seconds/n decimals=6"),
            "it has decimals=2, to which samples with units=seconds/n decimals=6 do not add up");
  EXPECT_EQ(fixture.define("name=s decimals=3"), "") << "no feeder has said any";
  ASSERT_TRUE(fixture.interface->note_sample_units("s", "sample_units=seconds/n decimals=3"));
  EXPECT_NE(fixture.define("name=s undo=1"), "") << "of decimals that the feeder does not have";
  EXPECT_EQ(fixture.define("name=s decimals=3 type=list entries_max=9"), "");
  EXPECT_EQ(
      fixture.define("name=s decimals=2"),
      "its feeder sends samples with decimals=3: change the feeder, then remove the statistic");
  EXPECT_EQ(fixture.define("decimals=2"),
            "s: its feeder sends samples with decimals=3: change the feeder, then remove the "
            "statistic");
  const auto loaded = load(fixture.saved(), fixture.ledger);
  ASSERT_TRUE(loaded.has_value());
  EXPECT_EQ(refusal(*loaded.value(), "milliseconds/n"), "") << "the same scale";
  EXPECT_NE(refusal(*loaded.value(), "seconds/n decimals=6"), "");
}

// The statistic has its own words for the scale of a feeder that says it otherwise.
TEST(SavedTest, AScaleByOtherWordsIsNotedInThoseOfTheStatistic) {
  Fixture fixture;
  fixture.create("s", "type=range units=microseconds/n");
  const std::string in_seconds = "seconds/n decimals=6";
  EXPECT_EQ(refusal(*fixture.interface, in_seconds), "");
  ASSERT_TRUE(fixture.interface->note_sample_units("s", "sample_units=" + in_seconds));
  EXPECT_EQ(refusal(*fixture.interface, in_seconds), "");
  EXPECT_EQ(refusal(*fixture.interface, "microseconds/n"), "");
  EXPECT_NE(refusal(*fixture.interface, "seconds/n"), "");
}

TEST(SavedTest, EachTypeGoesOnAsIfNothingHadHappened) {
  for (const char* text : kEachType) {
    SCOPED_TRACE(text);
    Fixture one(text);
    Fixture other(text);
    feed(one);
    feed(other);
    one.interface = load(one.saved(), one.ledger).value();
    feed(one);
    feed(other);
    EXPECT_EQ(one.data(), other.data());
    EXPECT_EQ(one.definition(), other.definition());
  }
}

TEST(SavedTest, SavingIsNoChange) {
  FullFixture fixture;
  const std::string once = fixture.saved();
  EXPECT_EQ(fixture.saved(), once);
}

TEST(SavedTest, AStateCutOffAnywhereIsRefused) {
  FullFixture fixture;
  const std::string bytes = fixture.saved();
  Ledger ledger{{}};
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_FALSE(load(std::string_view(bytes).substr(0, size), ledger).has_value()) << size;
  }
  EXPECT_EQ(ledger.total(), Holdings{});
}

// Whatever comes of it, it must be usable (the sanitizers look on) and leave the ledger clean.
TEST(SavedTest, AStateWithWrongBytesIsRefusedOrUsable) {
  Random random;
  TRACE_SEED(random);
  FullFixture fixture;
  const std::string bytes = fixture.saved();
  Ledger ledger{{}};
  const int rounds = kSanitized ? 2'000 : 20'000;
  for (int i = 0; i < rounds; ++i) {
    std::string wrong = bytes;
    for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
      wrong[random.below(wrong.size())] = static_cast<char>(random.any());
    }
    const auto loaded = load(wrong, ledger);
    if (!loaded) continue;
    Interface& interface = *loaded.value();
    const Sample sample{.time = fixture.clock.now().monotonic};
    for (Statistic* statistic : interface.statistics()) {
      const statistics::Run run{statistic, {&sample, 1}};
      interface.add({&run, 1}, fixture.clock.now());
    }
    EXPECT_TRUE(interface.render_data(fixture.clock.now(), kAnyLength));
    interface.define("on=0 data=reset", fixture.clock.now());
  }
  EXPECT_EQ(ledger.total(), Holdings{});
}

TEST(SavedTest, TheLedgerOfTheLoaderCounts) {
  FullFixture fixture;
  Ledger ledger{{.per_uid = {.interfaces = 1, .statistics = 5, .bytes = 1 << 20}}};
  EXPECT_EQ(load(fixture.saved(), ledger).error().code, ErrorCode::kNoSpace);
  EXPECT_EQ(ledger.total(), Holdings{});
}

// Nothing is measured while no daemon runs: periods of that time are absent, not zero.
TEST(SavedTest, AHistoryThatIsResumedHasNoPeriodsForTheTimeBetween) {
  Fixture fixture("type=history mode=increments period=1000000 entries_max=9 on=1");
  fixture.add(1, 5);
  fixture.clock.advance(std::chrono::seconds(1));
  const std::string before = fixture.data();
  fixture.interface = load(fixture.saved(), fixture.ledger).value();
  fixture.clock.advance(std::chrono::seconds(5));
  fixture.interface->resume(Boot::kThis, fixture.clock.now());
  EXPECT_EQ(fixture.data().find(before), 0u);
  fixture.add(1, 7);
  fixture.clock.advance(std::chrono::seconds(1));
  const std::string after = fixture.data();
  EXPECT_TRUE(after.ends_with(" 7\n")) << after;
  EXPECT_EQ(std::count(after.begin(), after.end(), '\n'), 3) << after;
}

TEST(SavedTest, AfterAnotherBootTotalsAreThereAndTimesAreNot) {
  for (const char* text : kEachType) {
    SCOPED_TRACE(text);
    Fixture fixture(text);
    feed(fixture);
    const std::string data = fixture.data();
    fixture.interface = load(fixture.saved(), fixture.ledger).value();
    fixture.interface->resume(Boot::kOther, {.monotonic = std::chrono::seconds(1)});
    const std::string definition = fixture.definition();
    EXPECT_NE(definition.find(" data=[0.000000] started=[0.000000] stopped=[0.000000]"),
              std::string::npos)
        << definition;
    const std::string_view type(text);
    if (type.find("type=history") != type.npos || type.find("type=raw") != type.npos) {
      EXPECT_EQ(fixture.interface->render_data({.monotonic = std::chrono::seconds(1)}, kAnyLength)
                    .value(),
                "");
    } else if (type.find("type=last") != type.npos) {
      EXPECT_NE(fixture.data().find(" [0.000000] "), std::string::npos) << fixture.data();
    } else {
      EXPECT_EQ(fixture.data(), data);
    }
  }
}

// What a reset gives back is given back here, too.
TEST(SavedTest, AResumedInterfaceLeavesTheLedgerClean) {
  FullFixture fixture;
  Ledger ledger{{}};
  {
    const auto loaded = load(fixture.saved(), ledger);
    loaded.value()->resume(Boot::kOther, fixture.clock.now());
    for (const Statistic* each : loaded.value()->statistics()) {
      EXPECT_TRUE(loaded.value()->remove_statistic(each->name(), fixture.clock.now()));
    }
    EXPECT_EQ(ledger.total(), (Holdings{.interfaces = 1, .bytes = kInterfaceBytes}));
  }
  EXPECT_EQ(ledger.total(), Holdings{});
}

}  // namespace
}  // namespace tallyfs::statistics
