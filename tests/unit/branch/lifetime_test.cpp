#include "core/branch/lifetime.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/fake_processes.h"
#include "tests/unit/senders.h"

namespace tallyfs {
namespace {

TEST(LifetimeTest, IsTheWholeOfAThingsAttributes) {
  EXPECT_EQ(parse_lifetime("", "a thing").value(), Lifetime::kForGood);
  EXPECT_EQ(parse_lifetime("  ", "a thing").value(), Lifetime::kForGood);
  EXPECT_EQ(parse_lifetime(" lifetime=feeder ", "a thing").value(), Lifetime::kFeeder);
  const auto refused = parse_lifetime("lifetime=feeder on=1", "a thing");
  EXPECT_EQ(refused.error().reason, "a thing has no attribute but lifetime=feeder");
  EXPECT_EQ(refused.error().token_at, 16u);
  EXPECT_EQ(parse_lifetime(" lifetime=ever", "a thing").error().token_at, 1u);
}

TEST(LifetimeTest, IsTakenOffATextWithMore) {
  Tokens with("lifetime=feeder u64 lat");
  EXPECT_EQ(take_lifetime(with).value(), Lifetime::kFeeder);
  EXPECT_EQ(with.rest().text, " u64 lat");
  Tokens without("u64 lifetime");
  EXPECT_EQ(take_lifetime(without).value(), Lifetime::kForGood);
  EXPECT_EQ(without.rest().text, "u64 lifetime");
  Tokens other(" lifetime=ever u64 lat");
  EXPECT_EQ(take_lifetime(other).error().token_at, 10u);
  EXPECT_EQ(other.rest().at, 0u) << "no word is taken";
}

TEST(LifetimeFeedersTest, HoldsEachProcessOnceAtItsOwnersCost) {
  Ledger ledger(
      {.per_uid = {.bytes = 2 * LifetimeFeeders::kFeederBytes}, .total = {.bytes = 1024}});
  LifetimeFeeders feeders;
  ASSERT_TRUE(feeders.add(ledger, kAlice, 7));
  ASSERT_TRUE(feeders.add(ledger, kAlice, 7));
  EXPECT_EQ(ledger.total().bytes, LifetimeFeeders::kFeederBytes);
  ASSERT_TRUE(feeders.add(ledger, kAlice, 8));
  EXPECT_EQ(feeders.add(ledger, kAlice, 9).error().code, ErrorCode::kNoSpace);
  EXPECT_TRUE(feeders.contains(8));
  EXPECT_FALSE(feeders.contains(9));
  std::vector<pid_t> all;
  feeders.each([&](pid_t process) { all.push_back(process); });
  EXPECT_EQ(all, (std::vector<pid_t>{7, 8}));
  EXPECT_FALSE(feeders.remove(9));
  EXPECT_TRUE(feeders.remove(7));
  EXPECT_FALSE(feeders.remove(7));
  EXPECT_FALSE(feeders.empty());
  EXPECT_TRUE(feeders.remove(8));
  EXPECT_TRUE(feeders.empty());
  EXPECT_EQ(ledger.total().bytes, 0u);
}

TEST(FeederWatchTest, WithoutAWatchNothingIsWatched) {
  const FeederWatch watch(nullptr);
  EXPECT_EQ(watch.watch({kAlice, 7}).error().reason, "no process can be watched here");
  EXPECT_FALSE(watch.watches(7));
}

TEST(FeederWatchTest, PassesOnWhatTheWatchSays) {
  FakeProcesses processes;
  const FeederWatch watch(&processes);
  EXPECT_EQ(watch.watch({kAlice}).error().code, ErrorCode::kInvalid) << "its process is not known";
  EXPECT_TRUE(watch.watch({kAlice, 7}));
  EXPECT_TRUE(watch.watches(7));
  EXPECT_FALSE(watch.watches(8));
  EXPECT_FALSE(watch.watches(0));
  processes.refusal = Error{ErrorCode::kNoSpace, "too many"};
  EXPECT_EQ(watch.watch({kAlice, 8}).error().code, ErrorCode::kNoSpace);
}

TEST(FeederWatchTest, AnEndDuringTheChangeIsNotMissed) {
  FakeProcesses processes;
  const FeederWatch watch(&processes);
  std::vector<int> calls;
  const auto ended = [&] { calls.push_back(2); };
  ASSERT_TRUE(watch.watch({kAlice, 7}));
  EXPECT_EQ(watch.change_while_watched(
                7, [&] { return calls.push_back(1), 5; }, ended),
            5);
  EXPECT_EQ(calls, std::vector<int>{1});
  const auto change = [&] {
    processes.watched.erase(7);
    calls.push_back(1);
    return 6;
  };
  EXPECT_EQ(watch.change_while_watched(7, change, ended), 6);
  EXPECT_EQ(calls, (std::vector<int>{1, 1, 2}));
}

}  // namespace
}  // namespace tallyfs
