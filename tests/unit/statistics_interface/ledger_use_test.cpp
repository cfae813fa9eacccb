// What an interface tells the ledger, and when.
#include "tests/unit/allocated.h"
#include "tests/unit/statistics_interface/stand.h"

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
  Stand stand;
  EXPECT_EQ(stand.ledger.total(), (Holdings{.interfaces = 1, .bytes = kInterfaceBytes}));
  stand.create("abc", "units=slots");
  EXPECT_EQ(stand.ledger.total().bytes, kInterfaceBytes + bare(3, 5));
  stand.create("s", "type=raw entries_max=100");
  EXPECT_EQ(stand.ledger.total().bytes,
            kInterfaceBytes + bare(3, 5) + bare(1) + Ring<Sample>::worst_case_bytes(100));
}

TEST(LedgerUseTest, HalfOfAShareIsLeftToTheTree) {
  EXPECT_LE(sizeof(Statistic), kStatisticBytes / 2);
  EXPECT_LE(sizeof(Interface), kInterfaceBytes / 2);
}

// Each has room for the largest of all types: what is rare or large belongs on the heap.
TEST(LedgerUseTest, AStatisticTakesFourLinesOfMemory) { EXPECT_LE(sizeof(Statistic), 4 * 64); }

TEST(LedgerUseTest, IsBackWhereItWasAfterCreateRedefineAndRemove) {
  Stand stand("on=1 units=a/b");
  const Holdings before = stand.ledger.total();
  const std::string definition = stand.definition();
  for (const char* text :
       {"", "type=range units=x help=Time", "type=list entries_max=9", kBigArray,
        "type=history entries_max=9 mode=range period=1", "type=raw entries_max=9",
        "type=quantiles precision=8 quantiles=50 units=microseconds/n", "type=last",
        "type=history entries_max=9 mode=quantiles period=1 precision=1 quantiles=1"}) {
    stand.create("t", text);
    EXPECT_EQ(stand.ledger.total().statistics, 2u);
    EXPECT_TRUE(stand.interface->remove_statistic("t", stand.clock.now()));
    EXPECT_EQ(stand.ledger.total(), before);
    EXPECT_EQ(stand.define(text), "");
    EXPECT_EQ(stand.define("type=value mode=increments range_min=-9223372036854775808 "
                           "range_max=9223372036854775807 units=a/b help=-"),
              "");
    EXPECT_EQ(stand.ledger.total(), before);
  }
  EXPECT_EQ(stand.definition(), definition);
  stand.interface.reset();
  EXPECT_EQ(stand.ledger.total(), Holdings{});
}

TEST(LedgerUseTest, CountsUnitsOfSamplesThatAreNotThoseOfTheDefinition) {
  Stand stand;
  const Holdings empty = stand.ledger.total();
  stand.create("s", "units=ms/n sample_units=ms/n");
  const std::uint64_t bytes = empty.bytes + bare(1);
  EXPECT_EQ(stand.ledger.total().bytes, bytes + 4);
  EXPECT_EQ(stand.define("name=s units=people"), "");
  EXPECT_EQ(stand.ledger.total().bytes, bytes + 6 + 4);
  EXPECT_EQ(stand.define("name=s units=ms/n"), "");
  EXPECT_EQ(stand.ledger.total().bytes, bytes + 4);
  EXPECT_EQ(stand.define("name=s units=-"), "");
  EXPECT_EQ(stand.ledger.total().bytes, bytes + 4);
  EXPECT_TRUE(stand.interface->remove_statistic("s", stand.clock.now()));
  EXPECT_EQ(stand.ledger.total(), empty);
}

TEST(LedgerUseTest, TheLastByteMayBeHeldAndNotOneMore) {
  const std::uint64_t bytes = kInterfaceBytes + bare(4, 2) + Ring<Sample>::worst_case_bytes(5);
  for (const std::uint64_t room : {bytes, bytes - 1}) {
    Stand stand(limits(1, room));
    const auto created = stand.interface->create_statistic(
        "four", "type=raw entries_max=5 units=xy", stand.clock.now());
    EXPECT_EQ(created.has_value(), room == bytes);
    if (created) continue;
    EXPECT_EQ(created.error().code, ErrorCode::kNoSpace);
    EXPECT_EQ(stand.ledger.total(), (Holdings{.interfaces = 1, .bytes = kInterfaceBytes}));
    EXPECT_EQ(stand.interface->find("four"), nullptr);
    EXPECT_EQ(stand.definition(), "");
  }
}

TEST(LedgerUseTest, AnInterfaceMustHaveRoomForItself) {
  Ledger ledger(limits(1, kInterfaceBytes - 1));
  EXPECT_EQ(Interface::create(ledger, kUid, {}).error().code, ErrorCode::kNoSpace);
  EXPECT_EQ(ledger.total(), Holdings{});
}

TEST(LedgerUseTest, RefusesOneInterfaceOrStatisticTooMany) {
  Stand stand(limits(1, 1 << 20));
  const auto now = stand.clock.now();
  EXPECT_EQ(Interface::create(stand.ledger, kUid, now).error().code, ErrorCode::kNoSpace);
  stand.create("s", "");
  EXPECT_EQ(stand.interface->create_statistic("t", "", now).error().code, ErrorCode::kNoSpace);
  EXPECT_EQ(stand.interface->statistics().size(), 1u);
}

TEST(LedgerUseTest, ALineBeyondTheLedgerChangesNothing) {
  const std::uint64_t objects = kInterfaceBytes + 2 * bare(1);
  const std::uint64_t fifty = Ring<Sample>::worst_case_bytes(50);
  Stand stand(limits(2, objects + 2 * fifty));
  stand.create("s", "on=1 type=raw entries_max=50");
  stand.create("t", "");
  const std::string before = stand.definition();
  const Holdings held = stand.ledger.total();
  EXPECT_EQ(held, (Holdings{.interfaces = 1, .statistics = 2, .bytes = objects + fifty}));
  const auto refused = stand.interface->define("type=raw entries_max=51", stand.clock.now());
  EXPECT_EQ(refused.error().code, ErrorCode::kNoSpace);
  EXPECT_EQ(stand.definition(), before);
  EXPECT_EQ(stand.ledger.total(), held);
  EXPECT_EQ(stand.define("type=raw entries_max=50"), "");
  EXPECT_EQ(stand.ledger.total().bytes, objects + 2 * fifty);
  EXPECT_EQ(stand.define("type=range"), "");
  EXPECT_EQ(stand.ledger.total().bytes, objects);
}

TEST(LedgerUseTest, IsAskedBeforeAnyDataAreMade) {
  Stand stand(limits(2, kInterfaceBytes + bare(1) + kBigArrayBytes - 1));
  stand.create("s", "");
  const std::size_t before = allocated_bytes();
  EXPECT_FALSE(stand.interface->create_statistic("t", kBigArray, stand.clock.now()));
  EXPECT_FALSE(stand.interface->define(kBigArray, stand.clock.now()));
  EXPECT_LT(allocated_bytes() - before, 10'000u);
}

TEST(LedgerUseTest, ARedefinitionMakesItsDataOnce) {
  Stand stand("on=1");
  const std::size_t before = allocated_bytes();
  EXPECT_EQ(stand.define(std::string("data=reset ") + kBigArray), "");
  EXPECT_LT(allocated_bytes() - before, kBigArrayBytes + 10'000);
}

}  // namespace
}  // namespace tallyfs::statistics
