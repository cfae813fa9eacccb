#include "core/base/ledger.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace tallyfs {
namespace {

Ledger::Limits small() {
  return {.per_uid = {.interfaces = 2, .statistics = 3, .bytes = 100},
          .total = {.interfaces = 3, .statistics = 100, .bytes = 150}};
}

TEST(LedgerTest, BoundsAreThoseOfTheManual) {
  std::ifstream file(TALLY_SOURCE_DIR "/packaging/man/tallyfs.1");
  const std::string manual(std::istreambuf_iterator<char>(file), {});
  const Holdings total = Ledger::Limits().total;
  const std::string line = "interfaces, statistics, all uids  " +
                           std::to_string(total.interfaces) + ", " +
                           std::to_string(total.statistics) + "; ENOSPC";
  EXPECT_NE(manual.find(line), std::string::npos) << line;
}

TEST(LedgerTest, RefusesWhatWouldPassAUidsBoundAndNamesIt) {
  Ledger ledger(small());
  ASSERT_TRUE(ledger.reserve(7, {.statistics = 3, .bytes = 60}));
  const auto refused = ledger.reserve(7, {.bytes = 41});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kNoSpace);
  EXPECT_EQ(refused.error().reason, "the limit of 100 bytes of data for uid 7 is reached");
  EXPECT_TRUE(ledger.reserve(7, {.bytes = 40}));
}

TEST(LedgerTest, RefusesWhatWouldPassTheDaemonsBoundThoughTheUidHasRoom) {
  Ledger ledger(small());
  ASSERT_TRUE(ledger.reserve(1, {.bytes = 90}));
  const auto refused = ledger.reserve(2, {.bytes = 61});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason,
            "the limit of 135 bytes of data for all uids but root is reached");
}

TEST(LedgerTest, KeepsATenthForRootAndTheDaemonsUid) {
  constexpr uid_t kDaemon = 500;
  Ledger ledger({.per_uid = {.statistics = 30}, .total = {.statistics = 100}}, kDaemon);
  for (const uid_t uid : {1u, 2u, 3u}) ASSERT_TRUE(ledger.reserve(uid, {.statistics = 30}));
  EXPECT_FALSE(ledger.reserve(4, {.statistics = 1}));
  EXPECT_TRUE(ledger.reserve(kDaemon, {.statistics = 4}));
  EXPECT_TRUE(ledger.reserve(0, {.statistics = 6}));
  EXPECT_FALSE(ledger.reserve(4, {.statistics = 1}));
  const auto refused = ledger.reserve(0, {.statistics = 1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, "the limit of 100 statistics for the whole daemon is reached");
}

TEST(LedgerTest, EntersAllOrNothing) {
  Ledger ledger(small());
  EXPECT_FALSE(ledger.reserve(1, {.interfaces = 1, .statistics = 1, .bytes = 1000}));
  EXPECT_EQ(ledger.total().interfaces, 0u);
  EXPECT_EQ(ledger.total().statistics, 0u);
}

TEST(LedgerTest, GivesBackWhatIsReleased) {
  Ledger ledger(small());
  ASSERT_TRUE(ledger.reserve(1, {.interfaces = 2, .bytes = 100}));
  ledger.release(1, {.interfaces = 2, .bytes = 100});
  EXPECT_EQ(ledger.total().bytes, 0u);
  EXPECT_TRUE(ledger.reserve(1, {.interfaces = 2, .bytes = 100}));
}

TEST(LedgerTest, IsNotFooledByNumbersThatWrap) {
  Ledger ledger(small());
  ASSERT_TRUE(ledger.reserve(1, {.bytes = 50}));
  EXPECT_FALSE(ledger.reserve(1, {.bytes = ~0ull - 10}));
}

}  // namespace
}  // namespace tallyfs
