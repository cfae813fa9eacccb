// What an interface tells the ledger, and when.
#include "tests/unit/allocated.h"
#include "tests/unit/statistics_interface/fixture.h"

namespace tallyfs::statistics {
namespace {

// A statistic without data, whose name and units have so many bytes.
constexpr std::uint64_t bare(std::uint64_t name_bytes, std::uint64_t units_bytes = 0) {
  return kStatisticBytes + 2 * name_bytes + units_bytes;
}

constexpr char kBigArray[] = "type=array base_interval=1 scale=lin range_min=1 range_max=65535";
constexpr std::uint64_t kBigArrayBytes = 65'536 * sizeof(std::uint64_t);

// One interface of so many statistics and so many bytes.
Ledger::Limits limits(std::uint64_t statistics, std::uint64_t bytes) {
  return {.per_uid = {.interfaces = 1, .statistics = statistics, .bytes = bytes}};
}

TEST(LedgerUseTest, CountsObjectsNamesAndUnitsWithTheData) {
  Fixture fixture;
  EXPECT_EQ(fixture.ledger.total(), (Holdings{.interfaces = 1, .bytes = kInterfaceBytes}));
  fixture.create("abc", "units=slots");
  EXPECT_EQ(fixture.ledger.total().bytes, kInterfaceBytes + bare(3, 5));
  fixture.create("s", "type=raw entries_max=100");
  EXPECT_EQ(fixture.ledger.total().bytes,
            kInterfaceBytes + bare(3, 5) + bare(1) + Ring<Sample>::worst_case_bytes(100));
}

TEST(LedgerUseTest, HalfOfAShareIsLeftToTheTree) {
  EXPECT_LE(sizeof(Statistic), kStatisticBytes / 2);
  EXPECT_LE(sizeof(Interface), kInterfaceBytes / 2);
}

// Each has room for the largest of all types: what is rare or large belongs on the heap.
TEST(LedgerUseTest, AStatisticTakesFourLinesOfMemory) { EXPECT_LE(sizeof(Statistic), 4 * 64); }

TEST(LedgerUseTest, IsBackWhereItWasAfterCreateRedefineAndRemove) {
  Fixture fixture("on=1 units=a/b");
  const Holdings before = fixture.ledger.total();
  const std::string definition = fixture.definition();
  for (const char* text :
       {"", "type=range units=x help=Time", "type=list entries_max=9", kBigArray,
        "type=history entries_max=9 mode=range period=1", "type=raw entries_max=9",
        "type=quantiles precision=8 quantiles=50 units=microseconds/n", "type=last",
        "type=history entries_max=9 mode=quantiles period=1 precision=1 quantiles=1"}) {
    fixture.create("t", text);
    EXPECT_EQ(fixture.ledger.total().statistics, 2u);
    EXPECT_TRUE(fixture.interface->remove_statistic("t", fixture.clock.now()));
    EXPECT_EQ(fixture.ledger.total(), before);
    EXPECT_EQ(fixture.define(text), "");
    EXPECT_EQ(fixture.define("type=value mode=increments range_min=-9223372036854775808 "
                             "range_max=9223372036854775807 units=a/b help=-"),
              "");
    EXPECT_EQ(fixture.ledger.total(), before);
  }
  EXPECT_EQ(fixture.definition(), definition);
  fixture.interface.reset();
  EXPECT_EQ(fixture.ledger.total(), Holdings{});
}

TEST(LedgerUseTest, CountsUnitsOfSamplesThatAreNotThoseOfTheDefinition) {
  Fixture fixture;
  const Holdings empty = fixture.ledger.total();
  fixture.create("s", "units=ms/n sample_units=ms/n");
  const std::uint64_t bytes = empty.bytes + bare(1);
  EXPECT_EQ(fixture.ledger.total().bytes, bytes + 4);
  EXPECT_EQ(fixture.define("name=s units=people"), "");
  EXPECT_EQ(fixture.ledger.total().bytes, bytes + 6 + 4);
  EXPECT_EQ(fixture.define("name=s units=ms/n"), "");
  EXPECT_EQ(fixture.ledger.total().bytes, bytes + 4);
  EXPECT_EQ(fixture.define("name=s units=-"), "");
  EXPECT_EQ(fixture.ledger.total().bytes, bytes + 4);
  EXPECT_TRUE(fixture.interface->remove_statistic("s", fixture.clock.now()));
  EXPECT_EQ(fixture.ledger.total(), empty);
}

TEST(LedgerUseTest, TheLastByteMayBeHeldAndNotOneMore) {
  const std::uint64_t bytes = kInterfaceBytes + bare(4, 2) + Ring<Sample>::worst_case_bytes(5);
  for (const std::uint64_t room : {bytes, bytes - 1}) {
    Fixture fixture(limits(1, room));
    const auto created = fixture.interface->create_statistic(
        "four", "type=raw entries_max=5 units=xy", fixture.clock.now());
    EXPECT_EQ(created.has_value(), room == bytes);
    if (created) continue;
    EXPECT_EQ(created.error().code, ErrorCode::kNoSpace);
    EXPECT_EQ(fixture.ledger.total(), (Holdings{.interfaces = 1, .bytes = kInterfaceBytes}));
    EXPECT_EQ(fixture.interface->find("four"), nullptr);
    EXPECT_EQ(fixture.definition(), "");
  }
}

TEST(LedgerUseTest, AnInterfaceMustHaveRoomForItself) {
  Ledger ledger(limits(1, kInterfaceBytes - 1));
  EXPECT_EQ(Interface::create(ledger, kUid, {}).error().code, ErrorCode::kNoSpace);
  EXPECT_EQ(ledger.total(), Holdings{});
}

TEST(LedgerUseTest, RefusesOneInterfaceOrStatisticTooMany) {
  Fixture fixture(limits(1, 1 << 20));
  const auto now = fixture.clock.now();
  EXPECT_EQ(Interface::create(fixture.ledger, kUid, now).error().code, ErrorCode::kNoSpace);
  fixture.create("s", "");
  EXPECT_EQ(fixture.interface->create_statistic("t", "", now).error().code, ErrorCode::kNoSpace);
  EXPECT_EQ(fixture.interface->statistics().size(), 1u);
}

TEST(LedgerUseTest, ALineBeyondTheLedgerChangesNothing) {
  const std::uint64_t objects = kInterfaceBytes + 2 * bare(1);
  const std::uint64_t fifty = Ring<Sample>::worst_case_bytes(50);
  Fixture fixture(limits(2, objects + 2 * fifty));
  fixture.create("s", "on=1 type=raw entries_max=50");
  fixture.create("t", "");
  const std::string before = fixture.definition();
  const Holdings held = fixture.ledger.total();
  EXPECT_EQ(held, (Holdings{.interfaces = 1, .statistics = 2, .bytes = objects + fifty}));
  const auto refused = fixture.interface->define("type=raw entries_max=51", fixture.clock.now());
  EXPECT_EQ(refused.error().code, ErrorCode::kNoSpace);
  EXPECT_EQ(fixture.definition(), before);
  EXPECT_EQ(fixture.ledger.total(), held);
  EXPECT_EQ(fixture.define("type=raw entries_max=50"), "");
  EXPECT_EQ(fixture.ledger.total().bytes, objects + 2 * fifty);
  EXPECT_EQ(fixture.define("type=range"), "");
  EXPECT_EQ(fixture.ledger.total().bytes, objects);
}

TEST(LedgerUseTest, IsAskedBeforeAnyDataAreMade) {
  Fixture fixture(limits(2, kInterfaceBytes + bare(1) + kBigArrayBytes - 1));
  fixture.create("s", "");
  const std::size_t before = allocated_bytes();
  EXPECT_FALSE(fixture.interface->create_statistic("t", kBigArray, fixture.clock.now()));
  EXPECT_FALSE(fixture.interface->define(kBigArray, fixture.clock.now()));
  EXPECT_LT(allocated_bytes() - before, 10'000u);
}

TEST(LedgerUseTest, ARedefinitionMakesItsDataOnce) {
  Fixture fixture("on=1");
  const std::size_t before = allocated_bytes();
  EXPECT_EQ(fixture.define(std::string("data=reset ") + kBigArray), "");
  EXPECT_LT(allocated_bytes() - before, kBigArrayBytes + 10'000);
}

}  // namespace
}  // namespace tallyfs::statistics
